// SPDX-License-Identifier: GPL-2.0-only
/*
 * Random sessions, several alive at once, each of which is killed at a random moment: while it
 * installs, while it takes out and installs again, or while it just is there. After each kill text
 * and heap must be exactly what those that are left have put there, within a second,
 * as tasks get on there (prog/slow.h).
 *
 * One session at a time does something; the others stand still, so what is right is known. What a
 * patch takes of the heap is known, too, but for those that are filled (kmod/text/fill.c), which
 * may begin up to a unit after the beginning of their block.
 */
#include <errno.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/ioctl.h>
#include <sys/wait.h>
#include <unistd.h>

#include "full/full.h"
#include "prog/slow.h"

#define ALIVE	   16
#define WANTS_MOST 700
#define PLACES	   1500
#define IN_TIME	   1.0 /* seconds */
#define LATEST	   20.0

/* A session, and what it has installed when it says so. */
struct alive {
	pid_t pid; /* 0: none */
	int says;
	bool is_in;
	uint32_t n;
	struct want w[WANTS_MOST];
};

static struct places places;
static struct alive alive[ALIVE];
static uint32_t full, busy,
	broken; /* sessions without room; killed at work; kills without an end */

/* ---- what there must be ---- */

static uint8_t *used;	/* of each place: is there a springboard? */
static uint32_t *bytes; /* of its patch */
static uint64_t heap;

static void use(uint32_t place, uint32_t more)
{
	if (!used[place])
		bytes[place] = places.v[place].bare;
	used[place] = 1;
	bytes[place] += more;
	if (places.v[place].host != KI_NONE)
		use(places.v[place].host, 0);
}

static void work_out(void)
{
	memset(used, 0, places.n);
	for (const struct alive *a = alive; a < alive + ALIVE; a++)
		for (uint32_t i = 0; a->is_in && i < a->n; i++)
			use(a->w[i].place, want_bytes(&places, &a->w[i]));
	heap = 0;
	for (uint32_t i = 0; i < places.n; i++)
		heap += used[i] ? (bytes[i] + ROUND - 1) / ROUND * ROUND : 0;
}

/* ---- what there is ---- */

static int fd; /* to read by */

static const uint8_t *read_function(const struct function *fn)
{
	static uint8_t buf[1 << 20];
	struct ki_read r = {.size = sizeof(r), .view = KI_VIEW_LIVE, .addr = fn->start};

	r.len = fn->end - fn->start;
	r.buf = (uintptr_t)buf;
	if (r.len > sizeof(buf) || ioctl(fd, KI_IOC_READ, &r))
		die(fn->name, "cannot be read");
	return buf;
}

/* A springboard's opcode, and in the copy of the text the distance that stands there. */
static bool board(uint8_t *want, const uint8_t *is, uint8_t opcode, uint32_t distance)
{
	memcpy(want, is, 1 + distance);
	return *is == opcode;
}

static bool boards(const struct function *fn, uint8_t *want, const uint8_t *is)
{
	bool good = true;

	for (uint32_t i = fn->first; i < fn->first + fn->n; i++) {
		const struct ki_window *w = &places.v[i].w;
		uint64_t at = w->addr - fn->start, bounce = w->bounce - fn->start;

		if (!used[i])
			continue;
		if (w->board == KI_BOARD_JMP)
			good &= board(want + at, is + at, 0xe9, 4);
		else if (w->board == KI_BOARD_TRAP)
			good &= board(want + at, is + at, 0xcc, 0);
		else
			good &= board(want + at, is + at, 0xeb, 1) &&
				board(want + bounce, is + bounce, 0xe9, 4);
	}
	return good;
}

static bool text_is_right(void *unused)
{
	(void)unused;
	for (uint32_t f = 0; f < places.nfn; f++) {
		const struct function *fn = &places.fn[f];
		size_t len = fn->end - fn->start;
		const uint8_t *is = read_function(fn);
		uint8_t *want = malloc(len);
		bool good;

		memcpy(want, fn->text, len);
		good = boards(fn, want, is) && !memcmp(want, is, len);
		free(want);
		if (!good)
			return false;
	}
	return true;
}

static bool heap_is_right(void *unused)
{
	struct ki_info info = state_info();

	(void)unused;
	return info.heap_used >= heap && info.heap_used <= heap + info.filled * ROUND;
}

/* ---- sessions ---- */

/* Some are many short chunks, some a few long ones, most are mixed. */
static void choose(struct alive *a, struct rng *r)
{
	uint32_t most = rng_below(r, 3) ? 60 : WANTS_MOST, kind = rng_below(r, 4);
	uint32_t n = 1 + rng_below(r, 1 + rng_below(r, most)), at = rng_below(r, places.n);

	for (a->n = 0; a->n < n && at < places.n; at += 1 + rng_below(r, 1 + places.n / 2 / n)) {
		uint32_t units = 1;

		if (kind == 3 || (kind && !rng_below(r, 8)))
			units += rng_below(r, rng_below(r, UNITS_MOST) + 1);
		a->w[a->n++] = (struct want){at, units};
	}
}

