// SPDX-License-Identifier: GPL-2.0-only
/*
 * hold: all windows of some functions, until there is no more input. And refuse: that the driver
 * takes nothing in the ranges where nothing may be.
 */
#include <errno.h>
#include <fnmatch.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/ioctl.h>
#include <unistd.h>

#include "torture/torture.h"

#define HOLD_COUNTERS 30000

/* One that begins with + must be reached. */
static bool must(const char *glob)
{
	return *glob == '+';
}

static bool fits(const char *glob, const char *name)
{
	return !fnmatch(glob + must(glob), name, 0);
}

static bool wanted(char **globs, const char *name)
{
	for (; *globs; globs++)
		if (fits(*globs, name))
			return true;
	return false;
}

/* The kernel's functions with such names. */
static const struct ki_symbol **choose(struct ki_target *t, char **globs, size_t *n)
{
	size_t all, i;
	const struct ki_symbol *syms = ki_target_symbols(t, &all);
	const struct ki_symbol **v = malloc((all + 1) * sizeof(*v));

	if (!v)
		die("memory", NULL);
	for (*n = 0, i = 0; i < all; i++)
		if (!*syms[i].module && !syms[i].alias && wanted(globs, syms[i].name))
			v[(*n)++] = &syms[i];
	return v;
}

/* The globs that must be reached, with a function that is there, and were not; and each by name. */
static int missed(const struct crew *c, const struct ki_symbol **syms, char **globs)
{
	int n = 0;

	for (; *globs; globs++) {
		bool there = false, reached = false;

		for (uint32_t i = 0; i < c->used && must(*globs); i++) {
			if (!fits(*globs, syms[c->owner[i]]->name))
				continue;
			there = true;
			reached |= crew_hits(c, i) != 0;
		}
		if (there && !reached) {
			printf("hold: %s: not reached\n", *globs + 1);
			n++;
		}
	}
	return n;
}

int hold(char **globs)
{
	const struct ki_symbol **syms;
	uint32_t i, reached = 0;
	struct crew c;
	int bad;
	char byte;
	size_t n;

	crew_open(&c, HOLD_COUNTERS);
	syms = choose(c.t, globs, &n);
	if (!crew_add(&c, syms, n, crew_windows, NULL, NULL))
		die("hold: too many windows", NULL);
	crew_apply(&c);
	bad = crew_refused(&c, "hold") > c.used / 100;
	printf("hold: %u windows of %u functions, %llu refused\n", c.used, c.functions,
	       (unsigned long long)crew_refused(&c, NULL));
	fflush(stdout);
	while (read(STDIN_FILENO, &byte, 1) > 0)
		;
	for (i = 0; i < c.used; i++)
		reached += crew_hits(&c, i) != 0;
	bad += missed(&c, syms, globs);
	crew_remove(&c);
	printf("hold: %u windows were reached, %llu hits\n", reached,
	       (unsigned long long)crew_all_hits(&c));
	free(syms);
	crew_close(&c);
	return bad || !reached;
}

/* ---- refuse ---- */

/* What the linker script says, and what the driver must answer. */
static const struct range {
	const char *start, *end;
	uint32_t reason;
} ranges[] = {
	{"__entry_text_start", "__entry_text_end", KI_R_ENTRY_TEXT},
	{"__noinstr_text_start", "__noinstr_text_end", KI_R_NOINSTR},
	{"__kprobes_text_start", "__kprobes_text_end", KI_R_KPROBES_BLACKLIST},
	{"__cpuidle_text_start", "__cpuidle_text_end", KI_R_IDLE_TEXT},
};

/* One instruction as the only one of a window, asked for after the library's back. */
static uint32_t ask(const struct crew *c, const struct ki_function *fn, const struct ki_insn *in)
{
	struct ki_insn bare = *in;
	const uint8_t *bytes = fn->bytes + (in->addr - fn->start);
	struct ki_code code;
	struct ki_copy copy;
	struct ki_window w = {.addr = in->addr,
			      .len = in->len,
			      .ncopy = 1,
			      .board = in->len < 5 ? KI_BOARD_TRAP : KI_BOARD_JMP};
	struct ki_chunk chunk = {0};
	struct ki_splice req = {.size = sizeof(req),
				.flags = KI_SPLICE_DRY_RUN,
				.windows = (uintptr_t)&w,
				.copies = (uintptr_t)&copy,
				.chunks = (uintptr_t)&chunk,
				.nwindows = 1,
				.ncopies = 1,
				.nchunks = 1};

	bare.reason = KI_R_OK;
	if (ki_relocate(&bare, bytes, &copy))
		return KI_R_UNDECODABLE; /* not even a bad library could ask for it */
	memcpy(w.orig, bytes, in->len);
	ki_snippet_count(&code, c->first, true);
	chunk.len = code.len;
	chunk.nfix = code.nfix;
	memcpy(chunk.fix, code.fix, sizeof(chunk.fix));
	memcpy(chunk.code, code.code, code.len);
	return ioctl(ki_target_fd(c->t), KI_IOC_SPLICE, &req) ? w.reason : KI_R_OK;
}

struct tally {
	unsigned long asked, accepted, other;
};

static void ask_function(struct crew *c, const struct ki_symbol *sym, uint32_t want,
			 struct tally *t)
{
	struct ki_err err = {0};
	struct ki_function *fn;

	if (ki_function_analyze(c->t, sym, &fn, &err))
		die(sym->name, &err);
	for (uint32_t i = 0; i < fn->ninsns; i++) {
		uint32_t reason = ask(c, fn, &fn->insns[i]);

		t->asked += reason != KI_R_UNDECODABLE;
		t->accepted += reason == KI_R_OK;
		t->other += reason != KI_R_OK && reason != KI_R_UNDECODABLE && reason != want;
	}
	ki_function_free(fn);
}

static uint64_t address_of(struct ki_target *t, const char *name)
{
	const struct ki_symbol *sym = ki_target_symbol_named(t, "", name, NULL);

	return sym ? sym->addr : 0;
}

static int ask_range(struct crew *c, const struct range *r)
{
	uint64_t start = address_of(c->t, r->start), end = address_of(c->t, r->end);
	const struct ki_symbol *syms;
	struct tally t = {0};
	size_t n, i;

	syms = ki_target_symbols(c->t, &n);
	for (i = 0; i < n; i++)
		if (!syms[i].alias && syms[i].addr >= start && syms[i].addr < end)
			ask_function(c, &syms[i], r->reason, &t);
	printf("refuse: %s: %lu instructions asked for, %lu accepted, %lu refused for another reason\n",
	       r->start, t.asked, t.accepted, t.other);
	return !start || end < start || (end > start && !t.asked) || t.accepted; /* may be empty */
}

int refuse(void)
{
	struct tally t = {0};
	struct crew c;
	int ret = 0;
	size_t i;

	crew_open(&c, 1);
	for (i = 0; i < sizeof(ranges) / sizeof(*ranges); i++)
		ret |= ask_range(&c, &ranges[i]);
	/* the same question where the answer is yes */
	ask_function(&c, ki_target_symbol_named(c.t, "", "vfs_read", NULL), KI_R_OK, &t);
	printf("refuse: vfs_read: %lu instructions asked for, %lu accepted\n", t.asked, t.accepted);
	crew_close(&c);
	return ret || t.accepted < 50;
}
