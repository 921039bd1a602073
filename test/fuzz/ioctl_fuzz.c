// SPDX-License-Identifier: GPL-2.0-only
/*
 * ioctl_fuzz: drives /dev/kerninst with calls that are nearly right.
 *
 * usage: ioctl_fuzz [--calls N] [--seed S] [--seconds S]
 *
 * Valid requests are built with the library for harmless functions of the running kernel, then
 * changed at random: fields, bits, pointers, sizes, counts, memory (test/fuzz/ioctl). The driver
 * must refuse whatever is not exactly right, so no call may harm the kernel: run it where it may.
 *
 * The calls come in rounds. Each opens a session, makes a few hundred calls in one of the ways
 * of the table below, and leaves it in the state it is in: the driver has to clean up. From time
 * to time, and at the end, a splice that is right must still count right; at the end nothing may
 * be left over, and the text must be what it was.
 *
 * A seed makes the same requests again; what two threads do to each other is another matter.
 */
#include <errno.h>
#include <pthread.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/ioctl.h>
#include <sys/mman.h>
#include <sys/prctl.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

#include "kerninst/err.h"
#include "kerninst/snippet.h"
#include "ioctl/fuzz.h"

#define ROUND_CALLS  400
#define CHECK_EVERY  32	    /* rounds */
#define CHECK_CALLS  100    /* getppid */
#define CHECK_SLACK  16	    /* others call it too */
#define COUNTERS     16	    /* of a session */
#define LEAK_WAIT_MS 120000 /* the driver frees patches when no task can be inside */

static unsigned long max_calls = 200000, max_seconds;
static uint64_t seed = 1;
static struct arena arenas[2];

/* One who makes calls on a session: a thread, or a child. */
struct caller {
	struct session *s;
	struct arena *arena;
	struct rng rng;
	unsigned int calls;
	atomic_bool *over;
};

static unsigned long total_calls(void)
{
	unsigned long sum = 0;
	int i;

	for (i = 0; i < OPS; i++)
		sum += tally->calls[i];
	return sum;
}

static void sleep_ms(unsigned int ms)
{
	struct timespec ts = {ms / 1000, ms % 1000 * 1000000L};

	while (nanosleep(&ts, &ts) && errno == EINTR)
		;
}

static void session_begin(struct session *s)
{
	struct ki_info info = {.size = sizeof(info)};
	struct ki_counters counters = {.size = sizeof(counters), .count = COUNTERS};
	struct ki_globals globals = {.size = sizeof(globals), .count = 2};
	struct ki_words words = {.size = sizeof(words), .count = 2};

	memset(s, 0, sizeof(*s));
	s->fd = device_open();
	if (ioctl(s->fd, KI_IOC_INFO, &info) || ioctl(s->fd, KI_IOC_COUNTERS, &counters) ||
	    ioctl(s->fd, KI_IOC_GLOBALS, &globals) || ioctl(s->fd, KI_IOC_WORDS, &words))
		wrong("a new session is refused: %s", strerror(errno));
	s->first_counter = counters.first;
	s->ncounters = COUNTERS;
	s->first_global = globals.first;
	s->first_word = words.first;
	s->global_bytes = info.globals * 8ull;
	s->cpus = info.cpus;
	s->map_bytes = (uint64_t)info.cpus * info.counter_bytes;
}

static void *caller_run(void *arg)
{
	struct caller *c = arg;
	unsigned int i;

	for (i = 0; i < c->calls && !(c->over && *c->over); i++)
		call_random(c->s, c->arena, &c->rng);
	return NULL;
}

/* ---- the ways of a round ---- */

static void way_alone(struct caller c[2])
{
	caller_run(&c[0]);
	close(c[0].s->fd);
}

static void start(pthread_t *t, void *(*run)(void *), struct caller *c)
{
	if (pthread_create(t, NULL, run, c)) {
		perror("ioctl_fuzz: thread");
		exit(1);
	}
}

