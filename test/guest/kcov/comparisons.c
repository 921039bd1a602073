// SPDX-License-Identifier: GPL-2.0-only
/*
 * KCOV_TRACE_CMP: what tasks have of comparisons, and of blocks at the same time. The blocks and
 * the comparisons of read, and of functions that only interrupts run, are recorded meanwhile
 * (kcov_cmp.sh).
 */
#include <fcntl.h>
#include <pthread.h>
#include <sched.h>
#include <stdio.h>
#include <string.h>
#include <sys/ioctl.h>
#include <sys/prctl.h>
#include <sys/socket.h>
#include <sys/syscall.h>
#include <time.h>
#include <unistd.h>

#include "client.h"
#include "prog/mark.h"

#define RECORD	    4
#define KERNEL_TEXT 0xffffffff80000000ull

static void enable(struct client *c, unsigned long what)
{
	if (ioctl(c->fd, KCOV_ENABLE, what))
		die("KCOV_ENABLE");
	client_empty(c);
}

static void open_for(struct client *c, unsigned long what, size_t words)
{
	client_open(c, words);
	enable(c, what);
}

static void end(struct client *c)
{
	client_disable(c);
	client_close(c);
}

/* Words of one record. */
static size_t width(unsigned long what)
{
	return what == KCOV_TRACE_CMP ? RECORD : 1;
}

/* What one read of no file leaves. */
struct once {
	uint64_t v[256];
	size_t n; /* records */
};

static void read_once(struct client *c, unsigned long what, struct once *out)
{
	client_empty(c);
	call_make(CALL_READ, 1);
	out->n = client_count(c);
	if (!out->n || out->n * width(what) > sizeof(out->v) / sizeof(*out->v))
		die("a system call leaves nothing, or too much");
	memcpy(out->v, c->area + 1, out->n * width(what) * sizeof(*out->v));
	client_empty(c);
}

static bool has(const struct client *c, unsigned long what, const struct once *o, size_t times)
{
	const size_t words = o->n * width(what);

	if (client_count(c) != o->n * times) {
		printf("# %llu records, not %zu times %zu\n", (unsigned long long)client_count(c),
		       times, o->n);
		return false;
	}
	for (size_t i = 0; i < words * times; i++)
		if (c->area[1 + i] != o->v[i % words]) {
			printf("# word %zu is 0x%llx\n", i, (unsigned long long)c->area[1 + i]);
			return false;
		}
	return true;
}

/* Types, sizes and addresses are what they may be; of blocks there are addresses only. */
static bool looks_right(const struct once *o, unsigned long what)
{
	for (size_t i = 0; i < o->n; i++) {
		const uint64_t *r = o->v + i * width(what);
		unsigned int bits = 8u << (r[0] >> 1 & 3);

		if (what != KCOV_TRACE_CMP) {
			if (r[0] < KERNEL_TEXT)
				return false;
			continue;
		}
		if (r[0] > (KCOV_CMP_SIZE(3) | KCOV_CMP_CONST) || r[3] < KERNEL_TEXT)
			return false;
		if (bits < 64 && (r[1] | r[2]) >> bits)
			return false;
	}
	return true;
}

static bool repeats(void)
{
	struct client c;
	struct once o;
	bool good;

	open_for(&c, KCOV_TRACE_CMP, WORDS);
	read_once(&c, KCOV_TRACE_CMP, &o);
	call_make(CALL_READ, 100);
	good = looks_right(&o, KCOV_TRACE_CMP) && has(&c, KCOV_TRACE_CMP, &o, 100);
	client_disable(&c);
	client_empty(&c);
	call_make(CALL_READ, 10);
	good &= client_count(&c) == 0;
	client_close(&c);
	return good;
}

static bool takes_turns(void)
{
	static const unsigned long turns[] = {KCOV_TRACE_CMP, KCOV_TRACE_PC, KCOV_TRACE_CMP};
	struct client c;
	struct once o;
	bool good = true;

	client_open(&c, WORDS);
	for (size_t i = 0; i < sizeof(turns) / sizeof(*turns); i++) {
		enable(&c, turns[i]);
		read_once(&c, turns[i], &o);
		call_make(CALL_READ, 10);
		good &= looks_right(&o, turns[i]) && has(&c, turns[i], &o, 10);
		client_disable(&c);
	}
	client_close(&c);
	return good;
}

