// SPDX-License-Identifier: GPL-2.0-only
/*
 * Sessions share windows, and one of them is killed when the heap has no room for the patches
 * without it. What it had put in must not run any more, at once; the others' must, exactly as often
 * as before; and when there is room again nothing of it is left.
 *
 * The functions are the test module's, which only we call. One session has so much code in each
 * patch that no free piece of the heap can hold it once more (it comes last: before it there is no
 * old patch of that size, whose place would do); the rest of the heap is filled by
 * sessions of random sizes, of which every other one then goes, so that it is in pieces.
 */
#include <errno.h>
#include <fcntl.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>
#include <unistd.h>

#include "full/full.h"

#define CALLS 50
#define BIG   (320 << 10)
#define WANTS 256

/* Seconds; a kernel that watches itself has five times as long. */
static double in_time(void)
{
	return access("/proc/lockdep_stats", F_OK) ? 1.0 : 5.0;
}

/* ---- the module ---- */

static void call(const char *proc, const char *command)
{
	int fd = open(proc, O_RDWR);

	if (fd < 0 || write(fd, command, strlen(command)) < 0)
		die(proc, strerror(errno));
	close(fd);
}

/* What the functions have given back, added up. */
static uint64_t call_mate(void)
{
	unsigned long long calls, sum;
	char command[32], text[64] = "";
	int fd;

	snprintf(command, sizeof(command), "call %d", CALLS);
	call("/proc/ki_mate", command);
	fd = open("/proc/ki_mate", O_RDONLY);
	if (read(fd, text, sizeof(text) - 1) < 0 ||
	    sscanf(text, "calls %llu sum %llx", &calls, &sum) != 2)
		die("/proc/ki_mate", "cannot be read");
	close(fd);
	return sum;
}

/* ---- sessions ---- */

struct session {
	struct cheap s;
	struct want w[WANTS];
	uint64_t runs[WANTS]; /* that its counters should say, in units */
	uint32_t n;
	pid_t pid; /* whose it is; 0: ours */
};

static void want(struct session *s, uint32_t place, uint32_t units)
{
	if (s->n == WANTS)
		die("wants", "too many");
	s->w[s->n++] = (struct want){.place = place, .units = units};
}

static void put_in(struct session *s, const struct places *p)
{
	uint32_t reason;

	cheap_open(&s->s, s->n + 1);
	reason = s->n ? cheap_put(&s->s, p, s->w, s->n, 0) : KI_R_OK;
	if (reason)
		die("put in", ki_reason_tag(reason));
}

/* The same, of a child that lives until it is killed. It says where its counters are. */
static void put_in_child(struct session *s, const struct places *p,
			 void (*more)(struct cheap *s, const struct places *p))
{
	int says[2];

	if (pipe(says))
		die("pipe", strerror(errno));
	s->pid = fork();
	if (!s->pid) {
		put_in(s, p);
		if (more)
			more(&s->s, p);
		if (write(says[1], &s->s, sizeof(s->s)) != sizeof(s->s))
			_exit(1);
		for (;;)
			pause();
	}
	close(says[1]);
	if (read(says[0], &s->s, sizeof(s->s)) != sizeof(s->s))
		die("child", "it has not come so far");
	close(says[0]);
}

static double kill_session(struct session *s)
{
	double from = now_s();

	kill(s->pid, SIGKILL);
	waitpid(s->pid, NULL, 0);
	state_info(); /* who opens the device next waits for the end of a session */
	return now_s() - from;
}

/* ---- counts ---- */

static uint64_t each[WANTS]; /* runs of each place in CALLS calls */

static void learn(const struct places *p)
{
	struct session *s = calloc(1, sizeof(*s));

	for (uint32_t i = 0; i < p->n; i++)
		want(s, i, 1);
	put_in(s, p);
	call_mate();
	for (uint32_t i = 0; i < p->n; i++)
		each[i] = state_count(s->s.first + i);
	cheap_close(&s->s);
	free(s);
}

/* They have been called once more. */
static void expect(struct session *s, const struct places *p)
{
	for (uint32_t i = 0; i < s->n; i++)
		s->runs[i] += each[s->w[i].place] * want_units(p, &s->w[i]);
}