/* Two threads on one descriptor. */
static void way_threads(struct caller c[2])
{
	pthread_t t;

	start(&t, caller_run, &c[1]);
	caller_run(&c[0]);
	pthread_join(t, NULL);
	close(c[0].s->fd);
}

/* The descriptor is closed while another thread is at it. */
static void way_close(struct caller c[2])
{
	atomic_bool over = false;
	pthread_t t;

	c[0].calls /= 2;
	c[1].over = &over;
	start(&t, caller_run, &c[1]);
	caller_run(&c[0]);
	close(c[0].s->fd);
	sleep_ms(1); /* on a descriptor that is closed */
	over = true;
	pthread_join(t, NULL);
}

/* A child with the descriptor, which it has longer than its parent. */
static void way_fork(struct caller c[2])
{
	pid_t pid = fork();

	if (!pid) {
		caller_run(&c[1]);
		_exit(0);
	}
	c[0].calls /= 2;
	caller_run(&c[0]);
	close(c[0].s->fd);
	waitpid(pid, NULL, 0);
}

/* A child that is killed in the middle of something. */
static void way_kill(struct caller c[2])
{
	pid_t pid = fork();

	if (!pid) {
		prctl(PR_SET_PDEATHSIG, SIGKILL);
		c[1].calls = ~0u;
		caller_run(&c[1]);
		_exit(0);
	}
	sleep_ms(rng_below(&c[0].rng, 30));
	kill(pid, SIGKILL);
	waitpid(pid, NULL, 0);
	close(c[0].s->fd);
}

/* Bits of the memory the other is working with, changed and changed back. */
static void *scribble(void *arg)
{
	struct caller *c = arg;

	while (!*c->over) {
		size_t off = c->arena->used - rng_below(&c->rng, 4096) % (c->arena->used + 1);
		uint8_t bit = 1u << rng_below(&c->rng, 8);

		__atomic_xor_fetch(c->arena->base + off, bit, __ATOMIC_RELAXED);
		__builtin_ia32_pause();
		__atomic_xor_fetch(c->arena->base + off, bit, __ATOMIC_RELAXED);
	}
	return NULL;
}

/* The request changes while the driver reads it. */
static void way_scribble(struct caller c[2])
{
	atomic_bool over = false;
	pthread_t t;

	c[1].arena = c[0].arena;
	c[1].over = &over;
	start(&t, scribble, &c[1]);
	caller_run(&c[0]);
	over = true;
	pthread_join(t, NULL);
	close(c[0].s->fd);
}

/* Two sessions at once: they want the same windows, and bounces in each other's. */
static void way_sessions(struct caller c[2])
{
	struct session other;
	pthread_t t;

	session_begin(&other);
	c[1].s = &other;
	start(&t, caller_run, &c[1]);
	caller_run(&c[0]);
	close(c[0].s->fd);
	pthread_join(t, NULL);
	close(other.fd);
}

static void (*const ways[])(struct caller c[2]) = {
	way_alone,    way_threads,  way_sessions, way_close,
	way_scribble, way_sessions, way_fork,	  way_kill,
};

static void round_do(unsigned long number)
{
	struct session s;
	struct caller c[2];
	unsigned int i;

	session_begin(&s);
	for (i = 0; i < 2; i++)
		c[i] = (struct caller){
			.s = &s,
			.arena = &arenas[i],
			.rng = rng_split(seed, number * 2 + i),
			.calls = ROUND_CALLS,
		};
	ways[number % (sizeof(ways) / sizeof(*ways))](c);
}

/* ---- what must be true ---- */

static uint64_t counter_sum(const struct session *s, const uint8_t *map, uint32_t n)
{
	struct ki_info info = {.size = sizeof(info)};
	uint64_t sum = 0;
	uint32_t cpu;

	if (ioctl(s->fd, KI_IOC_INFO, &info))
		wrong("INFO is refused: %s", strerror(errno));
	for (cpu = 0; cpu < info.cpus; cpu++)
		sum += *(const volatile uint64_t *)(map + cpu * info.counter_bytes + n * 8ull);
	return sum;
}

