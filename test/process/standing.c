// SPDX-License-Identifier: GPL-2.0-only
/*
 * standing PID POINTER: what only programs of the library do with a process that is replaced.c:
 * counters and a replacement in one plan, in both orders; memory of ours there, and of its own,
 * both ways. It asks for a round by a line, and reads a line when the round is done. "ok" at the
 * end, or what is wrong.
 */
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "kerninst/process.h"

static struct ki_target *t;
static struct ki_err err;

static _Noreturn void fail(const char *what)
{
	printf("%s: %s\n", what, err.msg);
	exit(1);
}

static const struct ki_symbol *symbol(const char *name)
{
	const struct ki_symbol *s = ki_target_symbol_named(t, "replaced", name, NULL);

	if (!s)
		fail(name);
	return s;
}

static void add_counter(struct ki_plan *p, const char *name, enum ki_point_kind kind, uint32_t n)
{
	const struct ki_point pt = {.kind = kind};
	struct ki_function *fn;
	struct ki_spans spans;
	struct ki_place *place;
	struct ki_code code;
	size_t count;
	uint32_t id;

	if (ki_function_analyze(t, symbol(name), &fn, &err) || ki_spans_find(fn, &spans, &err) ||
	    ki_point_places(fn, &spans, &pt, &place, &count, &err))
		fail(name);
	for (size_t i = 0; i < count; i++) {
		ki_process_count(&code, n, true);
		if (ki_plan_add(p, &(struct ki_insertion){fn, &spans, &place[i], 0}, &code, &id,
				&err))
			fail(name);
	}
	free(place);
	ki_spans_free(&spans);
	ki_function_free(fn);
}

static void add_replacement(struct ki_plan *p)
{
	const struct ki_replacement r = {.text = "one", .in = symbol("one"), .to = symbol("two")};

	if (ki_plan_replacement(p, t, &r, &err))
		fail("replacement");
}

static void round_of_it(void)
{
	char line[100];

	puts("round");
	fflush(stdout);
	if (!fgets(line, sizeof(line), stdin))
		fail("no round");
}

/* One's calls are counted, and it does not return; two, which stands for it, does. */
static void counted(bool counters_first)
{
	struct ki_splice_process *s;
	struct ki_plan *p;
	uint64_t v[3];

	if (ki_plan_new(&p))
		fail("plan");
	if (!counters_first)
		add_replacement(p);
	add_counter(p, "one", KI_POINT_ENTRY, 0);
	add_counter(p, "one", KI_POINT_EXIT, 1);
	add_counter(p, "two", KI_POINT_ENTRY, 2);
	if (counters_first)
		add_replacement(p);
	if (ki_process_new_whole(t, p, 3, &s, &err))
		fail("in");
	round_of_it();
	if (ki_process_remove(s, &err))
		fail("out");
	for (uint32_t i = 0; i < 3; i++)
		v[i] = ki_process_read(s, i);
	/* Of the thread that calls all the time a call that had begun before may end now, and the
	   last one may be between the two counters when the text is given back. */
	if (v[0] < 3 * 2000 * 5 || v[1] > 1 || v[0] - v[2] > 1) {
		printf("counts: %llu %llu %llu\n", (unsigned long long)v[0],
		       (unsigned long long)v[1], (unsigned long long)v[2]);
		exit(1);
	}
	ki_process_free(s);
	ki_plan_free(p);
}

static void refused(int want, int ret, const char *what)
{
	if (ret != want || !*err.msg) {
		printf("%s: %d instead of %d: %s\n", what, ret, want, err.msg);
		exit(1);
	}
	ki_err_clear(&err);
}

static void memory(void)
{
	static uint8_t out[100000], in[sizeof(out)];
	struct ki_splice_process *s, *more;
	uint64_t at;

	if (ki_process_memory_new(t, sizeof(out), &s, &err) ||
	    ki_process_memory_new(t, 1, &more, &err))
		fail("memory");
	at = ki_process_memory(s);
	if (!at || at == ki_process_memory(more) ||
	    ki_target_read_data(t, at, in, sizeof(in), &err))
		fail("where");
	if (memcmp(in, out, sizeof(in)))
		fail("it is not zero");
	for (size_t i = 0; i < sizeof(out); i++)
		out[i] = (uint8_t)(i * 7 + i / 251);
	if (ki_target_write_data(t, at, out, sizeof(out), &err) ||
	    ki_target_read_data(t, at, in, sizeof(in), &err))
		fail("round trip");
	if (memcmp(in, out, sizeof(in)) || ki_process_read(s, 1) != *(uint64_t *)(out + 8))
		fail("it comes back as something else");
	round_of_it(); /* the program does not mind */
	ki_process_memory_free(more);
	ki_process_memory_free(s);
	refused(-EFAULT, ki_target_read_data(t, at, in, 8, &err), "read what is given back");
	refused(-EFAULT, ki_target_write_data(t, at, in, 8, &err), "write what is given back");
	refused(-EFAULT, ki_target_read_data(t, 8, in, 8, &err), "read near 0");
	refused(-EFAULT, ki_target_write_data(t, UINT64_MAX - 7, in, 8, &err), "write at the end");
	refused(-EFAULT, ki_target_write_data(t, symbol("one")->addr, in, 8, &err), "write text");
	refused(-EINVAL, ki_process_memory_new(t, 0, &s, &err), "no memory");
	refused(-EINVAL, ki_process_memory_new(t, SIZE_MAX, &s, &err), "all memory");
}

/* The program's own pointer, which leads to one: now to three. */
static void own(uint64_t pointer)
{
	const uint64_t one = symbol("one")->addr, three = symbol("three")->addr;
	uint64_t word;

	if (ki_target_read_data(t, pointer, &word, 8, &err) || word != one)
		fail("the pointer");
	if (ki_target_write_data(t, pointer, &three, 8, &err))
		fail("write the pointer");
	round_of_it();
	if (ki_target_write_data(t, pointer, &one, 8, &err))
		fail("write the pointer back");
}

int main(int argc, char **argv)
{
	if (argc != 3 || ki_target_new_process(atoi(argv[1]), &t, &err))
		fail("usage: standing PID POINTER");
	counted(true);
	counted(false);
	memory();
	own(strtoull(argv[2], NULL, 16));
	ki_target_free(t);
	puts("ok");
	return 0;
}
