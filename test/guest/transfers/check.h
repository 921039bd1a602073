/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * A trace against graphs.
 */
#ifndef KI_TEST_CHECK_H
#define KI_TEST_CHECK_H

#include "classify.h"
#include "transfers.h"

/* What one address or transfer is: in the boot, and later. */
struct verdict {
	enum verdict_class boot, later;
	const char *boot_why, *later_why;
};

struct tally {
	uint64_t unique, executed[KI_TRACE_PHASES];
};

struct check {
	struct ki_trace_header h;
	struct ki_trace_insn *insns;
	struct ki_trace_transfer *transfers;
	struct graph *live, *image; /* image: NULL if there is none */

	/* Results of check_run. */
	struct tally classes[CLASS_COUNT];
	struct tally insn_classes[CLASS_COUNT]; /* CLASS_NEXT: what is foreseen */
	bool *transfer_missed;			/* one for each */
	bool *insn_missed;
	uint64_t nmissed; /* of both, together */
};

void check_open(struct check *c, const char *trace, const char *live, const char *image);
void check_close(struct check *c);

/* Classify everything. */
void check_run(struct check *c);

/* check_run, and print it. 0, or 1: there are misses. */
int check_report(struct check *c);

/* Spoil the graph of the live kernel, in one place at a time: 0 if each was found. */
int check_selftest(struct check *c);

struct verdict check_transfer(const struct check *c, const struct ki_trace_transfer *t);
struct verdict check_insn(const struct check *c, const struct ki_trace_insn *in);

/* By what is done with it in the phases. */
bool check_in_boot(const uint64_t *count);
bool check_later(const uint64_t *count);

#endif