static void getppids(void)
{
	int i;

	for (i = 0; i < CHECK_CALLS; i++)
		syscall(SYS_getppid);
}

/* The chunk's id, or 0. */
static uint32_t splice_getppid(const struct session *s)
{
	struct ki_window window = getppid_entry->window;
	struct ki_chunk chunk = {0};
	struct ki_code code;
	struct ki_splice req = {
		.size = sizeof(req),
		.windows = (uintptr_t)&window,
		.copies = (uintptr_t)getppid_entry->copies,
		.chunks = (uintptr_t)&chunk,
		.nwindows = 1,
		.ncopies = window.ncopy,
		.nchunks = 1,
	};

	ki_snippet_count(&code, s->first_counter, false);
	chunk.len = code.len;
	chunk.nfix = code.nfix;
	memcpy(chunk.fix, code.fix, sizeof(chunk.fix));
	memcpy(chunk.code, code.code, sizeof(chunk.code));
	if (!ioctl(s->fd, KI_IOC_SPLICE, &req))
		return chunk.id;
	wrong("a valid splice is refused: %s, %s", strerror(errno), ki_reason_tag(req.reason));
	return 0;
}

/* A splice that is right counts right, and not any more when it is taken out. */
static void check_counting(void)
{
	struct ki_unsplice un = {.size = sizeof(un), .count = 1};
	struct session s;
	uint64_t id, on, off;
	uint8_t *map;

	session_begin(&s);
	map = mmap(NULL, s.map_bytes, PROT_READ, MAP_SHARED, s.fd, 0);
	id = splice_getppid(&s);
	if (map == MAP_FAILED || !id) {
		wrong("the check of counting could not be made");
		close(s.fd);
		return;
	}
	getppids();
	on = counter_sum(&s, map, s.first_counter);
	if (on < CHECK_CALLS || on > CHECK_CALLS + CHECK_SLACK)
		wrong("%d calls were counted as %llu", CHECK_CALLS, (unsigned long long)on);
	un.ids = (uintptr_t)&id;
	if (ioctl(s.fd, KI_IOC_UNSPLICE, &un))
		wrong("a valid unsplice is refused: %s", strerror(errno));
	on = counter_sum(&s, map, s.first_counter);
	getppids();
	off = counter_sum(&s, map, s.first_counter);
	if (off != on)
		wrong("it still counts when it is taken out");
	munmap(map, s.map_bytes);
	close(s.fd);
}

static bool nothing_left(struct ki_info *info)
{
	int fd = device_open();

	*info = (struct ki_info){.size = sizeof(*info)};
	if (ioctl(fd, KI_IOC_INFO, info))
		wrong("INFO is refused: %s", strerror(errno));
	close(fd);
	return info->sessions == 1 && !info->windows && !info->counters_used &&
	       !info->globals_used && !info->words_used && !info->heap_used && !info->returns;
}

static void check_leaks(void)
{
	struct ki_info info;
	unsigned int ms;

	for (ms = 0; !nothing_left(&info) && ms < LEAK_WAIT_MS; ms += 10)
		sleep_ms(10);
	printf("left after %u ms: %u sessions, %u windows, %u counters, %llu bytes of patches, "
	       "%u return trampolines\n",
	       ms, info.sessions - 1, info.windows, info.counters_used,
	       (unsigned long long)info.heap_used, info.returns);
	if (!nothing_left(&info))
		wrong("something is left over");
	if (!corpus_text_intact())
		wrong("the text is not what it was");
}

/* ---- the report ---- */

