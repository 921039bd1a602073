/* SPDX-License-Identifier: LGPL-2.1-only OR BSD-2-Clause */
/*
 * A program while it runs, and how a clause becomes code.
 *
 * BEGIN, END and tick have no place of their own in the kernel. The thread that runs the program
 * enters it for them, by a system call that kernels no longer have; at the beginning of the
 * function that answers it stand these probes' clauses, behind a comparison of the thread and of
 * the call's argument, the probe's number. So they are made of the same code as all others.
 */
#ifndef KI_DLANG_RUN_H
#define KI_DLANG_RUN_H

#include <stdio.h>

#include "dlang/run/backlog.h"
#include "dlang/run/hold.h"
#include "dlang/program.h"

#define KI_D_TRIGGER	  "__x64_sys_ni_syscall"
#define KI_D_TRIGGER_CALL 177 /* get_kernel_syms, which kernels since 2.6 do not have */

#define KI_D_INDENTS 1024

/* A tick probe, and when it is due. */
struct ki_d_tick {
	uint32_t probe;
	uint64_t due; /* nanoseconds of CLOCK_MONOTONIC */
};

/* A tracepoint of the kernel: where it is described. */
struct ki_d_event {
	char *name;
	uint64_t addr;
};

/* A file that is mapped in a process, and an address in it. */
struct ki_d_file {
	const char *path;
	uint64_t addr;
	uint32_t tgid;
};

/* How ticks of the time stamp counter are nanoseconds (code_clock.c). */
struct ki_d_clock {
	uint64_t khz;
	uint64_t factor; /* with 31 binary places; 0: khz is too small for it */
	bool from_tsc;	 /* timestamp is that counter, and begins with */
	uint64_t base;
};
void ki_d_clock_find(struct ki_d_clock *c, uint64_t khz);

/* A process whose thread waits when it loads a library (loads.c). */
struct ki_d_load {
	pid_t pid;
	struct ki_target *t;
	struct ki_splice_process *splice; /* NULL: it does not */
	bool waits;
};

/* What a buffer of bufsize bytes would hold of one CPU's records, and what it has no room for. */
#define KI_D_ROOMS 1024
struct ki_d_room {
	uint64_t used, drops;
	uint32_t left_out; /* the last of these: its clause + 1; 0: the last record has room */
};

/* Code that is the same wherever the same registers are free (alike.c). */
#define KI_D_ALIKE 16
struct ki_d_alike {
	const struct ki_plan *plan;
	uint32_t chunk;	   /* of the plan */
	uint32_t first, n; /* its clauses in ki_dlang.uses */
	ki_regset dead;
};

struct ki_users;

struct ki_d_run {
	struct ki_target *t;
	struct ki_plan *triggers, *probes; /* BEGIN, END, tick; all others */
	struct ki_ring_map *ring;
	struct ki_stacks_map *stacks;
	struct ki_texts_map *strings;
	struct ki_counter_map *counters;
	uint32_t stopped;			 /* the global that exit() sets */
	uint32_t unsent;			 /* the one that counts lost signals, */
	uint32_t unkept;			 /* and clauses that found no room to speculate */
	struct ki_global_map *globals;		 /* NULL: there are neither */
	struct ki_table_map *used;		 /* of speculations: bytes; NULL: they have room */
	uint32_t token;				 /* the first of two words of strtok() */
	uint32_t constants_next, constants_left; /* globals for strings */
	size_t constants_in;			 /* that are in the table */
	uint32_t wide; /* counters that have been taken, the first and how many are left */
	uint32_t wide_left;
	int64_t wall; /* nanoseconds between the clocks */
	struct ki_d_clock clock;
	uint32_t thread;
	bool applied;
	FILE *reopened; /* by freopen(): */
	bool captures;	/* it has packets, */
	uint32_t link;	/* of that kind */
	bool header;	/* has been printed */
	struct ki_d_hold hold;
	struct ki_d_backlog backlog;
	struct ki_d_room rooms[KI_D_ROOMS];
	uint64_t errors;	  /* faults of ERROR's clauses */
	int indent[KI_D_INDENTS]; /* of flowindent, by CPU */
	bool exited;
	int status;
	ki_vec(struct ki_d_event) events; /* by name */
	bool events_read;
	ki_vec(struct ki_d_tick) ticks;
	ki_vec(struct ki_d_load) loads;
	uint64_t reads_at;		/* not before that, if switchrate is more than a second */
	uint64_t ends_at;		/* the same of exit(), and of statusrate */
	size_t came;			/* batches that have been put in since */
	struct ki_users *users;		/* of places, if there are no stacks */
	ki_vec(struct ki_d_file) files; /* place.c */
	ki_vec(uint32_t) chunks;	/* of each of the plan `probes`: whose it is */
	struct ki_d_cost *cost;		/* NULL: it is not measured */
	struct ki_table_map *kept;	/* by where the stack is, and the probe (code_kept.c) */
	struct ki_d_alike alike[KI_D_ALIKE];
	unsigned int nalike;
};