/* How many counters are wrong. */
static uint32_t wrong(const struct session *s)
{
	uint32_t n = 0;

	for (uint32_t i = 0; i < s->n; i++)
		n += state_count(s->s.first + i) != s->runs[i];
	return n;
}

/* ---- what is held ---- */

static bool nothing_held(void *unused)
{
	uint32_t n[KI_HELD_KINDS];

	(void)unused;
	state_held(n, NULL);
	return !n[KI_HELD_WINDOWS] && !n[KI_HELD_MUTED] && !n[KI_HELD_PATCH];
}

static bool heap_is_empty(void *unused)
{
	(void)unused;
	return !state_info().heap_used;
}

static void report_time(const char *name, double s, double most)
{
	report(name, s >= 0 && s <= most, "%.3f s", s);
}

/* Of a function: a place where code of any length can stand. */
static uint32_t roomy(const struct places *p, const struct function *fn)
{
	for (uint32_t i = fn->first; i < fn->first + fn->n; i++)
		if (!p->v[i].flags_live)
			return i;
	die(fn->name, "flags are live everywhere");
}

/* Its patch of that place can be built only once. */
static void want_large(struct session *s, const struct places *p, uint32_t place)
{
	uint32_t bytes = 0;

	for (uint32_t k = 0; bytes < BIG; k++) {
		want(s, place, UNITS_MOST - k);
		bytes += want_bytes(p, &s->w[s->n - 1]);
	}
}

/* ---- a session among others ---- */

/* It is killed: within the time none of its counters goes on, and the others' are right. */
static void killed(const char *name, struct session *a, struct session *b, const struct places *p)
{
	double took = kill_session(b);
	uint32_t held[KI_HELD_KINDS];
	struct ki_held last;

	report_time(name, took, in_time());
	state_held(held, &last);
	report("what it had put in is jumped over", held[KI_HELD_MUTED] && !held[KI_HELD_WINDOWS],
	       "%u patches, the last with %u chunks: %s", held[KI_HELD_MUTED], last.count,
	       ki_reason_tag(last.reason));
	call_mate();
	expect(a, p);
	report("it does not run any more", !wrong(b), "%u of %u counters went on", wrong(b), b->n);
	report("the other one counts exactly", !wrong(a), "%u of %u counters are wrong", wrong(a),
	       a->n);
}

/* When there is room again nothing of it is left. */
static void room_again(struct filling *f, struct session *a, const struct places *p)
{
	uint64_t before = state_info().heap_used;

	empty_heap(f);
	report_time("with room nothing is held", state_until(nothing_held, NULL, 10),
		    3 * in_time());
	report("and the heap has its bytes back", state_info().heap_used < before,
	       "%llu, then %llu", (ull)before, (ull)state_info().heap_used);
	call_mate();
	expect(a, p);
	report("the other one still counts exactly", !wrong(a), "%u of %u counters are wrong",
	       wrong(a), a->n);
	cheap_close(&a->s);
	report_time("when it goes the heap is empty", state_until(heap_is_empty, NULL, 10),
		    in_time());
	report("and no window is left", !state_info().windows, "%u", state_info().windows);
}

/* Chunks of each length that matters: of both kinds of jump, where they change over. */
static const uint32_t lengths[] = {1, 2, 14, 15, 100, UNITS_MOST};

void shared(struct rng *r)
{
	struct session *a = calloc(2, sizeof(*a)), *b = a + 1;
	struct filling *f;
	struct places p;

	places_open(&p);
	places_named(&p, "ki_mate_work", true);
	places_named(&p, "ki_mate_op_0", false);
	places_named(&p, "ki_mate_leap", false);
	places_named(&p, "ki_mate_spin", false);
	places_sort(&p);
	learn(&p);
	want_large(a, &p, roomy(&p, places_find(&p, "ki_mate_work")));
	for (uint32_t i = 0; i < p.n; i++) {
		want(a, i, 1);
		want(b, i, lengths[i % 6]);
		want(b, i, lengths[rng_below(r, 6)]);
	}
	put_in_child(b, &p, NULL);
	put_in(a, &p);
	f = fill_and_break_up(r);
	call_mate();
	expect(a, &p);
	expect(b, &p);
	report("both count exactly", !wrong(a) && !wrong(b), "%u of %u, %u of %u are wrong",
	       wrong(a), a->n, wrong(b), b->n);
	killed("it is killed, and that is over", a, b, &p);
	room_again(f, a, &p);
}