static const char *const op_names[OPS] = {
	[OP_INFO] = "INFO",
	[OP_READ] = "READ",
	[OP_RESERVED] = "RESERVED",
	[OP_COUNTERS] = "COUNTERS",
	[OP_SPLICE] = "SPLICE",
	[OP_UNSPLICE] = "UNSPLICE",
	[OP_MMAP] = "mmap",
	[OP_FILE] = "file",
	[OP_UNKNOWN] = "unknown",
	[OP_GLOBALS] = "GLOBALS",
	[OP_LONG] = "SPLICE long",
	[OP_WORDS] = "WORDS",
	[OP_INSIDE] = "INSIDE",
	[OP_RING] = "RING",
	[OP_EVENT] = "EVENT",
	[OP_TABLE] = "TABLE",
	[OP_STACKS] = "STACKS",
	[OP_TEXTS] = "TEXTS",
	[OP_PROCESS] = "PROCESS",
	[OP_PROCESS_MEMORY] = "PROCESS_MEMORY",
	[OP_PROCESS_MAP] = "PROCESS_MAP",
	[OP_PROCESS_EDIT] = "PROCESS_EDIT",
	[OP_PROCESS_GO] = "PROCESS_GO",
	[OP_PROCESS_RELEASE] = "PROCESS_RELEASE",
	[OP_GLOBAL] = "GLOBAL",
	[OP_KCOV] = "KCOV",
};

static void report(void)
{
	unsigned long accepted = 0, total = total_calls();
	int i;

	for (i = 0; i < OPS; i++) {
		printf("%-11s %8lu calls %8lu accepted\n", op_names[i], tally->calls[i],
		       tally->accepted[i]);
		accepted += tally->accepted[i];
	}
	printf("ioctl_fuzz: %lu calls, %lu accepted, %lu refused by reason:", total, accepted,
	       total - accepted);
	for (i = 0; i < KI_R_COUNT; i++)
		if (tally->by_reason[i])
			printf(" %s %lu", ki_reason_tag(i), tally->by_reason[i]);
	for (i = 0; i < ERRNO_MAX; i++)
		if (tally->by_errno[i])
			printf(" %s %lu", i ? strerrorname_np(i) : "0", tally->by_errno[i]);
	printf("\n");
}

static void parse(int argc, char **argv)
{
	int i;

	for (i = 1; i + 1 < argc; i += 2) {
		if (!strcmp(argv[i], "--calls"))
			max_calls = strtoul(argv[i + 1], NULL, 0);
		else if (!strcmp(argv[i], "--seed"))
			seed = strtoull(argv[i + 1], NULL, 0);
		else if (!strcmp(argv[i], "--seconds"))
			max_seconds = strtoul(argv[i + 1], NULL, 0);
		else
			break;
	}
	if (i == argc)
		return;
	fprintf(stderr, "usage: ioctl_fuzz [--calls N] [--seed S] [--seconds S]\n");
	exit(2);
}

int main(int argc, char **argv)
{
	time_t end;
	unsigned long n;

	parse(argc, argv);
	tally = mmap(NULL, sizeof(*tally), PROT_READ | PROT_WRITE, MAP_SHARED | MAP_ANONYMOUS, -1,
		     0);
	if (tally == MAP_FAILED)
		return 1;
	end = max_seconds ? time(NULL) + max_seconds : 0;
	printf("ioctl_fuzz: seed %llu\n", (unsigned long long)seed);
	fflush(stdout);
	watch_begin(total_calls);
	victims_begin();
	arena_make(&arenas[0], 0);
	arena_make(&arenas[1], 1);
	corpus_make();
	printf("ioctl_fuzz: %u windows, %u of them without a wait\n", ntemplates, nquick);
	fflush(stdout);
	for (n = 0; total_calls() < max_calls && !(end && time(NULL) >= end); n++) {
		if (n % CHECK_EVERY == 0)
			check_counting();
		round_do(n);
	}
	check_counting();
	check_leaks();
	report();
	return tally->wrong ? 1 : 0;
}