static void live(const struct alive *a, int says, bool restless)
{
	struct cheap s;
	uint32_t reason;

	cheap_open(&s, a->n);
	do {
		reason = cheap_put(&s, &places, a->w, a->n, 0);
		if (!reason && restless)
			reason = cheap_take_out(&s);
	} while (restless);
	if (write(says, &reason, sizeof(reason)) != sizeof(reason))
		_exit(1);
	for (;;)
		pause();
}

static void begin(struct alive *a, struct rng *r, bool restless)
{
	int says[2];

	choose(a, r);
	if (pipe(says))
		die("pipe", strerror(errno));
	a->pid = fork();
	if (!a->pid)
		live(a, says[1], restless);
	close(says[1]);
	a->says = says[0];
}

/* It has installed all, or has been refused. */
static void wait_in(struct alive *a)
{
	uint32_t reason;

	if (read(a->says, &reason, sizeof(reason)) != sizeof(reason))
		die("session", "it has ended by itself");
	a->is_in = !reason;
	full += reason == KI_R_HEAP_FULL;
	if (reason && reason != KI_R_HEAP_FULL)
		die("session", ki_reason_tag(reason));
}

static double longest_text, longest_heap, sum_text, sum_heap;
static double best, slow;   /* of a task: a loop at its best; so many times that it takes now */
static uint32_t late, over; /* as tasks get on, by the clock */

static void note_slow(void)
{
	double now = slow_now(&best);

	slow = now > slow ? now : slow;
}

static void note_time(const char *what, double s, double *longest, double *sum)
{
	note_slow();
	if (s < 0)
		broken++;
	over += s < 0 || s > IN_TIME;
	if (s < 0 || s > IN_TIME * slow) {
		late++;
		printf("# %s: %.3f s, %.1f times as slow as it can be, heap %llu, not %llu, %u held\n",
		       what, s, slow, (ull)state_info().heap_used, (ull)heap, state_muted());
	}
	*sum += s;
	if (s > *longest)
		*longest = s;
}

static void end(struct alive *a)
{
	double from, s;
	int status;

	slow = 1;
	note_slow();
	from = now_s();
	kill(a->pid, SIGKILL);
	waitpid(a->pid, &status, 0);
	close(a->says);
	if (!WIFSIGNALED(status))
		die("session", "it has ended by itself");
	a->pid = 0;
	a->is_in = false;
	work_out();
	s = state_until(text_is_right, NULL, LATEST);
	note_time("text", s < 0 ? s : now_s() - from, &longest_text, &sum_text);
	s = state_until(heap_is_right, NULL, LATEST);
	note_time("heap", s < 0 ? s : now_s() - from, &longest_heap, &sum_heap);
}

/* One is put in, and another one, or the same at work, is killed. */
static void one_round(struct rng *r)
{
	struct alive *a = &alive[rng_below(r, ALIVE)];

	if (a->pid)
		end(a);
	if (rng_below(r, 3)) {
		begin(a, r, false);
		wait_in(a);
		return;
	}
	begin(a, r, rng_below(r, 2));
	usleep(rng_below(r, 1 + rng_below(r, 600000)));
	busy++;
	end(a);
}

static void progress(uint32_t kills, double s)
{
	printf("# %u sessions, %.0f s: at most %.3f and %.3f s, %u over a second, %u late, %u without room\n",
	       kills, s, longest_text, longest_heap, over, late, full);
	fflush(stdout);
}

void random_sessions(struct rng *r, unsigned int sessions)
{
	uint32_t kills = 0;
	double from;

	places_open(&places);
	places_random(&places, r, 300, PLACES);
	used = calloc(places.n, 1);
	bytes = calloc(places.n, sizeof(*bytes));
	fd = device_open();
	if (!used || !bytes)
		die("random", "no memory");
	work_out();
	best = slow_best();
	report("at first text and heap are right", text_is_right(NULL) && heap_is_right(NULL),
	       "%u windows of %u functions", places.n, places.nfn);
	from = now_s();
	for (; kills < sessions; kills++) {
		one_round(r);
		if (kills % 100 == 99)
			progress(kills + 1, now_s() - from);
	}
	for (struct alive *a = alive; a < alive + ALIVE; a++)
		if (a->pid)
			end(a);
	report("text and heap are right after each kill", !broken, "%u of %u are not", broken,
	       sessions);
	report("within a second, as tasks get on here", !late,
	       "%u are late, %u by the clock; %u of %u killed at work, %u without room", late, over,
	       busy, sessions, full);
	printf("# text: on average %.3f s, at most %.3f; heap: %.3f s, at most %.3f; all took %.0f s\n",
	       sum_text / sessions, longest_text, sum_heap / sessions, longest_heap,
	       now_s() - from);
	report("at last nothing is left", !state_info().heap_used && !state_info().windows,
	       "%llu bytes, %u windows", (ull)state_info().heap_used, state_info().windows);
}
