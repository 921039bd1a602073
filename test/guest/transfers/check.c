// SPDX-License-Identifier: GPL-2.0-only
/*
 * A trace against graphs: the counting.
 *
 * In the boot a transfer is good if one of the two graphs foresees it. If neither does, it is a
 * miss if it touches the text of one of them; else it is somewhere else (a module's init code, a
 * BPF program, a trampoline) and is only counted. Only counted, too, is what cannot be known of
 * the boot: places that were something else again between the image and the end; and modules,
 * which load where init code of others was until it was freed.
 */
#include "check.h"

#define MODULES 0xc0000000u /* the low half of where modules are, without KASLR */

#include <stdlib.h>
#include <string.h>

static void *take(FILE *f, const char *path, size_t n, size_t size)
{
	void *p = test_need(n, size);

	if (n && fread(p, size, n, f) != n)
		test_die(path, "too short");
	return p;
}

void check_open(struct check *c, const char *trace, const char *live, const char *image)
{
	FILE *f = fopen(trace, "r");

	if (!f || fread(&c->h, sizeof(c->h), 1, f) != 1 || c->h.magic != KI_TRACE_MAGIC)
		test_die(trace, "not a trace");
	c->insns = take(f, trace, c->h.ninsns, sizeof(*c->insns));
	c->transfers = take(f, trace, c->h.ntransfers, sizeof(*c->transfers));
	fclose(f);
	c->insn_missed = test_need(c->h.ninsns, sizeof(*c->insn_missed));
	c->transfer_missed = test_need(c->h.ntransfers, sizeof(*c->transfer_missed));
	c->live = graph_load(live);
	c->image = image ? graph_load(image) : NULL;
}

void check_close(struct check *c)
{
	free(c->insns);
	free(c->transfers);
	free(c->insn_missed);
	free(c->transfer_missed);
	graph_free(c->live);
	if (c->image)
		graph_free(c->image);
}

bool check_in_boot(const uint64_t *count)
{
	return count[0];
}

bool check_later(const uint64_t *count)
{
	for (int p = 1; p < KI_TRACE_PHASES; p++)
		if (count[p])
			return true;
	return false;
}

/* Which of two graphs says more: 0: foreseen; 1: a miss; 2: no text of that graph. */
static int rank(enum verdict_class c)
{
	return c == CLASS_MISS ? 1 : c == CLASS_NO_TEXT ? 2 : 0;
}

/* What neither graph foresees in the boot, and does not have to. */
static enum verdict_class excuse(const struct check *c, uint32_t from, uint32_t to)
{
	int marks_from = c->image ? graph_marks(c->image, from) : -1;
	int marks_to = c->image ? graph_marks(c->image, to) : -1;

	if ((marks_from > 0 && marks_from & MARK_SITE) || (marks_to > 0 && marks_to & MARK_SITE))
		return CLASS_SITE;
	return from >= MODULES || to >= MODULES ? CLASS_FREED : CLASS_MISS;
}

struct verdict check_transfer(const struct check *c, const struct ki_trace_transfer *t)
{
	struct verdict v = {0};

	v.later = classify(c->live, t->from, t->to, &v.later_why);
	v.boot = v.later;
	v.boot_why = v.later_why;
	if (c->image && rank(v.later) && check_in_boot(t->count)) {
		const char *why;
		enum verdict_class image = classify(c->image, t->from, t->to, &why);

		if (rank(image) < rank(v.boot)) {
			v.boot = image;
			v.boot_why = why;
		}
	}
	if (v.boot == CLASS_MISS)
		v.boot = excuse(c, t->from, t->to);
	return v;
}

static enum verdict_class insn_class(const struct graph *g, uint32_t addr)
{
	int marks = g ? graph_marks(g, addr) : -1;

	return marks < 0 ? CLASS_NO_TEXT : marks & MARK_INSN ? CLASS_NEXT : CLASS_MISS;
}

struct verdict check_insn(const struct check *c, const struct ki_trace_insn *in)
{
	enum verdict_class image = insn_class(c->image, in->addr);
	struct verdict v = {
		.later = insn_class(c->live, in->addr), .boot_why = "", .later_why = ""};

	v.boot = rank(image) < rank(v.later) ? image : v.later;
	if (v.boot == CLASS_MISS)
		v.boot = excuse(c, in->addr, in->addr);
	return v;
}

static void tally_add(struct tally *t, const uint64_t *count, int first, int end)
{
	bool any = false;

	for (int p = first; p < end; p++) {
		t->executed[p] += count[p];
		any = any || count[p];
	}
	t->unique += any;
}

/* True: a miss. */
static bool count_verdict(struct tally *classes, const struct verdict *v, const uint64_t *count)
{
	if (v->boot == v->later) {
		tally_add(&classes[v->boot], count, 0, KI_TRACE_PHASES);
	} else {
		tally_add(&classes[v->boot], count, 0, 1);
		tally_add(&classes[v->later], count, 1, KI_TRACE_PHASES);
	}
	return (v->boot == CLASS_MISS && check_in_boot(count)) ||
	       (v->later == CLASS_MISS && check_later(count));
}

void check_run(struct check *c)
{
	memset(c->classes, 0, sizeof(c->classes));
	memset(c->insn_classes, 0, sizeof(c->insn_classes));
	c->nmissed = 0;
	for (size_t i = 0; i < c->h.ntransfers; i++) {
		struct verdict v = check_transfer(c, &c->transfers[i]);

		c->transfer_missed[i] = count_verdict(c->classes, &v, c->transfers[i].count);
		c->nmissed += c->transfer_missed[i];
	}
	for (size_t i = 0; i < c->h.ninsns; i++) {
		struct verdict v = check_insn(c, &c->insns[i]);

		c->insn_missed[i] = count_verdict(c->insn_classes, &v, c->insns[i].count);
		c->nmissed += c->insn_missed[i];
	}
}