/* Where the kernel's variables are that the program names (symbols.c). */
int ki_d_symbols(struct ki_dlang *d, struct ki_err *err);

void ki_d_run_free(struct ki_d_run *r); /* NULL is allowed */

/* put.c: BEGIN, END and ticks; all others, which begin then. */
int ki_d_put_triggers(struct ki_dlang *d, struct ki_err *err);
int ki_d_put_probes(struct ki_dlang *d, struct ki_err *err);
/* Those of one batch (user.h), while the others go on. */
int ki_d_put_later(struct ki_dlang *d, uint32_t batch, struct ki_err *err);

/* Records are read as switchrate says, which is more than is usual. */
bool ki_d_reads_late(const struct ki_dlang *d);

/* later.c: wait for records, or for processes that do what may matter; so many milliseconds. */
void ki_d_later_wait(struct ki_dlang *d, int milliseconds);
/* Put in what has come in processes, and take out what has gone. */
int ki_d_later_look(struct ki_dlang *d, const struct ki_dlang_output *out, struct ki_err *err);
int ki_d_later_end(struct ki_dlang *d, struct ki_err *err);

/* Enter one of the former. */
void ki_d_fire(uint32_t probe);

/* What counts at one place, if costs are measured (cost.h). */
struct ki_d_meter {
	uint32_t passes;  /* a counter: who comes by; in a process, who is meant */
	uint32_t ended;	  /* and behind it: clauses that have come to their end; */
	uint32_t faulted; /* that have faulted */
	uint32_t asked;	  /* loads that gave 0, and asked why */
	uint32_t clauses;
	bool may_fault;
};

/* Where a clause is compiled for. */
struct ki_d_site {
	uint32_t probe; /* index */
	bool is_return, is_syscall, is_trigger;
	bool keeps;	 /* no clauses, but what the function is called with */
	uint64_t offset; /* of the return in its function */
	uint64_t addr;	 /* of the place */
	uint32_t place;	 /* of those that ki_d_hook_places counts */
	const struct ki_site_regs *regs;
	struct ki_d_meter *meter;   /* NULL: nothing is measured */
	struct ki_d_process *later; /* whose plan it goes into; NULL: the run's */
	size_t from, to;	    /* not 0: no clauses, but these strings (ki_d_code_constants) */
};

/*
 * alike.c: is the code for that place, of which regs are known, in the plan already? NULL: it is
 * not, or its clauses say different things at different places. What has been compiled is noted.
 */
const struct ki_d_alike *ki_d_alike_find(const struct ki_dlang *d, const struct ki_d_site *site,
					 const struct ki_plan *plan);
void ki_d_alike_note(struct ki_dlang *d, const struct ki_d_site *site, const struct ki_plan *plan,
		     uint32_t chunk);

/* sizes.c: are the buffers that options say large enough for what the program has? -ENOSPC */
int ki_d_check_sizes(struct ki_dlang *d, struct ki_err *err);
/* For how many rows, of an aggregation or an array, options aggsize and dynvarsize have room:
 * `most` if they are as usual, or have room for that. */
