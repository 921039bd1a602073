// SPDX-License-Identifier: GPL-2.0-only
#include <errno.h>
#include <stdio.h>
#include <string.h>
#include <sys/ioctl.h>
#include <unistd.h>

#include "reasons/reasons.h"
#include "splice/plan.h"

void request_begin(struct request *r)
{
	struct ki_counters c = {.size = sizeof(c), .count = 1};

	*r = (struct request){.req.size = sizeof(r->req), .fd = device_open()};
	if (ioctl(r->fd, KI_IOC_COUNTERS, &c))
		die("counters", strerror(errno));
	r->counter = c.first;
}

void request_end(struct request *r)
{
	close(r->fd);
}

static void copy_insn(struct request *r, struct ki_window *w, const struct ki_function *fn,
		      const struct ki_insn *in)
{
	const uint8_t *bytes = fn->bytes + (in->addr - fn->start);
	struct ki_copy *c = &r->copies[r->req.ncopies++];

	if (ki_relocate(in, bytes, c)) {
		*c = (struct ki_copy){.orig_len = in->len, .len = in->len};
		memcpy(c->code, bytes, in->len);
	}
	memcpy(w->orig + w->len, bytes, in->len);
	w->len += in->len;
	w->ncopy++;
}

static void add_chunk(struct request *r, uint32_t window)
{
	struct ki_chunk *c = &r->chunks[r->req.nchunks++];
	struct ki_code code;

	ki_snippet_count(&code, r->counter, true);
	*c = (struct ki_chunk){.window = window, .len = code.len, .nfix = code.nfix};
	memcpy(c->fix, code.fix, sizeof(c->fix));
	memcpy(c->code, code.code, code.len);
}

struct ki_window *request_window(struct request *r, const struct ki_function *fn, uint64_t off,
				 unsigned int n, enum ki_board_kind board)
{
	struct ki_window *w = &r->windows[r->req.nwindows++];
	const struct ki_insn *in = ki_function_insn_at(fn, fn->start + off);

	if (!in || n > KI_WINDOW_INSNS || r->req.nwindows > REQUEST_WINDOWS)
		die(fn->symbol->name, "no such window");
	*w = (struct ki_window){
		.addr = in->addr, .first_copy = r->req.ncopies, .board = (uint8_t)board};
	while (n--)
		copy_insn(r, w, fn, in++);
	add_chunk(r, r->req.nwindows - 1);
	return w;
}

void request_bounce(struct request *r, const struct ki_function *fn, uint64_t off, uint64_t at)
{
	request_window(r, fn, off, 1, KI_BOARD_BOUNCE)->bounce = fn->start + at;
}

void request_replace(struct request *r, uint64_t target)
{
	struct ki_chunk *c = &r->chunks[r->req.nchunks - 1];

	*c = (struct ki_chunk){.window = c->window, .kind = KI_CHUNK_REPLACE, .target = target};
}

static void fill_plan(struct ki_plan *plan, const struct request *r)
{
	const struct plan_window alone = {.host = KI_NONE, .group = KI_NONE, .chunks = 1};
	int ret = 0;

	for (uint32_t i = 0; i < r->req.nwindows; i++) {
		ret |= ki_vec_push(&plan->windows, r->windows[i]);
		plan->windows.v[i].reason = KI_R_OK; /* of the driver's answer */
		ret |= ki_vec_push(&plan->more, alone);
	}
	for (uint32_t i = 0; i < r->req.ncopies; i++)
		ret |= ki_vec_push(&plan->copies, r->copies[i]);
	for (uint32_t i = 0; i < r->req.nchunks; i++) {
		struct plan_chunk c = {.c = r->chunks[i], .bundle = KI_NONE};

		c.c.reason = KI_R_OK;
		ret |= ki_vec_push(&plan->chunks, c);
	}
	if (ret)
		die("plan", "no memory");
}

/* The same through the library, for its words. What its plans cannot have, it does not send: flags
   of windows, groups, more windows than there are. */
static void request_say(struct request *r, struct answer *a)
{
	struct ki_plan *plan = plan_new();
	struct ki_err err = {0};

	fill_plan(plan, r);
	ki_plan_apply_fd(plan, r->fd, false, &err);
	for (uint32_t i = 0; err.reason == a->reason && i < r->req.nwindows; i++)
		if (r->windows[i].addr == err.addr) {
			snprintf(a->words, sizeof(a->words), "%s", err.msg);
			snprintf(a->where, sizeof(a->where), "0x%llx", (ull)err.addr);
		}
	ki_plan_free(plan);
}

void request_ask(struct request *r, struct answer *a)
{
	int ret;

	r->req.windows = (uintptr_t)r->windows;
	r->req.copies = (uintptr_t)r->copies;
	r->req.chunks = (uintptr_t)r->chunks;
	ret = ioctl(r->fd, KI_IOC_SPLICE, &r->req);
	answer_of(a, ret, r->req.reason);
	snprintf(a->where, sizeof(a->where), "0x%llx", (ull)r->windows[0].addr);
	if (ret && r->req.nwindows <= REQUEST_WINDOWS)
		request_say(r, a);
}

void request_install(struct request *r)
{
	struct answer a;

	request_ask(r, &a);
	if (a.error)
		die("what is to be in the way", ki_reason_tag(a.reason));
}
