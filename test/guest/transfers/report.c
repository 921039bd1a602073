// SPDX-License-Identifier: GPL-2.0-only
/*
 * The table, the misses, and the test of the test.
 */
#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

#include "check.h"

#define LISTED 60 /* of each kind of miss */

static const char *const phase_names[KI_TRACE_PHASES] = {"boot",      "compile", "network",
							 "stress-ng", "rest",	 "more"};

static uint64_t sum(const uint64_t *count)
{
	uint64_t total = 0;

	for (int p = 0; p < KI_TRACE_PHASES; p++)
		total += count[p];
	return total;
}

static void print_tally(const char *name, const struct tally *t, uint32_t phases)
{
	printf("%-34s %8" PRIu64 " %10.3f", name, t->unique, (double)sum(t->executed) / 1e6);
	for (uint32_t p = 0; p < phases; p++)
		printf(" %9.3f", (double)t->executed[p] / 1e6);
	printf("\n");
}

static void print_head(const char *what, uint32_t phases)
{
	printf("%-34s %8s %10s", what, "places", "million");
	for (uint32_t p = 0; p < phases; p++)
		printf(" %9s", phase_names[p]);
	printf("\n");
}

static void print_rows(const struct check *c, const struct tally *classes)
{
	struct tally all = {0};

	for (int i = 0; i < CLASS_COUNT; i++) {
		bool insns = i == CLASS_NEXT && classes == c->insn_classes;

		if (!classes[i].unique && i != CLASS_MISS)
			continue;
		print_tally(insns ? "boundary in the graph" : class_text[i], &classes[i],
			    c->h.phases);
		all.unique += classes[i].unique;
		for (int p = 0; p < KI_TRACE_PHASES; p++)
			all.executed[p] += classes[i].executed[p];
	}
	print_tally("all", &all, c->h.phases);
}

static void print_tables(const struct check *c)
{
	uint64_t transfers = 0, insns = 0;

	for (int i = 0; i < CLASS_COUNT; i++) {
		transfers += sum(c->classes[i].executed);
		insns += sum(c->insn_classes[i].executed);
	}
	printf("%.1f million transfers between %" PRIu64 " pairs of places, %.1f million "
	       "instructions at %" PRIu64 " addresses: %" PRIu64 " misses\n\n",
	       (double)transfers / 1e6, c->h.ntransfers, (double)insns / 1e6, c->h.ninsns,
	       c->nmissed);
	print_head("TRANSFERS", c->h.phases);
	print_rows(c, c->classes);
	printf("\n");
	print_head("EXECUTED INSTRUCTIONS", c->h.phases);
	print_rows(c, c->insn_classes);
	printf("\n");
}

static void name_in(const struct check *c, uint32_t addr, char *buf, size_t len)
{
	bool live = !addr || !c->image || graph_marks(c->live, addr) >= 0;

	graph_name(live ? c->live : c->image, addr, buf, len);
}

/* One that stands for something: which phases, how often, from where to where. */
static void print_transfer(const struct check *c, const struct ki_trace_transfer *t,
			   const char *why)
{
	char from[128], to[128];

	name_in(c, t->from, from, sizeof(from));
	name_in(c, t->to, to, sizeof(to));
	printf("  %08x %-34s -> %08x %-34s %10" PRIu64 "%s  %s\n", t->from, from, t->to, to,
	       sum(t->count),
	       !check_later(t->count)	 ? " boot"
	       : check_in_boot(t->count) ? ""
					 : " later",
	       why);
}

/* The transfers whose class, in the boot or later, is `kind`. */
static void print_class(const struct check *c, enum verdict_class kind, unsigned int limit)
{
	unsigned int listed = 0;

	for (size_t i = 0; i < c->h.ntransfers; i++) {
		const struct ki_trace_transfer *t = &c->transfers[i];
		struct verdict v = check_transfer(c, t);
		bool boot = v.boot == kind && check_in_boot(t->count);

		if (!boot && !(v.later == kind && check_later(t->count)))
			continue;
		if (listed++ == 0)
			printf("%s:\n", class_text[kind]);
		if (listed <= limit)
			print_transfer(c, t, boot ? v.boot_why : v.later_why);
	}
	if (listed > limit)
		printf("  and %u more\n", listed - limit);
}

static void print_missed_insns(const struct check *c)
{
	unsigned int listed = 0;
	char name[128];

	for (size_t i = 0; i < c->h.ninsns; i++) {
		if (!c->insn_missed[i])
			continue;
		if (listed++ == 0)
			printf("executed, and no instruction of the graph:\n");
		name_in(c, c->insns[i].addr, name, sizeof(name));
		if (listed <= LISTED)
			printf("  %08x %-34s %10" PRIu64 "\n", c->insns[i].addr, name,
			       sum(c->insns[i].count));
	}
	if (listed > LISTED)
		printf("  and %u more\n", listed - LISTED);
}

/* What lies in no text, by pages: there is a name for none of it. */
static void print_no_text(const struct check *c)
{
	uint32_t page = 0, listed = 0;

	for (size_t i = 0; i < c->h.ninsns; i++) {
		uint32_t addr = c->insns[i].addr;

		if (graph_marks(c->live, addr) >= 0 ||
		    (c->image && graph_marks(c->image, addr) >= 0) || addr >> 12 == page)
			continue;
		page = addr >> 12;
		if (listed++ == 0)
			printf("pages of code in no text (init code of modules, BPF, ftrace):\n ");
		if (listed <= LISTED)
			printf(" %08x%s", page << 12, check_later(c->insns[i].count) ? "*" : "");
	}
	if (listed)
		printf("%s\n  * executed after the boot\n", listed > LISTED ? " ..." : "");
}

int check_report(struct check *c)
{
	check_run(c);
	print_tables(c);
	print_class(c, CLASS_EXPLAINED, LISTED);
	print_class(c, CLASS_FREED, 5);
	print_class(c, CLASS_MISS, LISTED);
	print_missed_insns(c);
	print_no_text(c);
	if (c->h.lost)
		printf("%" PRIu64 " blocks were left nobody knows where\n", c->h.lost);
	return c->nmissed || c->h.lost;
}
