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

#include "reasons/reasons.h"

/* Requests that take something: of which kind, and how much. */
#define TAKES(name, type, cmd, ...)                                                                \
	static int name(int fd, unsigned int *reason)                                              \
	{                                                                                          \
		struct type r = {.size = sizeof(r), __VA_ARGS__};                                  \
		int ret = ioctl(fd, cmd, &r);                                                      \
                                                                                                   \
		*reason = r.reason;                                                                \
		return ret;                                                                        \
	}

TAKES(take_counter, ki_counters, KI_IOC_COUNTERS, .count = 1)
TAKES(take_counters, ki_counters, KI_IOC_COUNTERS, .count = UINT32_MAX)
TAKES(take_global, ki_globals, KI_IOC_GLOBALS, .count = 1)
TAKES(take_word, ki_words, KI_IOC_WORDS, .count = 1)
TAKES(take_ring, ki_ring, KI_IOC_RING, .pages = 1)
TAKES(take_large_ring, ki_ring, KI_IOC_RING, .pages = KI_RING_PAGES)
TAKES(take_table, ki_table_request, KI_IOC_TABLE, .flags = KI_TABLE_SHARED, .keys = 1, .values = 2,
      .rows = 1)
TAKES(take_stacks, ki_stacks, KI_IOC_STACKS, .rows = 16, .frames = 8)
TAKES(take_event, ki_event_req, KI_IOC_EVENT, .type = PERF_TYPE_SOFTWARE,
      .config = PERF_COUNT_SW_PAGE_FAULTS)
TAKES(event_unknown, ki_event_req, KI_IOC_EVENT, .type = PERF_TYPE_SOFTWARE, .config = 1000)
TAKES(event_type, ki_event_req, KI_IOC_EVENT, .type = PERF_TYPE_TRACEPOINT, .config = 1)
TAKES(event_never, ki_event_req, KI_IOC_EVENT, .type = PERF_TYPE_SOFTWARE,
      .config = PERF_COUNT_SW_DUMMY)
TAKES(event_side, ki_event_req, KI_IOC_EVENT, .type = PERF_TYPE_SOFTWARE,
      .config = PERF_COUNT_SW_CONTEXT_SWITCHES, .flags = KI_EVENT_USER)

static void ask_once(struct answer *a, int (*take)(int fd, unsigned int *reason))
{
	unsigned int reason;
	int fd = device_open(), ret = take(fd, &reason);

	answer_of(a, ret, reason);
	close(fd);
}

#define ONCE(tag, take)                                                                            \
	static void ask_##tag(struct answer *a)                                                    \
	{                                                                                          \
		ask_once(a, take);                                                                 \
	}                                                                                          \
	ASKED(tag, ask_##tag)

ONCE(COUNTERS_FULL, take_counters)
ONCE(EVENT_UNKNOWN, event_unknown)
ONCE(EVENT_TYPE, event_type)
ONCE(EVENT_NEVER, event_never)
ONCE(EVENT_SIDE, event_side)

/* In sessions, as many as it takes. */
#define SESSIONS 64

static void ask_often(struct answer *a, int (*take)(int fd, unsigned int *reason))
{
	int fd[SESSIONS], n = 0;

	for (*a = (struct answer){0}; !a->error && n < SESSIONS; n++) {
		unsigned int reason;
		int ret;

		fd[n] = device_open();
		ret = take(fd[n], &reason);
		answer_of(a, ret, reason);
	}
	while (n--)
		close(fd[n]);
}

static void ask_rings(struct answer *a)
{
	ask_often(a, take_large_ring);
}
ASKED(NO_MEMORY, ask_rings)

/* ---- limits: nobody's, who may have one of each kind ---- */

#define LIMITED(tag, take, param)                                                                  \
	static void often_##tag(struct answer *a)                                                  \
	{                                                                                          \
		ask_often(a, take);                                                                \
	}                                                                                          \
	static void ask_##tag(struct answer *a)                                                    \
	{                                                                                          \
		param_set(param, "1");                                                             \
		as_nobody(CAP_PERFMON, often_##tag, a);                                            \
		param_back();                                                                      \
	}                                                                                          \
	ASKED(tag, ask_##tag)

LIMITED(LIMIT_COUNTERS, take_counter, "user_counters")
LIMITED(LIMIT_GLOBALS, take_global, "user_globals")
LIMITED(LIMIT_WORDS, take_word, "user_words")
LIMITED(LIMIT_RINGS, take_ring, "user_rings")
LIMITED(LIMIT_TABLES, take_table, "user_tables")
LIMITED(LIMIT_STACKS, take_stacks, "user_stacks")
LIMITED(LIMIT_EVENTS, take_event, "user_events")
LIMITED(LIMIT_PAGES, take_table, "session_pages")

static void open_twice(struct answer *a)
{
	struct ki_target *t;
	struct ki_err err = {0};
	int fd = device_open();

	if (!ki_target_open_live(&t, &err))
		ki_target_close(t);
	*a = (struct answer){.error = -err.code, .reason = err.reason};
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

IN_SUITE(HEAP_FULL, "test/guest/full/filling.c")
/* It takes counters of the processor's own, which guests have not. */
IN_SUITE(EVENTS_BUSY, "test/unit/metric/test_events.c")
