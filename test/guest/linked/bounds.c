// SPDX-License-Identifier: GPL-2.0-only
/*
 * bounds: what probes in all blocks say of a command, for a witness that sees the guest from
 * outside.
 *
 *	bounds hit|count [-e] [-s] [-g GLOB] -- COMMAND [ARGUMENT...]
 *
 * Blocks are read right before and after each of the two marks that the witness sees. So what it
 * has seen of a block between the marks is at least `least`, and at most `most`. Prints "ADDRESS
 * LEAST MOST" for each block that something is known of (least: 1 if it was first executed between
 * the inner two readings). -e: a probe in each block. -s: no function is moved; of one that is, the
 * witness sees what is executed in the text, not what is in the patch: ":moved".
 */
#include <fnmatch.h>
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>
#include <unistd.h>

#include "kerninst/coverage.h"
#include "prog/mark.h"

enum { BEFORE, BEGUN, ENDING, BEHIND, READINGS };

static void die(const char *what, const struct ki_err *err)
{
	fprintf(stderr, "bounds: %s: %s\n", what, err->msg);
	exit(125);
}

static int run(char **argv)
{
	pid_t pid = fork();
	int status = -1;

	if (!pid) {
		dup2(2, 1);
		execvp(argv[0], argv);
		_exit(127);
	}
	waitpid(pid, &status, 0);
	return status;
}

static struct {
	uint64_t *v; /* in order of address */
	size_t n;
} loops;

static int note_loops(void *arg, size_t i, const struct ki_function *fn)
{
	(void)arg;
	(void)i;
	for (uint32_t e = 0; e < fn->nedges; e++) {
		if (fn->edges[e].to_block != fn->edges[e].block)
			continue;
		loops.v = realloc(loops.v, (loops.n + 1) * sizeof(*loops.v));
		loops.v[loops.n++] = fn->blocks[fn->edges[e].block].start;
	}
	return 0;
}

static int by_address(const void *a, const void *b)
{
	const uint64_t x = *(const uint64_t *)a, y = *(const uint64_t *)b;

	return (x > y) - (x < y);
}

static bool is_loop(uint64_t addr)
{
	return loops.n && bsearch(&addr, loops.v, loops.n, sizeof(addr), by_address);
}

static struct ki_cover *install(struct ki_target *t, const char *glob,
				const struct ki_cover_options *o)
{
	struct ki_err err = {0};
	struct ki_cover *c;
	size_t n, k = 0;
	const struct ki_symbol *all = ki_target_symbols(t, &n), **some = malloc(n * sizeof(*some));

	for (size_t i = 0; i < n; i++)
		if (!all[i].alias && !fnmatch(glob, all[i].name, 0))
			some[k++] = &all[i];
	if (ki_functions_analyze(t,
				 &(struct ki_functions_job){
					 .syms = some, .n = k, .take = note_loops, .arg = NULL},
				 &err) ||
	    ki_cover_new(t, some, k, o, &c, &err))
		die("install", &err);
	free(some);
	return c;
}

static struct {
	uint64_t *v; /* functions that may be moved, in order of address: some block has no window
			of its own */
	size_t n;
} moved;

/* Nothing has been written to the block: if it has a probe, that stands in a patch, or at the edge
 * that leads to the block. */
static bool is_as_it_was(struct ki_target *t, uint64_t addr, size_t len)
{
	uint8_t now[4096], before[4096];

	return len <= sizeof(now) && !ki_target_read(t, addr, now, len, KI_VIEW_LIVE, NULL) &&
	       !ki_target_read(t, addr, before, len, KI_VIEW_ORIG, NULL) &&
	       !memcmp(now, before, len);
}

/* While the probes are there. */
static void note_moved(struct ki_target *t, const struct ki_coverage *c)
{
	moved.v = calloc(c->nfunctions + 1, sizeof(*moved.v));
	for (size_t i = 0; i < c->nfunctions; i++) {
		const struct ki_cover_function *f = &c->functions[i];
		bool inside = false;

		for (uint32_t b = f->first_block; b < f->first_block + f->nblocks; b++)
			inside |= c->blocks[b].how == KI_COVER_IMPLIED ||
				  (c->blocks[b].how == KI_COVER_PROBED &&
				   is_as_it_was(t, f->addr + c->blocks[b].off, c->blocks[b].len));
		if (inside)
			moved.v[moved.n++] = f->addr;
	}
}

static bool is_moved(uint64_t addr)
{
	return moved.n && bsearch(&addr, moved.v, moved.n, sizeof(addr), by_address);
}

static void print(struct ki_coverage *const r[READINGS], const struct ki_cover_function *f)
{
	const bool hits = r[BEFORE]->mode == KI_COVER_HIT, away = is_moved(f->addr);

	for (uint32_t b = f->first_block; b < f->first_block + f->nblocks; b++) {
		const struct ki_cover_block *at = &r[BEFORE]->blocks[b];
		uint64_t v[READINGS], addr = f->addr + at->off;

		if (at->how == KI_COVER_UNKNOWN)
			continue;
		for (int i = 0; i < READINGS; i++)
			v[i] = r[i]->blocks[b].count;
		printf("%" PRIx64 " %" PRIu64 " %" PRIu64 " %s+0x%x:%s%s%s\n", addr,
		       v[ENDING] - v[BEGUN], hits ? v[BEHIND] : v[BEHIND] - v[BEFORE], f->name,
		       at->off, ki_cover_how_name(at->how), is_loop(addr) ? ":loop" : "",
		       away ? ":moved" : "");
	}
}

int main(int argc, char **argv)
{
	struct ki_cover_options o = {.size = sizeof(o), .mode = KI_COVER_COUNT};
	struct ki_coverage *r[READINGS];
	struct ki_err err = {0};
	const char *glob = "*";
	struct ki_target *t;
	struct ki_cover *c;
	int ret = 0, opt, status;

	if (argc > 1 && !strcmp(argv[1], "hit"))
		o.mode = KI_COVER_HIT;
	optind = 2;
	while ((opt = getopt(argc, argv, "+esg:")) != -1) {
		o.every |= opt == 'e';
		o.stay |= opt == 's';
		glob = opt == 'g' ? optarg : glob;
	}
	if (ki_target_new_live(&t, &err))
		die("open", &err);
	c = install(t, glob, &o);
	ret |= ki_cover_read(c, &r[BEFORE], &err);
	MARK_BEGIN();
	ret |= ki_cover_read(c, &r[BEGUN], &err);
	status = run(argv + optind);
	ret |= ki_cover_read(c, &r[ENDING], &err);
	MARK_END();
	ret |= ki_cover_read(c, &r[BEHIND], &err);
	if (!ret && !o.stay)
		note_moved(t, r[BEFORE]);
	if (ret || ki_cover_remove(c, &err))
		die("read", &err);
	for (size_t i = 0; i < r[BEFORE]->nfunctions; i++)
		print(r, &r[BEFORE]->functions[i]);
	for (int i = 0; i < READINGS; i++)
		ki_coverage_free(r[i]);
	ki_cover_free(c);
	ki_target_free(t);
	return status ? 1 : 0;
}
