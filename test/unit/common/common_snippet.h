/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * Snippets made at random, and a place to run them: this process, with a fake per-CPU area at %gs,
 * a fake task, globals in reach of the code, and helpers that keep what the driver's keep and spoil
 * what they may.
 */
#ifndef COMMON_SNIPPET_H
#define COMMON_SNIPPET_H

#include <stdbool.h>
#include <stdint.h>

#include "common_exec.h"
#include "common_step.h"
#include "kerninst/snippet.h"

#define SNIP_COUNTERS 100
#define SNIP_GLOBALS  8
#define SNIP_THREAD   8

/* The fake per-CPU area, and where in it things are that a test may change. */
extern uint64_t snip_gs[];
#define SNIP_WORDS_SLOT 2050
#define SNIP_CLOCK_SLOT 2051
#define SNIP_CLOCK	1000000000000000 /* the thread's clock when the code begins */

#define SNIP_RING 2 /* the number of the ring that records go to */

/* Tables, of each number of words in a key: of the CPUs, then shared ones. */
#define SNIP_TABLES	  (2 * KI_TABLE_KEYS)
#define SNIP_TABLE_VALUES 100

#define SNIP_STACKS 1 /* the number of the table of stacks */

/* What strings are: which one depends on the address. */
#define SNIP_TEXTS 8
extern const char *const snip_texts[SNIP_TEXTS];

/* Everything that a snippet can see or change. */
struct snip_world {
	uint64_t counters[SNIP_COUNTERS];
	uint64_t globals[SNIP_GLOBALS];
	uint64_t thread[SNIP_THREAD];
	uint64_t calls; /* a digest of what was called, with what, in which order */
	uint32_t ncalls;
	uint32_t nrecords;
	uint32_t ntables; /* operations on tables; in the same digest as records */
	uint64_t records; /* the same of what was recorded */
	bool entered;	  /* between ENTER and LEAVE */
	bool broken;	  /* a function called outside of them, or the like */
};

/* Memory whose bytes are known. */
struct snip_memory {
	uint64_t at;
	const uint8_t *bytes;
	unsigned int size;
};

struct snip_case {
	struct ki_site_regs site;
	struct ki_machine m; /* its variables: those of `want` */
	uint64_t flags;
	uint32_t counter, global, word; /* numbers of the first ones */
	uint16_t reads;			/* registers that trees may read; 0: all */
	bool in_kernel; /* only what can be foretold there: no clock, no calls, no other memory than
			 */
	struct snip_memory known[2]; /* the kernel's, and the process's */
	struct snip_world start, want, got;
};

void snip_init(void);

uint64_t snip_number(void); /* random, often at an edge */

/* Random registers, variables, and what else there is. */
void snip_case_make(struct snip_case *c);

/* A random snippet that can stand there, of at most about so many nodes. */
struct ki_snippet *snip_random(const struct snip_case *c, unsigned int nodes);

/* The same as a statement of a snippet. */
struct ki_node *snip_random_list(struct ki_snippet *s, const struct snip_case *c,
				 unsigned int nodes);

/* Interpret: c->want. 0, or an error. */
int snip_interpret(struct snip_case *c, const struct ki_snippet *s);

/*
 * In a process (site.user) global variables are the counters, as they are there, and what is below
 * the stack pointer is not touched.
 *
 * Run the code: c->got. NULL if it made the same of everything and left the rest alone; else
 * what is different.
 */
const char *snip_run(struct snip_case *c, const struct ki_long_code *code);
/* Instruction by instruction; step->start and end are set. NULL: as snip_run. */
const char *snip_run_stepped(struct snip_case *c, const struct ki_long_code *code,
			     struct step *step);

#endif
