// SPDX-License-Identifier: GPL-2.0-only
/* What there is not enough of, and what one may not have more of. */
#include <errno.h>
#include <fcntl.h>
#include <linux/capability.h>
#include <linux/perf_event.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/ioctl.h>
#include <unistd.h>

#include "kerninst/record.h"
#include "kerninst/table.h"
#include "reasons/reasons.h"

/* What the library is asked for by `world`, which has another session for that moment. */
#define TAKES(name, ...)                                                                           \
	static int name(struct ki_err *err)                                                        \
	{                                                                                          \
		return __VA_ARGS__;                                                                \
	}

static uint32_t took;

TAKES(take_counter, ki_counters_take(world, 1, &took, err))
TAKES(take_counters, ki_counters_take(world, UINT32_MAX, &took, err))
TAKES(take_global, ki_globals_take(world, 1, &took, err))
TAKES(take_word, ki_words_take(world, 1, &took, err))

/* What is mapped is the session's until it ends. */
static int ring_of(uint32_t bytes, struct ki_err *err)
{
	struct ki_ring_map *ring = NULL;
	int ret = ki_ring_map_new(
		world,
		&(struct ki_ring_options){.size = sizeof(struct ki_ring_options), .bytes = bytes},
		&ring, err);

	ki_ring_map_free(ring);
	return ret;
}
TAKES(take_ring, ring_of(4096, err))
TAKES(take_large_ring, ring_of(KI_RING_PAGES * 4096u, err))

static int take_table(struct ki_err *err)
{
	const struct ki_table_options o = {
		.size = sizeof(o), .keys = 1, .values = 2, .rows = 1, .shared = true};
	struct ki_table_map *table = NULL;
	int ret = ki_table_map_new(world, &o, &table, err);

	ki_table_map_free(table);
	return ret;
}

static int take_stacks(struct ki_err *err)
{
	const struct ki_stacks_options o = {.size = sizeof(o), .rows = 16, .frames = 8};
	struct ki_stacks_map *stacks = NULL;
	int ret = ki_stacks_map_new(world, &o, &stacks, err);

	ki_stacks_map_free(stacks);
	return ret;
}

static int event_of(uint32_t type, uint64_t config, uint32_t flags, struct ki_err *err)
{
	const struct ki_event_spec spec = {.type = type, .config = config, .name = "the event"};

	return ki_event_take(world, &spec, flags, &took, err);
}
TAKES(take_event, event_of(PERF_TYPE_SOFTWARE, PERF_COUNT_SW_PAGE_FAULTS, 0, err))
TAKES(event_unknown, event_of(PERF_TYPE_SOFTWARE, 1000, 0, err))
TAKES(event_type, event_of(PERF_TYPE_TRACEPOINT, 1, 0, err))
TAKES(event_never, event_of(PERF_TYPE_SOFTWARE, PERF_COUNT_SW_DUMMY, 0, err))
TAKES(event_side, event_of(PERF_TYPE_SOFTWARE, PERF_COUNT_SW_CONTEXT_SWITCHES, KI_EVENT_USER, err))

/* In sessions, as many as it takes; what is said is the library's. */
#define SESSIONS 64

static void ask_often(struct answer *a, int (*take)(struct ki_err *err), int most)
{
	const int own = dup(ki_target_fd(world));
	struct ki_err err = {0};
	int fd[SESSIONS], n = 0;

	while (!err.code && n < most) {
		fd[n] = device_open();
		dup2(fd[n++], ki_target_fd(world));
		take(&err);
	}
	*a = (struct answer){.error = -err.code, .reason = err.reason};
	snprintf(a->words, sizeof(a->words), "%s", err.msg);
	dup2(own, ki_target_fd(world));
	close(own);
	while (n--)
		close(fd[n]);
}

