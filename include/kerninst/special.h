/* SPDX-License-Identifier: LGPL-2.1-only OR BSD-2-Clause */
/*
 * Specialization: a version of a function for one value of an argument.
 *
 * What is left of the function when the argument is known (constants propagated, dead code
 * gone) is loaded as a kernel module. It has copies of the functions that it calls with known
 * arguments, where that decides something. A guard before the function, two instructions,
 * leads calls with the value there. Calls whose argument can be seen to be the value lead there
 * where they stand, past the guard.
 *
 * Memory that the kernel never writes again (its read-only data) counts as known. What else is
 * not known is as in the original. Static branches and calls follow their keys, faults go on at the
 * copies of their fixups, BUGs and WARNs are of the original's line. Blocks with what must not be
 * moved, or with keys of modules, are not copied: control goes to the original's there.
 *
 * The module of a function that has a version stays as long; copies beside it are of functions of
 * the same module.
 *
 * What a specialized version calls past the entry of a function (copies, direct calls) tracers,
 * probes and livepatches of that function do not see.
 */
#ifndef KERNINST_SPECIAL_H
#define KERNINST_SPECIAL_H

#include <stdio.h>

#include "kerninst/evolve.h"
#include "kerninst/splice.h"

#ifdef __cplusplus
extern "C" {
#endif

#define KI_SPECIAL_ARGUMENTS 6 /* those in registers */

struct ki_special_request {
	const struct ki_symbol *sym; /* of the kernel, or of a module */
	unsigned int argument;	     /* from 0 on */
	uint64_t value;		     /* as a sign-extended number of 32 bits; of an argument that
				     has 32 by the kernel's types, whatever stands above them */
	bool alone;		     /* no copies of what it calls */
	bool callers;		     /* calls with that constant lead there directly */
};

struct ki_special_facts {
	const char *name;	   /* the version's, as kallsyms has it */
	uint32_t before, after;	   /* instructions that can be reached: of the original, with
				      nothing known; of the version, copies not counted */
	uint32_t branches, copies; /* decided, of all copies; functions copied beside it */
	size_t bytes;		   /* of code */
	bool half;		   /* the argument has 32 bits */
	size_t sites; /* static branches and calls, what may fault, BUGs: instructions of the copies
			 that the kernel knows by their addresses */
	size_t calls; /* that lead there directly, once it is in */
};

struct ki_special;

/*
 * Make a version; nothing is changed yet. A live kernel, or an image (which cannot be installed).
 * -ENOTSUP: it cannot be copied (no function of a compiler's, or its first block has what is not
 * copied). -ENODATA: nothing is decided by the value, so a version would be the same. -ERANGE: no
 * such argument, or a value of more bits. *out: ki_special_free, which takes it out if that has not
 * been done. The request need not live on; the target must, and one thread at a time uses it.
 *
 * Constants are propagated after Wegman and Zadeck, "Constant Propagation with Conditional
 * Branches" (TOPLAS 1991); that a kernel may do so while it runs is KernInst's thesis (Tamches,
 * "Fine-Grained Dynamic Instrumentation of Commodity Operating System Kernels", 2001).
 */
int ki_special_new(struct ki_target *t, const struct ki_special_request *request,
		   struct ki_special **out, struct ki_err *err);
void ki_special_free(struct ki_special *s); /* NULL is allowed */

/* Valid as long as s. */
void ki_special_facts(const struct ki_special *s, struct ki_special_facts *out);

/*
 * Put it in, take it out; again and again. CAP_SYS_MODULE. To install it makes symbols, functions
 * and programs of the target invalid (ki_target_refresh). So does to take it out, which waits
 * until no task is in it. -EBUSY: a task still is after ten seconds. The module then stays,
 * unused, and a later undo or process may unload it.
 */
int ki_special_install(struct ki_special *s, struct ki_err *err);
int ki_special_undo(struct ki_special *s, struct ki_err *err);

/*
 * Let direct calls that lead to the version past its guard give way to who traces or patches the
 * original, as ki_plan_give_way; to be called while it is in, as often as that is to be noticed.
 */
int ki_special_give_way(struct ki_special *s, struct ki_err *err);

/*
 * Unload what processes that were killed have left: *n modules. 0, or why one stays (-EBUSY: a task
 * is still in it). Invalidates the target's symbols, as undo does.
 */
int ki_special_clean(struct ki_target *t, size_t *n, struct ki_err *err);

/*
 * Is it better? As of layouts (ki_evolve_try, ki_evolve_judge): windows of time without it and with
 * it, in turn; then it is in, on a failure it is out, but for its module. The judge should be a
 * caller: what returns from the version does not pass the function's own exits. Invalidates the
 * target's symbols, the judge's too.
 */
int ki_special_try(struct ki_special *s, const struct ki_evolve_trial *t, double *before,
		   double *after, struct ki_err *err);

/* Both: the verdict of a trial. */
int ki_special_try_judge(struct ki_special *s, const struct ki_evolve_trial *t,
			 struct ki_evolve_verdict *out, struct ki_err *err);

/* The one that calls the function most often, as ki_evolve_find_judge; before it is in. */
int ki_special_find_judge(struct ki_special *s, const struct ki_evolve_search *how,
			  const struct ki_symbol **out, struct ki_err *err);

/*
 * What has become of the function, and what of its blocks stays in the original, a line for each.
 * Before it is put in.
 */
void ki_special_explain(const struct ki_special *s, FILE *f);

/* ---- which value ---- */

struct ki_special_value {
	uint64_t value, calls;
};

struct ki_special_watch {
	const struct ki_symbol *sym;
	unsigned int argument;
	double seconds; /* so long */
	/* Wait so long; false: stop (-ECANCELED). */
	bool (*wait)(void *arg, double seconds);
	void *arg;
};

/*
 * How often the function is called with which value: counted in a table by inserted code. *out:
 * *n values, the most frequent first; ki_free(). *calls: of all, those included for which the table
 * had no row. A live kernel.
 */
int ki_special_values(struct ki_target *t, const struct ki_special_watch *w,
		      struct ki_special_value **out, size_t *n, uint64_t *calls,
		      struct ki_err *err);

/* Has an argument 32 bits, by the kernel's types? Not known: false. */
bool ki_special_is_half(const struct ki_target *t, const struct ki_symbol *sym,
			unsigned int argument);

/* The register that an argument is in, enum ki_reg; -EINVAL: there is none. */
int ki_special_register(unsigned int argument);

#ifdef __cplusplus
}
#endif

#endif
