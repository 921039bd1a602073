/* SPDX-License-Identifier: LGPL-2.1-only OR BSD-2-Clause */
/*
 * The interpreter's inside: what nodes need to say what they mean.
 */
#ifndef KI_SNIPPET_RUN_H
#define KI_SNIPPET_RUN_H

#include "snippet/tree.h"

struct run {
	struct ki_machine *m;
	const struct ki_site_regs *site;
	uint64_t *locals;
};

/* The value of an expression; of a statement: do it. */
uint64_t ki_run_node(const struct run *r, const struct ki_node *n);
/* All children into a[KI_CALL_ARGS], from left to right. */
void ki_run_args(const struct run *r, const struct ki_node *n, uint64_t *a);
/* The first n children, strings as their words; how many words. */
unsigned int ki_run_words(const struct run *r, const struct ki_node *parent, unsigned int n,
			  uint64_t *v);

uint64_t ki_run_load(const struct run *r, uint64_t addr, unsigned int size);
/* A variable's slot; NULL: there is none. */
uint64_t *ki_run_slot(const struct run *r, const struct ki_node *n, uint64_t index);
/* Add one to a bucket, if there is one. */
void ki_run_count(const struct run *r, const struct ki_node *n, uint32_t bucket);
bool ki_run_left_out(const struct run *r, const struct ki_node *n);

#endif