/* ---- replacements ---- */

static uint64_t address_of(const struct places *p, const char *name)
{
	const struct ki_symbol *sym = ki_target_symbol_named(p->t, NULL, name, NULL);

	if (!sym)
		die(name, "not there");
	return sym->addr;
}

static void replace_by_op_1(struct cheap *s, const struct places *p)
{
	uint32_t reason = cheap_replace(s, p, 0, address_of(p, "ki_mate_op_1"));

	if (reason)
		die("replace", ki_reason_tag(reason));
}

static void replace_by_leap(struct cheap *s, const struct places *p)
{
	uint32_t reason = cheap_replace(s, p, 0, address_of(p, "ki_mate_leap"));

	if (reason)
		die("replace", ki_reason_tag(reason));
}

/* What its function gives back, when it is called by the module, is as before b came. */
static void replaced_killed(const char *name, struct session *b, uint64_t with, uint64_t without)
{
	uint64_t got = call_mate();

	report("it is replaced", got == with && got != without, "%llu", (ull)got);
	report_time(name, kill_session(b), in_time());
	got = call_mate();
	report("what was there before answers", got == without, "%llu, not %llu", (ull)got,
	       (ull)without);
	report("because its jump leads there", state_muted(), "%u held", state_muted());
}

/* a: what keeps the patch from being built anew; then b over d over the original. */
void replaced(struct rng *r)
{
	struct session *a = calloc(3, sizeof(*a)), *b = a + 1, *d = a + 2;
	uint64_t plain, leap, op_1;
	struct filling *f;
	struct places p;

	places_open(&p);
	places_named(&p, "ki_mate_op_0", false);
	learn(&p);
	plain = call_mate();
	cheap_open(&d->s, 0);
	replace_by_leap(&d->s, &p);
	leap = call_mate();
	cheap_close(&d->s);
	cheap_open(&d->s, 0);
	replace_by_op_1(&d->s, &p);
	op_1 = call_mate();
	cheap_close(&d->s);
	report("each has its own sum", plain != leap && plain != op_1 && leap != op_1,
	       "%llu, %llu, %llu", (ull)plain, (ull)leap, (ull)op_1);
	want_large(a, &p, 0);
	put_in_child(d, &p, replace_by_leap);
	put_in_child(b, &p, replace_by_op_1);
	put_in(a, &p);
	f = fill_and_break_up(r);
	replaced_killed("the last replacement is killed", b, op_1, leap);
	replaced_killed("the one before it is", d, leap, plain);
	for (uint32_t i = 0; i < a->n; i++) /* before the replacement: they ran all the time */
		a->runs[i] = state_count(a->s.first + i);
	room_again(f, a, &p);
}

/* ---- return trampolines ---- */

static void call_tail(void)
{
	char command[32];

	snprintf(command, sizeof(command), "calls %d", CALLS);
	call("/proc/ki_tail", command);
}

/* Its place: the window that ends in the tail jump. */
static uint32_t tail_place;

static void count_returns(struct cheap *s, const struct places *p)
{
	uint32_t reason = cheap_returned(s, p, tail_place, 0);

	if (reason)
		die("returned", ki_reason_tag(reason));
}

