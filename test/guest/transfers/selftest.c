// SPDX-License-Identifier: GPL-2.0-only
/*
 * A test that cannot fail tells nothing: here the graph is spoiled, in one place at a time, and
 * exactly that place must be found missing.
 */
#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

#include "check.h"

#define MAX_EDGES 4 /* of one instruction that is tried */

/* The transfer of a class that was made most often after the boot. */
static size_t hottest(const struct check *c, enum verdict_class kind)
{
	size_t best = SIZE_MAX;
	uint64_t most = 0;

	for (size_t i = 0; i < c->h.ntransfers; i++) {
		const uint64_t *n = c->transfers[i].count;

		if (n[1] > most && check_transfer(c, &c->transfers[i]).later == kind) {
			most = n[1];
			best = i;
		}
	}
	if (best == SIZE_MAX)
		test_die("no transfer to try", class_text[kind]);
	return best;
}

static int verdict(const char *what, const struct check *c, uint32_t addr, bool found)
{
	char name[128];

	graph_name(c->live, addr, name, sizeof(name));
	printf("%s, at %s: %s (%" PRIu64 " misses)\n", what, name,
	       found ? "found missing" : "NOT FOUND", c->nmissed);
	return !found;
}

/* Without its edge, or edges (a call that is a jump has two), the transfer is a miss. */
static int try_edge(struct check *c, enum verdict_class kind, uint64_t before)
{
	struct graph_edge old[MAX_EDGES], *edges;
	size_t i = hottest(c, kind), n;
	uint32_t from = c->transfers[i].from;
	bool found;

	edges = c->live->edges + (graph_edges(c->live, from, &n) - c->live->edges);
	if (!n || n > MAX_EDGES)
		test_die("no edges, or too many", class_text[kind]);
	memcpy(old, edges, n * sizeof(*old));
	for (size_t e = 0; e < n; e++)
		if (!edges[e].to || edges[e].to == c->transfers[i].to)
			edges[e] = (struct graph_edge){from, from + 1, KI_EDGE_JUMP};
	check_run(c);
	found = c->transfer_missed[i] && c->nmissed > before;
	memcpy(edges, old, n * sizeof(*old));
	return verdict(class_text[kind], c, from, found);
}

/* Without a mark at `addr`, `missed` says so. */
static int try_mark(struct check *c, const char *what, uint32_t addr, uint8_t mark,
		    const bool *missed)
{
	uint8_t *marks = graph_mark_at(c->live, addr), old = *marks;
	bool found;

	*marks &= (uint8_t)~mark;
	check_run(c);
	found = *missed;
	*marks = old;
	return verdict(what, c, addr, found);
}

/* Said not to return, the function of a hot return is a liar. */
static int try_noreturn(struct check *c)
{
	size_t i = hottest(c, CLASS_RETURN);
	uint32_t from = c->transfers[i].from;
	struct graph_symbol *s =
		&c->live->symbols[graph_symbol_at(c->live, from) - c->live->symbols];
	bool found;

	s->flags ^= KI_FUNCTION_NORETURN;
	check_run(c);
	found = c->transfer_missed[i];
	s->flags ^= KI_FUNCTION_NORETURN;
	return verdict("a function that returns", c, from, found);
}

static size_t insn_number(const struct check *c, uint32_t addr)
{
	for (size_t i = 0; i < c->h.ninsns; i++)
		if (c->insns[i].addr == addr)
			return i;
	test_die("a transfer from what was not executed", "");
}

int check_selftest(struct check *c)
{
	static const enum verdict_class classes[] = {CLASS_TAKEN, CLASS_FALL, CLASS_CALL,
						     CLASS_RETURN, CLASS_JUMP};
	int failed = 0;
	uint64_t before;
	size_t i, taken;

	check_run(c);
	before = c->nmissed;
	for (i = 0; i < sizeof(classes) / sizeof(*classes); i++)
		failed |= try_edge(c, classes[i], before);
	taken = hottest(c, CLASS_TAKEN);
	failed |= try_mark(c, "a block's start", c->transfers[taken].to, MARK_BLOCK,
			   &c->transfer_missed[taken]);
	i = insn_number(c, c->transfers[taken].from);
	failed |= try_mark(c, "a boundary", c->insns[i].addr, MARK_INSN, &c->insn_missed[i]);
	failed |= try_noreturn(c);
	check_run(c);
	return failed || c->nmissed != before;
}
