// SPDX-License-Identifier: GPL-2.0-only
/*
 * Strings against what this program has passed: names of files, which the kernel takes from here
 * and keeps a copy of.
 */
#include "stacks.h"

#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/syscall.h>
#include <unistd.h>

#define NAMES 10000
#define ROOM  14 /* words of a string */
#define MOST  (8 * ROOM - 1)

/* Name i: of 1 to 140 bytes, each another one. */
static const char *name_of(unsigned int i, char *to)
{
	int n = snprintf(to, 200, "/nowhere/%u.", i);
	unsigned int len = i % 130;

	for (; (unsigned int)n < len; n++)
		to[n] = (char)('a' + (i + (unsigned int)n) % 26);
	to[n] = 0;
	return to;
}

static void open_name(const char *name)
{
	if (syscall(SYS_openat, -1, name, O_RDONLY, 0) >= 0)
		die("names", "one of them exists");
}

static void put_user(struct session *s, struct ki_node *only_if)
{
	value(s, ki_expr_string(s->s, ki_expr_param(s->s, 1), ROOM, true));
	put(s, "do_sys_openat2", only_if);
}

static unsigned int count_wrong(unsigned int first)
{
	unsigned int wrong = 0;
	char name[256];

	for (unsigned int i = 0; i < nseen; i++) {
		const char *got = (const char *)&seen[i].v[first];

		name_of(i, name);
		if (strlen(name) > MOST)
			name[MOST] = 0;
		wrong += strcmp(got, name) || seen[i].n != first + ROOM;
		for (unsigned int k = (unsigned int)strlen(name); k < 8 * ROOM; k++)
			wrong += got[k] != 0;
	}
	return wrong;
}

/* From where this program has it, and from where the kernel has. */
static void test_names(bool user)
{
	struct session s;
	char name[256];

	session_open(&s, 1, 1);
	begin(&s);
	if (user)
		put_user(&s, mine(&s));
	else {
		value(&s, ki_expr_fact(s.s, KI_FACT_PID));
		value(&s, ki_expr_string(s.s, ki_expr_load(s.s, KI_U64, ki_expr_param(s.s, 1)),
					 ROOM, false));
		put(&s, "do_filp_open", mine(&s));
	}
	plan_apply(s.plan, s.t);
	for (unsigned int i = 0; i < NAMES; i++)
		open_name(name_of(i, name));
	read_all(&s);
	report(user ? "10,000 names of the program" : "10,000 names of the kernel",
	       nseen == NAMES && !count_wrong(user ? 0 : 1), "%u records, %u wrong", nseen,
	       count_wrong(user ? 0 : 1));
	session_close(&s);
}

/* At the end of a page after which there is nothing; where nothing is at all. */
static void test_edges(void)
{
	char *page = mmap(NULL, 8192, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
	struct session s;
	unsigned int wrong = 0, i;

	if (page == MAP_FAILED || mprotect(page + 4096, 4096, PROT_NONE))
		die("mmap", "no pages");
	session_open(&s, 1, 1);
	begin(&s);
	put_user(&s, mine(&s));
	plan_apply(s.plan, s.t);
	memset(page, 'x', 4096);
	page[4095] = 0;
	for (i = 1; i <= 40; i++) /* i - 1 bytes and the 0, up to the page's end */
		open_name(page + 4096 - i);
	page[4095] = 'x'; /* no 0 before the end */
	for (i = 1; i <= 40; i++)
		open_name(page + 4096 - i);
	open_name(page + 4096 - MOST); /* all that there is room for */
	open_name((const char *)8);
	open_name((const char *)UINT64_C(0xffffffff81000000));
	open_name((const char *)UINT64_C(0x8000000000000000));
	open_name((const char *)UINT64_MAX);
	read_all(&s);
	for (i = 0; i < nseen; i++) {
		size_t len = strlen((const char *)seen[i].v);

		wrong += len != (i < 40 ? i : i == 80 ? MOST : 0);
	}
	report("at the end of memory, and where there is none", nseen == 85 && !wrong,
	       "%u records, %u wrong", nseen, wrong);
	session_close(&s);
}

/* What a predicate lets pass. */
static void test_compared(void)
{
	static const struct {
		const char *text;
		bool prefix;
		unsigned int want;
	} rows[] = {{"/nowhere/7.", false, 1},	 {"/nowhere/7", false, 0},
		    {"/nowhere/7", true, 1111},	 {"/nowhere/12", true, 111},
		    {"/nowhere/9999.", true, 1}, {"", true, NAMES},
		    {"/nowhere/123", true, 11},	 {"nowhere", true, 0}};
	char name[256];

	for (size_t r = 0; r < sizeof(rows) / sizeof(*rows); r++) {
		struct ki_node *is;
		struct session s;

		session_open(&s, 1, 1);
		begin(&s);
		is = ki_expr_string_is(s.s, ki_expr_string(s.s, ki_expr_param(s.s, 1), 4, true),
				       rows[r].text, rows[r].prefix);
		put_user(&s, ki_expr_binary(s.s, KI_LAND, mine(&s), is));
		plan_apply(s.plan, s.t);
		for (unsigned int i = 0; i < NAMES; i++)
			open_name(name_of(i, name));
		read_all(&s);
		snprintf(name, sizeof(name), "%s \"%s\"", rows[r].prefix ? "starts with" : "is",
			 rows[r].text);
		report(name, nseen == rows[r].want, "%u of %u", nseen, rows[r].want);
		session_close(&s);
	}
}

void test_strings(void)
{
	test_names(true);
	test_names(false);
	test_edges();
	test_compared();
}
