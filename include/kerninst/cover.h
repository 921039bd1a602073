/* SPDX-License-Identifier: LGPL-2.1-only OR BSD-2-Clause */
/*
 * Coverage: which blocks of the kernel have been executed, how often, and by which edges.
 *
 * Two halves. A ki_coverage is what is known: data, which can be written to a file, read back,
 * compared and shown, without any kernel. A ki_cover is a measurement that goes on: probes in a
 * live target, from which a ki_coverage is read.
 *
 * What is not probed may be implied: a block's probe is left out where those of others tell whether
 * (KI_COVER_HIT), or how often (KI_COVER_COUNT), it was executed. What neither is has
 * KI_COVER_UNKNOWN and a reason.
 */
#ifndef KERNINST_COVER_H
#define KERNINST_COVER_H

#include "kerninst/code.h"
#include "kerninst/predicate.h"

#ifdef __cplusplus
extern "C" {
#endif

enum ki_cover_mode {
	KI_COVER_HIT,	/* has it been executed: counts are 0 or 1 */
	KI_COVER_COUNT, /* how often */
	KI_COVER_EDGES, /* how often, and each edge too */
	KI_COVER_MODES
};

enum ki_cover_how {
	KI_COVER_PROBED,  /* its own probe says it */
	KI_COVER_IMPLIED, /* others' probes say it */
	KI_COVER_UNKNOWN, /* no one does: count is 0 and means nothing */
};

struct ki_cover_block {
	uint32_t off, len; /* bytes from the function's beginning; of the block */
	uint64_t count;
	uint16_t reason; /* KI_COVER_UNKNOWN: why (KI_R_*) */
	uint8_t how;	 /* enum ki_cover_how */
};

/* An edge between blocks of the function, or out of it (to: KI_NONE). Calls are none. */
struct ki_cover_edge {
	uint32_t from, to; /* numbers of blocks */
	uint64_t count;	   /* only with KI_COVER_EDGES */
	uint8_t kind;	   /* enum ki_edge_kind */
	uint8_t how;	   /* enum ki_cover_how */
};

struct ki_cover_function {
	const char *name;   /* as in kallsyms; owned by the coverage, as all strings are */
	const char *module; /* NULL: the kernel itself */
	uint64_t addr;	    /* where it was; other boots have it elsewhere */
	uint32_t size;	    /* bytes */
	uint16_t reason;    /* why nothing in it can be probed; KI_R_OK */
	uint32_t first_block, nblocks; /* in the coverage's arrays */
	uint32_t first_edge, nedges;
};

struct ki_cover_totals {
	uint64_t functions, functions_touchable, functions_hit;
	uint64_t blocks;	   /* in all functions asked for */
	uint64_t blocks_touchable; /* of functions in which something can be probed */
	uint64_t probes;	   /* that were there at the same time */
	uint64_t known;		   /* blocks of which something is known: probed or implied */
	uint64_t hit;		   /* of these, executed */
	uint64_t removed;	   /* probes that took themselves out after their first hit */
	uint64_t refused[128]; /* by enum ki_reason: touchable blocks of which nothing is known */
	uint64_t heap_bytes;   /* of patches, in the driver's heap */
	uint64_t memory_bytes; /* all that it took in the kernel, as far as the driver tells */
	double seconds_analysis, seconds_install, seconds_run, seconds_remove;
};

struct ki_coverage {
	enum ki_cover_mode mode;
	const char *release; /* of the kernel: uname -r */
	const char *version; /* uname -v */
	const char *program; /* whose code it is: a process's program; NULL: the kernel's */
	const char *command; /* what was run; NULL: nothing, until it was ended */
	struct ki_cover_totals totals;
	struct ki_cover_function *functions; /* in order of address */
	struct ki_cover_block *blocks;
	struct ki_cover_edge *edges;
	size_t nfunctions, nblocks, nedges;
	void *strings; /* private */
};

void ki_coverage_free(struct ki_coverage *c); /* NULL is allowed */

/* A measurement: probes of a session, from when they are put in until they are taken out. */
struct ki_cover;

/*
 * How many functions have been dealt with, of all; false: stop. Then, by ki_cover_remove, of how
 * many probes, of all; that does not stop.
 */
typedef bool ki_cover_progress(void *arg, size_t done, size_t all);

struct ki_cover_options {
	size_t size; /* of this structure */
	enum ki_cover_mode mode;
	bool every; /* a probe in each block, also in those that others' would tell */
	/*
	 * No function is moved. Those are, else, in which probes cost less so. A task that is in
	 * one of these when the probes come, and not in a call, is missed: it is not seen until it
	 * has left it, or comes back from a call.
	 */
	bool stay;
	/* Only what is executed when it holds; NULL: all. Not inside(). Then all blocks have
	 * probes. */
	const struct ki_predicate *when;
	ki_cover_progress *progress; /* NULL: not told */
	void *arg;
};

/*
 * Put probes into functions (symbols of the target, in order of address): all that can be. What
 * the driver refuses is left out, and the coverage says why. So is what there is no room for
 * (KI_R_HEAP_FULL, KI_R_COUNTERS_FULL).
 *
 * -ECANCELED: the progress function wanted to stop; nothing is left in the kernel then, nor after
 * any other failure. The target must live as long, and its session is used by no other
 * meanwhile. Free with ki_cover_free, which takes the probes out if they are still in.
 */
int ki_cover_new(struct ki_target *t, const struct ki_symbol *const *syms, size_t n,
		 const struct ki_cover_options *o, struct ki_cover **out, struct ki_err *err);

/*
 * The target may be a process, too (ki_target_new_process). Then each block has a probe, no
 * function is moved, there is no predicate, and nothing is removed. What it forks is counted with
 * it. A descriptor that is readable when it has ended; its counts can still be read. -1: no
 * process, or no probe.
 */
int ki_cover_ended(const struct ki_cover *c);

/*
 * Take out the probes that have been hit (KI_COVER_HIT): what has been executed once then runs at
 * full speed. *removed: how many. To be called again and again.
 */
int ki_cover_remove_hit(struct ki_cover *c, size_t *removed, struct ki_err *err);

/*
 * What is known now. It costs the kernel nothing, but that the calling thread visits each CPU when
 * some counts tell others. Caller frees *out.
 */
int ki_cover_read(struct ki_cover *c, struct ki_coverage **out, struct ki_err *err);

/* Take all probes out. What they have counted can be read on. */
int ki_cover_remove(struct ki_cover *c, struct ki_err *err);

void ki_cover_free(struct ki_cover *c); /* NULL is allowed */

#ifdef __cplusplus
}
#endif

#endif
