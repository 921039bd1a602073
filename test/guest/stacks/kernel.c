// SPDX-License-Identifier: GPL-2.0-only
/*
 * A kernel's stack, against what the kernel shows in /proc/self/stack: taken at the entry of the
 * very function that makes that text, in the very call.
 */
#include "stacks.h"

#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#define MAKER "proc_pid_stack"
#define LINES 64

struct line {
	char name[100];
	uint64_t off;
};

static unsigned int read_own(struct line *v)
{
	static char text[8192];
	unsigned int n = 0;
	int fd = open("/proc/self/stack", O_RDONLY);
	ssize_t len = fd < 0 ? -1 : read(fd, text, sizeof(text) - 1);
	char *at = text;

	if (len < 0)
		die("/proc/self/stack", "it cannot be read");
	close(fd);
	text[len] = 0;
	for (; n < LINES && at && *at; n++) {
		if (sscanf(at, "[<0>] %99[^+]+0x%lx/", v[n].name, &v[n].off) != 2)
			break;
		at = strchr(at, '\n');
		at += at != NULL;
	}
	return n;
}

/* The kernel's name of it is one of those that the address may have. */
static bool is_same(struct session *s, const struct line *l, uint64_t addr)
{
	const struct ki_symbol *sym = NULL;

	while ((sym = ki_target_symbol_named(s->t, NULL, l->name, sym)))
		if (sym->addr + l->off == addr)
			return true;
	return false;
}

static void test_all_frames(struct session *s, const char *name, unsigned int want)
{
	static struct line line[LINES];
	unsigned int n = read_own(line), wrong = 0;
	struct ki_stack st = {0};

	read_all(s);
	if (nseen != 1 || !stack_of(s, seen[0].v[0], &st)) {
		report(name, false, "%u records", nseen);
		return;
	}
	for (unsigned int i = 1; i < n && i < st.n; i++)
		wrong += !is_same(s, &line[i], st.addrs[i]);
	report(name,
	       n >= 6 && !wrong && st.n == (n < want ? n : want) && is_in(s, st.addrs[0], MAKER) &&
		       !wrong_with(s, &st) == (n <= want),
	       "%u frames, the kernel shows %u, %u differ; %s", st.n, n, wrong, line[1].name);
}

/* Without its innermost frames it is the rest. */
static void test_skip(struct session *s)
{
	struct ki_stack all = {0}, rest = {0};

	bool there =
		nseen == 1 && stack_of(s, seen[0].v[0], &all) && stack_of(s, seen[0].v[1], &rest);

	report("frames left out",
	       there && rest.n == all.n - 2 &&
		       !memcmp(rest.addrs, all.addrs + 2, rest.n * sizeof(*rest.addrs)) &&
		       !seen[0].v[2],
	       "%u of %u; of 200 left out: %llu", rest.n, all.n, (ull)seen[0].v[2]);
}

static void put_maker(struct session *s)
{
	begin(s);
	value(s, ki_expr_stack(s->s, ki_stacks_number(s->stacks), 0, false));
	value(s, ki_expr_stack(s->s, ki_stacks_number(s->stacks), 2, false));
	value(s, ki_expr_stack(s->s, ki_stacks_number(s->stacks), 200, false));
	put(s, MAKER, mine(s));
	plan_apply(s->plan, s->t);
}

void test_kernel(void)
{
	struct session s;

	session_open(&s, KI_STACK_FRAMES, 1024);
	put_maker(&s);
	test_all_frames(&s, "all frames", KI_STACK_FRAMES);
	test_skip(&s);
	session_close(&s);
	session_open(&s, 4, 1024);
	put_maker(&s);
	test_all_frames(&s, "only 4 of them", 4);
	session_close(&s);
}
