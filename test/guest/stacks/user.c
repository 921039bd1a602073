// SPDX-License-Identifier: GPL-2.0-only
/*
 * This program's own stack: its functions note where they return to.
 */
#include "stacks.h"

#include <pthread.h>
#include <string.h>
#include <sys/syscall.h>

#define DEPTH 200
#define WALKS 3000

static uint64_t returns[4]; /* of c, b, a; where c is when it calls the kernel */

/* Not by way of the C library, whose function keeps no frame pointer. */
static __attribute__((noinline)) uint64_t c(uint64_t depth)
{
	register long ret __asm__("rax") = SYS_sched_get_priority_max;
	register uint64_t r10 __asm__("r10") = 0;

	returns[0] = (uint64_t)__builtin_return_address(0);
	__asm__ volatile("lea 1f(%%rip), %%rcx\n mov %%rcx, %1\n syscall\n1:"
			 : "+a"(ret), "=m"(returns[3])
			 : "D"(depth), "S"(MARK), "r"(r10)
			 : "rcx", "r11", "memory");
	return (uint64_t)ret;
}

static __attribute__((noinline)) uint64_t b(uint64_t depth)
{
	returns[1] = (uint64_t)__builtin_return_address(0);
	return c(depth) + 1;
}

static __attribute__((noinline)) uint64_t a(uint64_t depth)
{
	returns[2] = (uint64_t)__builtin_return_address(0);
	return b(depth) + 1;
}

/* The stack and the depth of a call; with `more`, the stack without its innermost frame. */
static void put_called(struct session *s, bool more)
{
	begin(s);
	value(s, ki_expr_stack(s->s, ki_stacks_number(s->stacks), 0, true));
	value(s, sys_arg(s->s, 0));
	if (more)
		value(s, ki_expr_stack(s->s, ki_stacks_number(s->stacks), 1, true));
	put(s, CALLED,
	    ki_expr_binary(s->s, KI_LAND, mine(s),
			   ki_expr_binary(s->s, KI_EQ, sys_arg(s->s, 1),
					  ki_expr_const(s->s, KI_U64, MARK))));
	plan_apply(s->plan, s->t);
}

static void test_chain(struct session *s)
{
	const uint64_t *want = returns;
	struct ki_stack st = {0}, rest = {0};
	bool good;

	a(0);
	read_all(s);
	good = nseen == 1 && stack_of(s, seen[0].v[0], &st) && stack_of(s, seen[0].v[2], &rest) &&
	       st.n >= 5 && rest.n == st.n - 1 && st.tgid == rest.tgid && st.tgid;
	report("a program's stack",
	       good && st.addrs[0] == want[3] && !memcmp(st.addrs + 1, want, 24) &&
		       !memcmp(rest.addrs, st.addrs + 1, rest.n * 8),
	       "%u frames: %llx %llx %llx %llx; %llx %llx %llx %llx", st.n,
	       good ? (ull)st.addrs[0] : 0, good ? (ull)st.addrs[1] : 0,
	       good ? (ull)st.addrs[2] : 0, good ? (ull)st.addrs[3] : 0, (ull)want[3], (ull)want[0],
	       (ull)want[1], (ull)want[2]);
}

/* ---- many at once ---- */

static __attribute__((noinline)) uint64_t deeper(uint64_t left, uint64_t depth)
{
	return left ? deeper(left - 1, depth) + 1 : c(depth);
}

/* The C library's code below it keeps other things in %rbp: here the chain ends. */
void *walk(void *arg);
void *walk_walk(void *arg);
__asm__(".text\n"
	"walk:\n"
	"push %rbp\n"
	"xor %ebp, %ebp\n"
	"call walk_walk\n"
	"pop %rbp\n"
	"ret\n");

void *walk_walk(void *arg)
{
	for (uint64_t i = 0; i < WALKS; i++)
		deeper(i % DEPTH, i % DEPTH + 1);
	return arg;
}

/* All stacks of one depth are the same but for the thread's beginning, which all share. */
static unsigned int count_wrong(struct session *s, unsigned int frames, unsigned int more)
{
	unsigned int wrong = 0;
	struct ki_stack st;

	for (unsigned int i = 0; i < nseen; i++) {
		uint64_t depth = seen[i].v[1], want = depth + more;

		want = want < frames ? want : frames;
		if (!stack_of(s, seen[i].v[0], &st) || st.n != want) {
			wrong++;
			continue;
		}
		for (uint64_t k = 3; k < depth && k < st.n; k++)
			wrong += st.addrs[k] != st.addrs[2];
	}
	return wrong;
}

static void test_many(struct session *s)
{
	struct ki_stack st = {0};
	pthread_t thread[4];
	unsigned int more;
	uint64_t rows;

	for (int i = 0; i < 4; i++)
		if (pthread_create(&thread[i], NULL, walk, NULL))
			die("threads", "none can be made");
	for (int i = 0; i < 4; i++)
		pthread_join(thread[i], NULL);
	read_all(s);
	for (unsigned int i = 0; i < nseen && !st.n; i++)
		if (seen[i].v[1] == 1 && !stack_of(s, seen[i].v[0], &st))
			break;
	more = st.n - 1;
	rows = ki_stacks_count(s->stacks);
	report("4 threads, 200 depths",
	       nseen == 4 * WALKS && st.n > 2 && !count_wrong(s, KI_STACK_FRAMES, more) &&
		       rows >= DEPTH / 2 && rows < 3 * DEPTH && !ki_stacks_lost(s->stacks),
	       "%u records, %u wrong, %u frames around, %llu rows, %llu lost", nseen,
	       count_wrong(s, KI_STACK_FRAMES, more), more, (ull)rows,
	       (ull)ki_stacks_lost(s->stacks));
}

/* ---- a table that is too small ---- */

static void test_full(void)
{
	uint64_t none = 0, first[DEPTH + 1] = {0}, changed = 0;
	struct ki_stack st;
	struct session s;

	session_open(&s, 127, 16);
	put_called(&s, false);
	for (uint64_t i = 0; i < 400; i++)
		deeper(i % 100, i % 100);
	read_all(&s);
	for (unsigned int i = 0; i < nseen; i++) {
		uint64_t d = seen[i].v[1], n = seen[i].v[0];

		none += !n;
		changed += i >= 100 && first[d] != n;
		first[d] = n;
		if (n && !stack_of(&s, n, &st))
			changed++;
	}
	report("a table that is too small",
	       nseen == 400 && none == 4 * (100 - 16) && ki_stacks_lost(s.stacks) == none &&
		       ki_stacks_count(s.stacks) == 16 && !changed,
	       "%llu of %u found no place, it says %llu; %llu rows, %llu changed", (ull)none, nseen,
	       (ull)ki_stacks_lost(s.stacks), (ull)ki_stacks_count(s.stacks), (ull)changed);
	session_close(&s);
}

void test_user(void)
{
	struct session s;

	session_open(&s, KI_STACK_FRAMES, 4096);
	put_called(&s, true);
	test_chain(&s);
	session_close(&s);
	session_open(&s, KI_STACK_FRAMES, 4096);
	put_called(&s, false);
	test_many(&s);
	session_close(&s);
	test_full();
}
