/* SPDX-License-Identifier: LGPL-2.1-only OR BSD-2-Clause */
/*
 * Probes of processes: pidN:MODULE:FUNCTION:entry, return, an offset (pid.c), and those that are
 * written into programs, NAMEN:MODULE:FUNCTION:NAME (usdt.c).
 *
 * Clauses run in the kernel, with all that they have there. So a place in a process gets a
 * breakpoint of the driver's, at whose hits the kernel calls a function that can be spliced
 * (user_hits.c); or, where that cannot be, a probe of the kernel's own (uprobe), by an event of
 * perf that records nothing and belongs to the process. The clauses stand at the beginning of that
 * function, or of the one that each uprobe's hit comes to, behind two comparisons: is this the
 * process, was it at this place? A child that the process forks is not it.
 */
#ifndef KI_DLANG_USER_H
#define KI_DLANG_USER_H

#include "dlang/probe/operand.h"
#include "dlang/probe/probe.h"
#include "target/process_maps.h"

#define KI_D_USDT_ARGS 10

/* Where one probe is: as many places as the function has returns, or one. */
struct ki_d_user {
	pid_t pid;
	uint32_t batch; /* of ki_dlang.processes, with which it is put in and taken out */
	uint64_t start; /* of the function */
	bool is_return;
	bool shed;	       /* taken out, for what it costs */
	bool gone;	       /* the process has its places no more */
	bool is_written;       /* into the program, which says what its arguments are */
	uint64_t semaphore;    /* in the file: what is to be counted up while it is in; 0: none */
	uint64_t semaphore_at; /* the same in the process */
	uint32_t n;
	char *path; /* of the file */
	struct ki_d_user_place {
		uint64_t addr, offset;	      /* in the process, in the file */
		const struct ki_symbol *stub; /* that its breakpoint calls; NULL: it has a uprobe */
		uint16_t reason;	      /* why that is so, if there is one */
		bool asks; /* whether the probe is enabled: args[0] is where to write that */
		struct ki_d_operand args[KI_D_USDT_ARGS]; /* is_written: they differ from place
							     to place */
	} places[];
};

/* What a description means in one process. */
struct ki_d_finding {
	struct ki_d_match *m;
	const struct ki_d_provider *provider;
	pid_t pid;
	struct ki_target *t;
	uint32_t batch; /* t is its target */
	struct ki_mappings maps;
	char program[512]; /* the module of the program itself */
	bool any;	   /* it means a probe */
};

/* Open the process, if it has not been. -EINVAL: it cannot be, *why says why; or nothing in it is
   new that the description's module means. ki_d_finding_end. */
int ki_d_finding_begin(struct ki_d_finding *f, struct ki_err *why);
void ki_d_finding_end(struct ki_d_finding *f);
/* Has it been mapped since the process was looked at? At the start all has. */
bool ki_d_finding_new(const struct ki_d_finding *f, uint64_t start, uint64_t end);
/* Does the description's module mean this one? */
bool ki_d_user_module(const struct ki_d_finding *f, const char *module);
/* A probe at these n addresses, of which u says the rest, without its places and path; nothing if
   they are in no file. as: what a written probe's one place is beside its address, or NULL. */
struct ki_d_user_names {
	const char *provider, *module, *function, *name;
};
int ki_d_user_found(struct ki_d_finding *f, const struct ki_d_user_names *names,
		    const struct ki_d_user *u, const uint64_t *addrs, uint32_t n,
		    const struct ki_d_user_place *as);

int ki_d_find_pid(struct ki_d_match *m, const struct ki_d_provider *self);
int ki_d_find_usdt(struct ki_d_match *m, const struct ki_d_provider *self);
void ki_d_user_free(struct ki_d_user *u); /* NULL is allowed */

/*
 * Probes of one process that are put in at once, and the process as a target: those of the start
 * are one such batch for each process, those of files that it maps later are others (later.c).
 */
struct ki_d_process {
	pid_t pid; /* 0: this place in the list is free */
	struct ki_target *t;
	struct ki_splice_process *splice; /* NULL: nothing is in */
	struct ki_plan *plan;		  /* its code; NULL: it is in the run's plan, */
	ki_vec(uint32_t) chunks;	  /* as ki_d_run.chunks */
};
void ki_d_processes_free(struct ki_dlang *d);
void ki_d_process_end(struct ki_d_process *p); /* of which nothing is in the kernel any more */

/* user_hits.c: breakpoints of the driver's, in a program that runs: put them in, where they can be
   had; take them out. */
int ki_d_users_begin(struct ki_dlang *d, struct ki_err *err);
/* The same of one batch: what is in already goes when the new one is in. */
int ki_d_users_put(struct ki_dlang *d, uint32_t batch, struct ki_err *err);
/* Those of probes that have been shed go. */
int ki_d_users_shed(struct ki_dlang *d, struct ki_err *err);
void ki_d_users_end(struct ki_dlang *d);

#endif