/* What the words must name. */
#define ONCE(tag, take, thing)                                                                     \
	static void ask_##tag(struct answer *a)                                                    \
	{                                                                                          \
		ask_often(a, take, 1);                                                             \
		strcpy(a->where, thing);                                                           \
	}                                                                                          \
	ASKED(tag, ask_##tag)

ONCE(COUNTERS_FULL, take_counters, "4294967295 counters")
ONCE(EVENT_UNKNOWN, event_unknown, "the event")
ONCE(EVENT_TYPE, event_type, "the event")
ONCE(EVENT_NEVER, event_never, "the event")
ONCE(EVENT_SIDE, event_side, "the event")

static void ask_rings(struct answer *a)
{
	ask_often(a, take_large_ring, SESSIONS);
	strcpy(a->where, "a ring of");
}
ASKED(NO_MEMORY, ask_rings)

/* ---- limits: nobody's, who may have one of each kind ---- */

#define LIMITED(tag, take, param, thing)                                                           \
	static void often_##tag(struct answer *a)                                                  \
	{                                                                                          \
		ask_often(a, take, SESSIONS);                                                      \
		strcpy(a->where, thing);                                                           \
	}                                                                                          \
	static void ask_##tag(struct answer *a)                                                    \
	{                                                                                          \
		param_set(param, "1");                                                             \
		as_nobody(CAP_PERFMON, often_##tag, a);                                            \
		param_back();                                                                      \
	}                                                                                          \
	ASKED(tag, ask_##tag)

LIMITED(LIMIT_COUNTERS, take_counter, "user_counters", "1 counters")
LIMITED(LIMIT_GLOBALS, take_global, "user_globals", "1 global variables")
LIMITED(LIMIT_WORDS, take_word, "user_words", "1 words of threads")
LIMITED(LIMIT_RINGS, take_ring, "user_rings", "a ring of 1 pages")
LIMITED(LIMIT_TABLES, take_table, "user_tables", "a table of")
LIMITED(LIMIT_STACKS, take_stacks, "user_stacks", "a table of 16 stacks")
LIMITED(LIMIT_EVENTS, take_event, "user_events", "the event")
LIMITED(LIMIT_PAGES, take_table, "session_pages", "a table of")

static void open_twice(struct answer *a)
{
	struct ki_target *t;
	struct ki_err err = {0};
	int fd = device_open();

	if (!ki_target_new_live(&t, &err))
		ki_target_free(t);
	*a = (struct answer){.error = -err.code, .reason = err.reason, .where = "/dev/kerninst"};
	snprintf(a->words, sizeof(a->words), "%s", err.msg);
	close(fd);
}

static void ask_sessions(struct answer *a)
{
	param_set("user_sessions", "1");
	as_nobody(CAP_PERFMON, open_twice, a);
	param_back();
}
ASKED(LIMIT_SESSIONS, ask_sessions)

/* Its windows are found by root; the session is nobody's. */
static struct request prepared;

static void ask_prepared(struct answer *a)
{
	struct ki_counters c = {.size = sizeof(c), .count = 1};
	int fd = device_open(), ret;

	if (ioctl(fd, KI_IOC_COUNTERS, &c))
		die("counters", strerror(errno));
	for (uint32_t i = 0; i < prepared.req.nchunks; i++)
		prepared.chunks[i].fix[0].target = c.first;
	prepared.req.windows = (uintptr_t)prepared.windows;
	prepared.req.copies = (uintptr_t)prepared.copies;
	prepared.req.chunks = (uintptr_t)prepared.chunks;
	ret = ioctl(fd, KI_IOC_SPLICE, &prepared.req);
	answer_of(a, ret, prepared.req.reason);
	close(fd);
}

static void ask_two_windows(struct answer *a, const char *param, const char *value)
{
	const struct ki_function *fn = world_function("ki_reasons", "ki_r_plain");

	prepared = (struct request){.req.size = sizeof(prepared.req)};
	request_window(&prepared, fn, 0, 2, KI_BOARD_JMP);
	request_window(&prepared, fn, 7, 2, KI_BOARD_JMP);
	param_set(param, value);
	as_nobody(CAP_PERFMON, ask_prepared, a);
	param_back();
}

#define LIMITED_WINDOWS(tag, param, value)                                                         \
	static void ask_##tag(struct answer *a)                                                    \
	{                                                                                          \
		ask_two_windows(a, param, value);                                                  \
	}                                                                                          \
	ASKED(tag, ask_##tag)

LIMITED_WINDOWS(LIMIT_WINDOWS, "session_windows", "1")
LIMITED_WINDOWS(LIMIT_CHUNKS, "session_chunks", "1")
LIMITED_WINDOWS(LIMIT_HEAP, "session_heap", "64")

/* ---- places to come back to: 16384, less than there are tail jumps ---- */

#define TAILS 16384

static void make_tails(struct ki_splice *req, const struct ki_function *fn, uint32_t counter)
{
	struct ki_window *w = calloc(TAILS, sizeof(*w));
	struct ki_copy *copies = calloc(TAILS, sizeof(*copies));
	struct ki_chunk *chunks = calloc(TAILS, sizeof(*chunks));
	struct ki_code code;

	if (!w || !copies || !chunks)
		die("tails", "no memory");
	ki_snippet_count(&code, counter, true);
	*req = (struct ki_splice){.size = sizeof(*req), .nwindows = TAILS};
	req->ncopies = req->nchunks = TAILS;
	req->windows = (uintptr_t)w;
	req->copies = (uintptr_t)copies;
	req->chunks = (uintptr_t)chunks;
	for (uint32_t i = 0, k = 0; k < TAILS; i++) {
		const struct ki_insn *in = &fn->insns[i];
		const uint8_t *bytes = fn->bytes + (in->addr - fn->start);

		if (in->kind != KI_INSN_JCC || in->len < 5)
			continue;
		w[k] = (struct ki_window){.addr = in->addr, .first_copy = k, .len = in->len};
		w[k].ncopy = 1;
		memcpy(w[k].orig, bytes, in->len);
		ki_relocate(in, bytes, &copies[k]);
		chunks[k] = (struct ki_chunk){
			.window = k, .where = KI_RETURNED, .len = code.len, .nfix = code.nfix};
		memcpy(chunks[k].fix, code.fix, sizeof(code.fix));
		memcpy(chunks[k++].code, code.code, code.len);
	}
}

static void ask_returns(struct answer *a)
{
	struct ki_counters c = {.size = sizeof(c), .count = 1};
	int fd = device_open(), ret;
	struct ki_splice req;

	if (ioctl(fd, KI_IOC_COUNTERS, &c))
		die("counters", strerror(errno));
	make_tails(&req, world_function("ki_tails", "ki_tails_all"), c.first);
	ret = ioctl(fd, KI_IOC_SPLICE, &req);
	answer_of(a, ret, req.reason);
	free((void *)(uintptr_t)req.windows);
	free((void *)(uintptr_t)req.copies);
	free((void *)(uintptr_t)req.chunks);
	close(fd);
}
ASKED(RETURNS_FULL, ask_returns)

/* It has no memory, and may have none: what it had goes in a moment. */
static void empty_heap(void)
{
	struct ki_info i = {.size = sizeof(i), .heap_end = 1};

	param_set("heap", "0");
	for (int n = 0; n < 600 && i.heap_end != i.heap_start; n++) {
		usleep(100000);
		if (ioctl(ki_target_fd(world), KI_IOC_INFO, &i))
			die("info", strerror(errno));
	}
}
const struct reason_case case_HEAP_FULL = {.prepare = empty_heap,
					   .after = param_back,
					   .tool = {"stat", "--for", "0.01", "vfs_read"},
					   .names = "vfs_read"};

/* It takes counters of the processor's own, which guests have not. */
IN_SUITE(EVENTS_BUSY, "test/unit/metric/test_events_refused.c")
