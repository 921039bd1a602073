// SPDX-License-Identifier: GPL-2.0-only
/*
 * long: long chunks written by hand (samples.c), asked of the driver: what may run, runs and
 * leaves what it must in its variables; what may not is refused for its reason. Prints a line for
 * each case, "ok NAME" or "not ok NAME: why", and exits 0 if all are ok.
 *
 * Each chunk stands before the first instruction of getppid's window; values are read when
 * getppid has been called ten times.
 */
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/ioctl.h>
#include <sys/mman.h>
#include <sys/syscall.h>
#include <time.h>
#include <unistd.h>

#include "kerninst/splice.h"
#include "samples.h"

#define CALLS 10
#define SLOTS 16

static struct ki_target *target;
static struct ki_counter_map *map;
static uint64_t *globals; /* mapped to read */
static uint32_t counter, global;
static struct ki_window window;
static struct ki_copy copies[KI_WINDOW_INSNS];
static uint64_t callee;
static int failed;

static void die(const char *what, const struct ki_err *err)
{
	fprintf(stderr, "long: %s: %s\n", what, err ? err->msg : strerror(errno));
	exit(2);
}

static void report(const char *name, const char *why)
{
	failed |= why != NULL;
	printf(why ? "not ok %s: %s\n" : "ok %s\n", name, why);
}

static void make_window(const char *name)
{
	const struct ki_symbol *sym = ki_target_symbol_named(target, "", name, NULL);
	struct ki_err err = {0};
	struct ki_function *fn;
	struct ki_spans spans;
	const struct ki_span *s;

	if (!sym || ki_function_analyze(target, sym, &fn, &err) || ki_spans_find(fn, &spans, &err))
		die(name, &err);
	for (s = spans.v; s->board != KI_BOARD_JMP; s++)
		;
	memset(&window, 0, sizeof(window));
	window.addr = s->addr;
	window.len = s->len;
	window.board = s->board;
	memcpy(window.orig, fn->bytes + (s->addr - fn->start), s->len);
	for (; window.ncopy < s->count; window.ncopy++) {
		const struct ki_insn *in = &fn->insns[s->first + window.ncopy];

		if (ki_relocate(in, fn->bytes + (in->addr - fn->start), &copies[window.ncopy]))
			die("relocate", NULL);
	}
	ki_spans_free(&spans);
	ki_function_free(fn);
}

static uint32_t make_fixups(const struct long_sample *s, struct ki_fixup *out)
{
	uint32_t n = 0;

	for (const struct ki_fixup *f = s->fix; f < s->fix_end; f++) {
		out[n] = *f;
		if (f->kind == KI_FIX_PERCPU)
			out[n].target += counter;
		if (f->kind == KI_FIX_GLOBAL)
			out[n].target += global;
		if (f->kind == KI_FIX_CALLEE)
			out[n].target += callee;
		n++;
	}
	return n;
}

/* 0 and its id, or the reason. */
static uint32_t install(const struct long_sample *s, uint32_t *id)
{
	struct ki_fixup fix[64];
	uint8_t code[4096];
	struct ki_long more = {.len = (uint32_t)(s->code_end - s->code),
			       .nfix = make_fixups(s, fix),
			       .code = (uintptr_t)code,
			       .fixups = (uintptr_t)fix};
	struct ki_chunk chunk = {.kind = KI_CHUNK_LONG, .target = (uintptr_t)&more};
	struct ki_splice req = {.size = sizeof(req),
				.windows = (uintptr_t)&window,
				.copies = (uintptr_t)copies,
				.chunks = (uintptr_t)&chunk,
				.nwindows = 1,
				.ncopies = window.ncopy,
				.nchunks = 1};

	memcpy(code, s->code, more.len);
	for (uint32_t i = 0; i + 5 <= more.len; i++) /* THREAD variables have no fixup */
		if (code[i] == 0xbf && !memcmp(code + i + 1, "\x77\x77\0", 4))
			memcpy(code + i + 1, &global, 4);
	window.reason = 0;
	if (!ioctl(target ? ki_target_fd(target) : -1, KI_IOC_SPLICE, &req)) {
		*id = chunk.id;
		return 0;
	}
	return chunk.reason ? chunk.reason : req.reason ? req.reason : KI_R_BAD_REQUEST;
}

