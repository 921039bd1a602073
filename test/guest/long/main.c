// SPDX-License-Identifier: GPL-2.0-only
/*
 * long: long chunks written by hand (samples.c), asked of the driver: what may run, runs and
 * leaves what it must in its variables; what may not is refused for its reason. Prints a line for
 * each case, "ok NAME" or "not ok NAME: why", and exits 0 if all are ok.
 *
 * Each chunk stands before the first instruction of getsid's window; values are read when getsid,
 * which nobody else asks, has been called ten times.
 */
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/mount.h>
#include <sys/resource.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <time.h>
#include <unistd.h>

#include "hand.h"

#define CALLS	10
#define SLOTS	16
#define GLOBALS 4
#define WORDS	2
#define USER	1234
#define MOUNT	"/tmp/long.cgroup"
#define GROUP	MOUNT "/long"

static struct ki_target *target;
static struct ki_counter_map *map;
static struct ki_global_map *globals;
static struct hand_numbers first;
static struct hand_window window;
static struct rusage before, after; /* the calls */
static uint64_t began, ended;	    /* when */
static uint64_t main_began;
static int failed;

static void report(const char *name, const char *why)
{
	failed |= why != NULL;
	printf(why ? "not ok %s: %s\n" : "ok %s\n", name, why);
}

/* ---- what the samples leave ---- */

static uint64_t at(uint32_t n)
{
	return ki_counter_read(map, first.counter + n);
}

static uint64_t global(uint32_t n)
{
	return ki_global_read(globals, first.global + n);
}

static uint64_t monotonic(void)
{
	struct timespec ts;

	clock_gettime(CLOCK_MONOTONIC, &ts);
	return (uint64_t)ts.tv_sec * 1000000000 + (uint64_t)ts.tv_nsec;
}

static bool counted(void)
{
	return at(0) == CALLS;
}

static bool self(void)
{
	char comm[17] = "";
	uint64_t last_cpu = (uint64_t)sysconf(_SC_NPROCESSORS_ONLN) - 1;
	uint64_t words[2] = {at(2) / CALLS, at(3) / CALLS}; /* added once a call, below 2^64 */

	memcpy(comm, words, 8);
	return at(0) == (uint64_t)CALLS * (uint64_t)getpid() &&
	       at(1) == (uint64_t)CALLS * (uint64_t)getpid() && at(4) <= CALLS * last_cpu &&
	       !strncmp(comm, "lo", 2);
}

/* The kernel's fast clock may be a little off. */
static bool while_called(uint64_t time)
{
	return time + 10000000 > began && time < ended + 10000000;
}

static bool clocks(void)
{
	return while_called(at(0) / CALLS) && at(1) == 0 && at(2) > 0;
}

static bool words(void)
{
	return at(0) == CALLS * (CALLS + 1) / 2 && at(1) == CALLS * (CALLS + 1) / 2;
}

static bool two_ways(void) /* 10, 9, 8 ... */
{
	return at(0) == CALLS * (CALLS + 1) / 2;
}

/* It has been this thread's since the program began at most. */
static bool clock_runs(void)
{
	uint64_t ms = global(0) / ki_target_info(target)->tsc_khz;

	return at(0) == CALLS && global(0) > 1000 &&
	       ms < (ended - main_began) / 1000000 * 11 / 10 + 100;
}

static bool between(uint64_t n, long low, long high)
{
	return n >= (uint64_t)low && n <= (uint64_t)high;
}

static bool fields(void)
{
	return between(global(0), before.ru_minflt, after.ru_minflt) &&
	       between(global(1), before.ru_majflt, after.ru_majflt) &&
	       between(global(2), before.ru_nvcsw, after.ru_nvcsw) &&
	       between(global(3), before.ru_nivcsw, after.ru_nivcsw) && after.ru_minflt > 0 &&
	       after.ru_nvcsw > 0;
}

static void put_into_group(const char *group)
{
	char path[64];
	FILE *f;

	snprintf(path, sizeof(path), "%s/cgroup.procs", group);
	f = fopen(path, "w");
	if (!f || fprintf(f, "%d\n", getpid()) < 0 || fclose(f))
		hand_die(path, NULL);
}

/* Another user, and a group whose number is that of its directory. */
static void enter_group(void)
{
	mkdir(MOUNT, 0700);
	if (mount("none", MOUNT, "cgroup2", 0, NULL) || mkdir(GROUP, 0700))
		hand_die(GROUP, NULL);
	put_into_group(GROUP);
	syscall(SYS_setresuid, USER, 0, 0);
}

static bool groups(void)
{
	struct stat st;
	bool good = !stat(GROUP, &st) && global(0) == USER && global(1) == st.st_ino;

	syscall(SYS_setresuid, 0, 0, 0);
	put_into_group(MOUNT);
	if (rmdir(GROUP) || umount(MOUNT))
		hand_die("leaving " GROUP, NULL);
	return good;
}

static bool called(void)
{
	return while_called(at(0) / CALLS) && at(1) == CALLS;
}

static bool indexed(void)
{
	return at(3) == CALLS && !at(2) && !at(4);
}

static bool shared(void)
{
	return global(0) == 3 * CALLS && global(1) == CALLS && at(0) == CALLS * (CALLS - 1) / 2;
}

static const struct {
	const char *name;
	bool (*check)(void);
} checks[] = {
	{"counts", counted}, {"self", self},	    {"clocks", clocks},
	{"words", words},    {"called", called},    {"indexed", indexed},
	{"shared", shared},  {"clock", clock_runs}, {"words on two ways", two_ways},
	{"fields", fields},  {"groups", groups},
};