void returned(struct rng *r)
{
	struct session *a = calloc(2, sizeof(*a)), *b = a + 1;
	const struct function *fn;
	struct filling *f;
	struct places p;
	uint64_t before;

	places_open(&p);
	places_named(&p, "ki_tail_plain", true);
	fn = places_find(&p, "ki_tail_plain");
	tail_place = fn->first + fn->n - 1;
	want_large(a, &p, roomy(&p, fn));
	put_in_child(b, &p, count_returns);
	put_in(a, &p);
	f = fill_and_break_up(r);
	call_tail();
	before = state_count(b->s.first);
	report("returns are counted", before >= CALLS, "%llu", (ull)before);
	report_time("who counts them is killed", kill_session(b), in_time());
	report("the chunk is jumped over", state_muted() == 1, "%u held", state_muted());
	call_tail();
	report("they are not counted any more", state_count(b->s.first) == before, "%llu",
	       (ull)state_count(b->s.first));
	empty_heap(f);
	report_time("with room nothing is held", state_until(nothing_held, NULL, 10),
		    3 * in_time());
	call_tail();
	cheap_close(&a->s);
	report_time("when all go the heap is empty", state_until(heap_is_empty, NULL, 10),
		    in_time());
}

/* ---- a kprobe on top ---- */

#define TRACING "/sys/kernel/tracing/"

static bool write_to(const char *path, const char *text)
{
	int fd = open(path, O_WRONLY | O_APPEND);
	bool good = fd >= 0 && write(fd, text, strlen(text)) == (ssize_t)strlen(text);

	close(fd);
	return good;
}

static bool kprobe_begin(const struct places *p, uint32_t place)
{
	const struct function *fn = &p->fn[p->v[place].fn];
	char text[128];

	snprintf(text, sizeof(text), "p:full%u ki_mate:%s+%llu\n", place, fn->name,
		 (ull)(p->v[place].w.addr - fn->start));
	return write_to(TRACING "kprobe_events", text) &&
	       write_to(TRACING "events/kprobes/enable", "1");
}

static void kprobes_end(void)
{
	write_to(TRACING "events/kprobes/enable", "0");
	close(open(TRACING "kprobe_events", O_WRONLY | O_TRUNC));
}

static void held_by_kprobes(const char *name, uint32_t muted, uint32_t windows)
{
	uint32_t n[KI_HELD_KINDS];
	struct ki_held last = {0};

	state_held(n, &last);
	report(name,
	       n[KI_HELD_MUTED] == muted && n[KI_HELD_WINDOWS] == windows && last.holder &&
		       last.reason == KI_R_FOREIGN_BREAKPOINT,
	       "%u patches, %u windows, at %#llx: %s", n[KI_HELD_MUTED], n[KI_HELD_WINDOWS],
	       (ull)last.addr, ki_reason_tag(last.reason));
}

/* In one window both are, in another one b alone; on each stands a kprobe. */
void probed(struct rng *r)
{
	struct session *a = calloc(2, sizeof(*a)), *b = a + 1;
	struct places p;
	uint32_t op, leap;

	(void)r;
	places_open(&p);
	places_named(&p, "ki_mate_op_0", false);
	places_named(&p, "ki_mate_leap", false);
	places_sort(&p);
	learn(&p);
	op = places_find(&p, "ki_mate_op_0")->first;
	leap = places_find(&p, "ki_mate_leap")->first;
	want(a, op, 1);
	want(b, op, 15);
	want(b, leap, 3);
	put_in(a, &p);
	put_in_child(b, &p, NULL);
	report("kprobes come to both windows", kprobe_begin(&p, op) && kprobe_begin(&p, leap), "%s",
	       strerror(errno));
	call_mate();
	expect(a, &p);
	expect(b, &p);
	report("both count exactly", !wrong(a) && !wrong(b), "%u, %u wrong", wrong(a), wrong(b));
	report_time("one is killed", kill_session(b), in_time());
	held_by_kprobes("it is jumped over where kprobes stand", 1, 1);
	call_mate();
	expect(a, &p);
	report("it does not run any more", !wrong(b), "%u of %u counters went on", wrong(b), b->n);
	report("the other one counts exactly", !wrong(a), "%u of %u wrong", wrong(a), a->n);
	cheap_close(&a->s);
	held_by_kprobes("when that goes both windows stay", 0, 2);
	call_mate();
	report("and nobody counts", !wrong(a) && !wrong(b), "%u, %u wrong", wrong(a), wrong(b));
	kprobes_end();
	report_time("with the kprobes they go", state_until(nothing_held, NULL, 10), in_time());
	report("all of them", !state_info().windows, "%u", state_info().windows);
}