static void take_out(uint32_t id)
{
	struct ki_unsplice req = {.size = sizeof(req), .ids = (uintptr_t)&id, .count = 1};

	if (ioctl(ki_target_fd(target), KI_IOC_UNSPLICE, &req))
		die("unsplice", NULL);
}

static uint64_t skipped(void)
{
	struct ki_info info = {.size = sizeof(info)};

	if (ioctl(ki_target_fd(target), KI_IOC_INFO, &info))
		die("info", NULL);
	return info.skipped;
}

/* ---- what the samples leave ---- */

static uint64_t at(uint32_t n)
{
	return ki_counter_read(map, counter + n);
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
	uint64_t words[2] = {at(2) / CALLS, at(3) / CALLS}; /* added once a call, below 2^64 */

	memcpy(comm, words, 8);
	return at(0) == (uint64_t)CALLS * (uint64_t)getpid() &&
	       at(1) == (uint64_t)CALLS * (uint64_t)getpid() && at(4) <= CALLS &&
	       !strncmp(comm, "lo", 2);
}

static bool clocks(void)
{
	uint64_t sum = at(0) / CALLS, now = monotonic();

	return sum < now && now - sum < 5000000000u && at(1) == 0 && at(2) > 0;
}

static bool threads(void)
{
	return at(0) == CALLS * (CALLS + 1) / 2 && at(1) == CALLS;
}

static bool called(void)
{
	uint64_t sum = at(0) / CALLS, now = monotonic();

	return sum < now && now - sum < 5000000000u && at(1) == CALLS;
}

static bool indexed(void)
{
	return at(3) == CALLS && !at(2) && !at(4);
}

static bool shared(void)
{
	return globals[global] == 3 * CALLS && globals[global + 1] == CALLS &&
	       at(0) == CALLS * (CALLS - 1) / 2;
}

static const struct {
	const char *name;
	bool (*check)(void);
} checks[] = {
	{"counts", counted}, {"self", self},	   {"clocks", clocks}, {"threads", threads},
	{"called", called},  {"indexed", indexed}, {"shared", shared},
};

static const char *run(const struct long_sample *s)
{
	static uint64_t before[SLOTS];
	uint32_t id, reason = install(s, &id);

	if (reason != s->reason)
		return ki_reason_tag(reason);
	if (reason)
		return NULL;
	memset(before, 0, sizeof(before));
	for (int i = 0; i < CALLS; i++)
		syscall(SYS_getppid);
	take_out(id);
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
	uint64_t before = skipped();
	uint32_t inner, outer;

	make_window("ktime_get_mono_fast_ns");
	if (install(s, &inner)) {
		report("recursion", "refused");
		return;
	}
	make_window("__x64_sys_getppid");
	if (!install(s, &outer)) {
		for (int i = 0; i < CALLS; i++)
			syscall(SYS_getppid);
		take_out(outer);
	}
	take_out(inner);
	printf("# %llu hits skipped\n", (unsigned long long)(skipped() - before));
	report("recursion", skipped() - before >= CALLS ? NULL : "no hit was skipped");
}

static void take_variables(void)
{
	struct ki_globals req = {.size = sizeof(req), .count = 2};
	struct ki_err err = {0};

	if (ki_counters_take(target, SLOTS, &counter, &err))
		die("counters", &err);
	if (ioctl(ki_target_fd(target), KI_IOC_GLOBALS, &req))
		die("globals", NULL);
	global = req.first;
}

int main(void)
{
	struct ki_err err = {0};
	const struct ki_symbol *sym;

	for (const struct long_sample *s = long_samples; s < long_samples_end; s++) {
		const struct ki_info *info;

		if (ki_target_open_live(&target, &err) || ki_counter_map_open(target, &map, &err))
			die("open", &err);
		info = ki_target_info(target);
		globals = mmap(NULL, info->globals * 8, PROT_READ, MAP_SHARED, ki_target_fd(target),
			       KI_MAP_GLOBALS);
		if (globals == MAP_FAILED)
			die("mmap", NULL);
		sym = ki_target_symbol_named(target, "", "ktime_get_mono_fast_ns", NULL);
		callee = sym ? sym->addr : 0;
		make_window("__x64_sys_getppid");
		take_variables();
		report(s->name, run(s));
		if (!strcmp(s->name, "clocks"))
			recursion(s);
		munmap(globals, info->globals * 8);
		ki_counter_map_close(map);
		ki_target_close(target);
	}
	return failed;
}