static void call(void)
{
	began = monotonic();
	getrusage(RUSAGE_THREAD, &before);
	for (int i = 0; i < CALLS; i++)
		syscall(SYS_getsid, 0);
	getrusage(RUSAGE_THREAD, &after);
	ended = monotonic();
}

static const char *run(const struct long_sample *s)
{
	uint32_t id, reason = hand_install(target, &window, s, &first, &id);

	if (reason != s->reason)
		return ki_reason_tag(reason);
	if (reason)
		return NULL;
	if (!strcmp(s->name, "groups"))
		enter_group();
	call();
	hand_take_out(target, id);
	for (size_t i = 0; i < sizeof(checks) / sizeof(*checks); i++)
		if (!strcmp(s->name, checks[i].name))
			return checks[i].check() ? NULL : "wrong values";
	return NULL;
}

/*
 * The sample's helper comes through code where the sample itself is installed: it must not call
 * itself for ever.
 */
static void recursion(const struct long_sample *s)
{
	uint64_t skipped = hand_info(target).skipped;
	struct hand_window within;
	uint32_t inner, outer;

	hand_window(target, "ktime_get_mono_fast_ns", &within);
	if (hand_install(target, &within, s, &first, &inner)) {
		report("recursion", "refused");
		return;
	}
	if (!hand_install(target, &window, s, &first, &outer)) {
		call();
		hand_take_out(target, outer);
	}
	hand_take_out(target, inner);
	skipped = hand_info(target).skipped - skipped;
	printf("# %llu hits skipped\n", (unsigned long long)skipped);
	report("recursion", skipped >= CALLS ? NULL : "no hit was skipped");
}

static void take_variables(void)
{
	const struct ki_symbol *sym =
		ki_target_symbol_named(target, "", "ktime_get_mono_fast_ns", NULL);
	struct ki_err err = {0};

	first.callee = sym ? sym->addr : 0;
	if (ki_counters_take(target, SLOTS, &first.counter, &err) ||
	    ki_globals_take(target, GLOBALS, &first.global, &err) ||
	    ki_words_take(target, WORDS, &first.word, &err))
		hand_die("variables", &err);
}

static void open_all(void)
{
	struct ki_err err = {0};

	if (ki_target_new_live(&target, &err) || ki_counter_map_new(target, &map, &err) ||
	    ki_global_map_new(target, &globals, &err))
		hand_die("open", &err);
	hand_window(target, "__x64_sys_getsid", &window);
	take_variables();
}

static void close_all(void)
{
	ki_global_map_free(globals);
	ki_counter_map_free(map);
	ki_target_free(target);
}

/* One's own can be set, nobody else's, and none that there is not. */
static const char *set_variables(void)
{
	struct ki_target *other;
	struct ki_err err = {0};

	if (ki_target_new_live(&other, &err))
		hand_die("another session", &err);
	err.code = ki_global_set(other, first.global, 1, NULL);
	ki_target_free(other);
	if (err.code != -EACCES)
		return "another session's was not refused";
	if (ki_global_set(target, ki_target_info(target)->globals, 1, NULL) != -EACCES)
		return "one that there is not was not refused";
	if (ki_global_set(target, first.global + 1, 0x123456789abcdef, NULL) || global(0) ||
	    global(1) != 0x123456789abcdef)
		return "what was set is not what is there";
	return NULL;
}

/* Code with byte i changed; then with fixup i - len that means another variable, or place. */
static void spoil(struct hand_code *c, uint32_t i)
{
	if (i < c->len)
		c->code[i] ^= (uint8_t)(1 << i % 8);
	else if ((i - c->len) % 2)
		c->fix[(i - c->len) / 2].target += 1 << 20;
	else
		c->fix[(i - c->len) / 2].kind ^= 1;
}

/*
 * Code that may run is not vetted again in the same request. What differs from it anywhere must be,
 * and is told what it is told alone.
 */
static const char *spoilt_why(const struct long_sample *s)
{
	static struct hand_code good, bad;
	const struct hand_code *const both[] = {&good, &bad};
	uint32_t refused = 0, n;

	hand_code(s, &first, &good);
	n = good.len + 2 * good.nfix;
	for (uint32_t i = 0; i < n; i++) {
		uint32_t alone;

		bad = good;
		spoil(&bad, i);
		alone = hand_ask(target, &window, both + 1, 1);
		if (hand_ask(target, &window, both, 2) != alone)
			return "what is spoilt is judged by what stands before it";
		refused += alone != KI_R_OK;
	}
	bad = good;
	if (hand_ask(target, &window, both, 2) != KI_R_OK)
		return "the same is refused the second time";
	return refused ? NULL : "nothing was refused";
}

static void spoilt(const struct long_sample *s)
{
	char name[64];

	snprintf(name, sizeof(name), "%s, spoilt", s->name);
	report(name, spoilt_why(s));
}

/* What may run begins with variables that nobody has used. */
int main(void)
{
	main_began = monotonic();
	open_all();
	for (const struct long_sample *s = __start_long_samples; s < __stop_long_samples; s++) {
		if (!s->reason) {
			close_all();
			open_all();
		}
		report(s->name, run(s));
		if (!s->reason)
			spoilt(s);
		if (!strcmp(s->name, "clocks"))
			recursion(s);
	}
	close_all();
	open_all();
	report("variables that are set", set_variables());
	close_all();
	return failed;
}