/* Whole pages, as they are mapped: three words are left over. */
static bool fills(void)
{
	const size_t words = 1024, room = (words - 1) / RECORD;
	struct client c;
	struct once o;
	bool good;

	open_for(&c, KCOV_TRACE_CMP, words);
	read_once(&c, KCOV_TRACE_CMP, &o);
	memset(c.area + 1, 0x55, (words - 1) * sizeof(*c.area));
	call_make(CALL_READ, 1000);
	good = client_count(&c) == room;
	for (size_t i = 1; i < words; i++)
		good &= c.area[i] == (i <= room * RECORD ? o.v[(i - 1) % (o.n * RECORD)]
							 : 0x5555555555555555ull);
	end(&c);
	return good;
}

/* The count is the client's to write; so many times 4 may be anything. */
static bool survives_any_count(void)
{
	static const uint64_t counts[] = {127,	      128,	  511,	      1ull << 32,
					  1ull << 60, 1ull << 62, 3ull << 62, (1ull << 62) - 1,
					  -1ull,      1ull << 63, -2ull};
	struct client c;
	bool good = true;

	open_for(&c, KCOV_TRACE_CMP, 512);
	memset(c.area + 1, 0x55, 511 * sizeof(*c.area));
	for (size_t i = 0; i < sizeof(counts) / sizeof(*counts); i++) {
		__atomic_store_n(c.area, counts[i], __ATOMIC_RELAXED);
		call_make(CALL_READ, 1);
		good &= client_count(&c) == counts[i];
	}
	for (size_t i = 1; i < 512; i++)
		good &= c.area[i] == 0x5555555555555555ull;
	end(&c);
	return good;
}

/* The smallest area that there may be has room for no comparison. */
static bool needs_room(void)
{
	struct client c = {.fd = open(KCOV_FILE, O_RDWR)};
	bool good = c.fd >= 0 && !ioctl(c.fd, KCOV_INIT_TRACE, 4) &&
		    !ioctl(c.fd, KCOV_ENABLE, KCOV_TRACE_CMP);

	call_make(CALL_READ, 10);
	good &= !ioctl(c.fd, KCOV_DISABLE, 0);
	close(c.fd);
	return good;
}

/* ---- tasks ---- */

#define ROUNDS 600

struct worker {
	unsigned long what;
	pthread_barrier_t *together;
	bool good;
};

static void *work(void *arg)
{
	struct worker *w = arg;
	struct client c;
	struct once o;

	open_for(&c, w->what, WORDS);
	pthread_barrier_wait(w->together); /* how many they are is compared, too */
	read_once(&c, w->what, &o);
	w->good = looks_right(&o, w->what);
	for (unsigned int i = 0; i < ROUNDS; i++) {
		call_make(CALL_READ, 1);
		if (i % 20 == 0)
			move_to(i / 20 % 2);
		else if (i % 50 == 0)
			sched_yield();
	}
	w->good &= has(&c, w->what, &o, ROUNDS);
	pthread_barrier_wait(w->together);
	end(&c);
	return NULL;
}

/* More threads than CPUs, of both kinds, that change CPUs. */
static bool both_at_once(void)
{
	struct worker w[4];
	pthread_barrier_t together;
	pthread_t t[4];
	bool good = true;

	pthread_barrier_init(&together, NULL, 4);
	for (int i = 0; i < 4; i++) {
		w[i] = (struct worker){.what = i % 2 ? KCOV_TRACE_CMP : KCOV_TRACE_PC,
				       .together = &together};
		if (pthread_create(&t[i], NULL, work, &w[i]))
			die("pthread_create");
	}
	for (int i = 0; i < 4; i++) {
		pthread_join(t[i], NULL);
		good &= w[i].good;
	}
	return good;
}

