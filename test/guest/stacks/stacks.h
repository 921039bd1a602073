/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * stacks: what stacks and strings are told, against what the kernel itself says of them, and what
 * this program did. What the parts share.
 */
#ifndef TEST_GUEST_STACKS_H
#define TEST_GUEST_STACKS_H

#include "common/common.h"
#include "kerninst/record.h"

#define WORDS KI_RECORD_WORDS
#define SEEN  200000

struct session {
	struct ki_target *t;
	struct ki_ring_map *ring;
	struct ki_stacks_map *stacks;
	struct ki_plan *plan;
	struct ki_snippet *s; /* of the instrument that is being made */
	struct ki_node *v[WORDS];
	unsigned int n;
};

void session_open(struct session *s, uint32_t frames, uint32_t rows);
void session_close(struct session *s);

/* An instrument: values are added, then it goes to a function's entry; then all are applied. */
void begin(struct session *s);
void value(struct session *s, struct ki_node *v);
void put(struct session *s, const char *function, struct ki_node *only_if);

struct ki_node *mine(struct session *s); /* is it this process? */

/* All records that came, in order of time. */
struct seen {
	uint64_t tsc, v[WORDS];
	unsigned int n, cpu;
};
extern struct seen seen[SEEN];
extern unsigned int nseen;
void read_all(struct session *s);

/* The stack with that number; false: there is none. */
bool stack_of(struct session *s, uint64_t number, struct ki_stack *out);
/* Is the address in the function? As a return address. */
bool is_in(struct session *s, uint64_t addr, const char *function);
/* Where a stack may begin: none of it in the driver, and at its end an entry to the kernel. */
const char *wrong_with(struct session *s, const struct ki_stack *st);

void test_kernel(void);	  /* kernel.c */
void test_contexts(void); /* contexts.c */
void test_nmi(void);
void test_user(void);	 /* user.c */
void test_tables(void);	 /* tables.c */
void test_strings(void); /* strings.c */

#endif