uint32_t ki_d_agg_rows(struct ki_dlang *d, const struct ki_d_agg *a, uint32_t most);
uint32_t ki_d_array_rows(struct ki_dlang *d, const struct ki_d_var *v, uint32_t most);

/* What a clause's record takes of bufsize. */
uint64_t ki_d_record_bytes(struct ki_dlang *d, uint32_t clause);

/* Has option bufsize room for a batch's record, beside those since the buffers were emptied? Of a
 * speculative clause: what its record takes of specsize. */
bool ki_d_has_room(struct ki_dlang *d, unsigned int cpu, uint32_t batch);
void ki_d_rooms_empty(struct ki_d_run *r);
uint64_t ki_d_speculated_bytes(struct ki_dlang *d, uint32_t clause);

/* Of a stack's word: is its depth one that it may have? */
#define KI_D_DEPTH_SHIFT 32 /* of the word: behind the stack's number its depth + 1, or 0 */
bool ki_d_stack_fits(const struct ki_dlang *d, uint64_t word);

/* A snippet of all clauses of a probe. Free it. */
int ki_d_code(struct ki_dlang *d, const struct ki_d_site *site, struct ki_snippet **out,
	      struct ki_err *err);

/* code_kept.c: what keeps that for the probe at the function's return. Free it. */
int ki_d_code_keep(struct ki_dlang *d, const struct ki_d_site *site, struct ki_snippet **out,
		   struct ki_err *err);

/* What puts the strings from one to another of d->constants into the table, when the trigger is
 * called with KI_D_CONSTANTS. Free it. */
#define KI_D_CONSTANTS UINT32_MAX
int ki_d_code_constants(struct ki_dlang *d, const struct ki_d_site *site, size_t from, size_t to,
			struct ki_snippet **out, struct ki_err *err);

/* listing.c: to d->o.listing. */
void ki_d_list_variables(struct ki_dlang *d);
int ki_d_list_code(struct ki_dlang *d, const struct ki_d_site *site, const struct ki_snippet *s,
		   struct ki_err *err);

/* So many counters side by side: the first. -ENOSPC: there are none. */
int ki_d_counters(struct ki_d_run *r, uint32_t n, uint32_t *first);

/* The counter for a key that is the same for all hits of a place; -ENOSPC: there is none. */
int ki_d_cell(struct ki_dlang *d, struct ki_d_agg *a, const uint64_t *key, uint32_t *counter);

/* How values of one key are put together: enum ki_merge of each. */
void ki_d_agg_merges(const struct ki_d_agg *a, uint8_t merge[KI_TABLE_VALUES]);

/* How many words a row's key has. */
unsigned int ki_d_agg_words(const struct ki_d_agg *a);

/* Print one record, and do what it asks for. */
struct ki_d_consumer {
	struct ki_dlang *d;
	FILE *f; /* what has not been given out yet */
	struct ki_err *err;
	const struct ki_dlang_output *out;
	char *text;
	size_t len;
	uint32_t record;  /* the record's number, */
	const char *name; /* and its probe */
};
int ki_d_consume(void *consumer, const struct ki_record *rec, const uint64_t *values,
		 unsigned int cpu);

/* What was kept until the end. */
int ki_d_consume_kept(struct ki_d_consumer *c);

int ki_d_agg_clear(struct ki_dlang *d, struct ki_d_agg *a, bool keys, int64_t keep,
		   struct ki_err *err);
/* outlet.c: begin before anything is printed to c->f, and end. */
int ki_d_outlet_begin(struct ki_d_consumer *c);
int ki_d_outlet_end(struct ki_d_consumer *c);
int ki_d_outlet_flush(struct ki_d_consumer *c);

/* What comes behind all that was printed before. An empty name: as it was at first. */
int ki_d_outlet_system(struct ki_d_consumer *c, const char *command);
int ki_d_outlet_reopen(struct ki_d_consumer *c, const char *name);
int ki_d_outlet_truncate(struct ki_d_consumer *c);
/* id, and c->record, c->name: whose clause asks for it. */
int ki_d_outlet_option(struct ki_d_consumer *c, uint32_t id, const char *name, const char *value);

#endif