/* In user mode only interrupts bring the kernel in. */
static bool leaves_interrupts_out(void)
{
	struct timespec now, from;
	struct client c;
	bool good;

	open_for(&c, KCOV_TRACE_CMP, WORDS);
	clock_gettime(CLOCK_MONOTONIC, &from);
	do
		clock_gettime(CLOCK_MONOTONIC, &now);
	while ((now.tv_sec - from.tv_sec) * 1000 + (now.tv_nsec - from.tv_nsec) / 1000000 < 300);
	good = client_count(&c) == 0;
	end(&c);
	return good;
}

const struct test_case test_comparisons[] = {
	{"the same call leaves the same comparisons, and none when it is disabled", repeats},
	{"a file serves for comparisons, for blocks, and for comparisons", takes_turns},
	{"a full area stays as it is, and what is no whole record", fills},
	{"any count is survived, and nothing written", survives_any_count},
	{"an area without room for one is survived", needs_room},
	{"blocks and comparisons of tasks at once are each its own, on any CPU", both_at_once},
	{"interrupts leave nothing", leaves_interrupts_out},
};
const size_t test_comparisons_count = sizeof(test_comparisons) / sizeof(*test_comparisons);

/* ---- known values ---- */

#define RW_HINT 0x99990000000001ull
static const uint64_t hint = RW_HINT;

/* A call, and what it must be seen to compare: a constant of the headers with what it was given. */
static const struct known {
	const char *name;
	long nr, a, b, c;
	uint64_t constant, value;
} known[] = {
#define SAME(value) (uint64_t)(value), (uint64_t)(value)
	{"lseek/whence", SYS_lseek, 1, 0, 0x1234567, SEEK_HOLE, 0x1234567},
	{"fcntl/F_GETFL", SYS_fcntl, 1, F_GETFL, 0, SAME(F_GETFL)},
	{"fcntl/F_GETLEASE", SYS_fcntl, 1, F_GETLEASE, 0, SAME(F_GETLEASE)},
	{"fcntl/F_GETPIPE_SZ", SYS_fcntl, 1, F_GETPIPE_SZ, 0, SAME(F_GETPIPE_SZ)},
	{"fcntl/hint", SYS_fcntl, 1, F_SET_RW_HINT, (long)&hint, RWH_WRITE_LIFE_EXTREME, RW_HINT},
	{"prctl/PR_GET_DUMPABLE", SYS_prctl, PR_GET_DUMPABLE, 0, 0, SAME(PR_GET_DUMPABLE)},
	{"prctl/PR_GET_SECCOMP", SYS_prctl, PR_GET_SECCOMP, 0, 0, SAME(PR_GET_SECCOMP)},
	{"prctl/PR_SET_NAME", SYS_prctl, PR_SET_NAME, (long)"kcov", 0, SAME(PR_SET_NAME)},
	{"prctl/PR_GET_TIMERSLACK", SYS_prctl, PR_GET_TIMERSLACK, 0, 0, SAME(PR_GET_TIMERSLACK)},
	{"socket/type", SYS_socket, AF_UNIX, 0x7654, 0,
	 (uint32_t) ~(0xf | SOCK_CLOEXEC | SOCK_NONBLOCK), 0x7654},
};

static void print_records(const struct client *c, const struct known *k)
{
	uint64_t n = client_count(c);

	printf("want %s 0x%llx 0x%llx\n", k->name, (unsigned long long)k->constant,
	       (unsigned long long)k->value);
	for (uint64_t i = 0; i < n; i++) {
		const uint64_t *r = c->area + 1 + i * RECORD;

		printf("record %llu 0x%llx 0x%llx 0x%llx\n", (unsigned long long)r[0],
		       (unsigned long long)r[1], (unsigned long long)r[2],
		       (unsigned long long)r[3]);
	}
}

int comparisons_print(void)
{
	struct client c;

	open_for(&c, KCOV_TRACE_CMP, WORDS);
	for (size_t i = 0; i < sizeof(known) / sizeof(*known); i++) {
		client_empty(&c);
		sys4(known[i].nr, known[i].a, known[i].b, known[i].c, 0);
		print_records(&c, &known[i]);
	}
	end(&c);
	return 0;
}
