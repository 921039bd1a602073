// SPDX-License-Identifier: GPL-2.0-only
/* Requests that are made wrong, or that something installed is in the way of. */
#include <stdio.h>
#include <string.h>
#include <sys/ioctl.h>

#include "reasons/reasons.h"

static const struct ki_function *plain(void)
{
	return world_function("ki_reasons", "ki_r_plain");
}

/* Two instructions at its beginning, and what a case makes of it. */
static void ask_spoilt(struct answer *a, void (*spoil)(struct request *r))
{
	struct request r;

	request_begin(&r);
	request_window(&r, plain(), 0, 2, KI_BOARD_JMP);
	spoil(&r);
	request_ask(&r, a);
	request_end(&r);
}

#define SPOILT(tag, what)                                                                          \
	static void spoil_##tag(struct request *r)                                                 \
	{                                                                                          \
		what;                                                                              \
	}                                                                                          \
	static void ask_##tag(struct answer *a)                                                    \
	{                                                                                          \
		ask_spoilt(a, spoil_##tag);                                                        \
	}                                                                                          \
	ASKED(tag, ask_##tag)

SPOILT(BAD_REQUEST, r->windows[0].flags = 0x80)
SPOILT(TOO_MANY, r->req.nwindows = KI_BATCH_WINDOWS + 1)
SPOILT(BAD_SLOT, r->chunks[0].insn = 2)
SPOILT(BAD_CHUNK, memset(r->chunks[0].code, 0x90, r->chunks[0].len))
SPOILT(BAD_FIXUP, r->chunks[0].fix[0].off = 200)
SPOILT(NOT_YOUR_COUNTER, r->chunks[0].fix[0].target = r->counter + 1)
SPOILT(COPY_MISMATCH, r->copies[0].code[0] ^= 1)
SPOILT(BYTES_CHANGED, r->windows[0].orig[0] ^= 1)
SPOILT(BAD_BOARD, r->windows[0].board = KI_BOARD_KINDS)
SPOILT(NO_SUCH_SIDE, r->chunks[0].where = KI_TAKEN)
SPOILT(NOT_A_FUNCTION, request_replace(r, plain()->start + 3))
SPOILT(NOT_CALLABLE, request_replace(r, world_address("", "entry_SYSCALL_64")))
SPOILT(NO_HOST, (request_window(r, plain(), 7, 2, KI_BOARD_JMP), r->req.nchunks--))
SPOILT(NOT_REPLACEABLE, (request_window(r, plain(), 7, 2, KI_BOARD_JMP),
			 request_replace(r, world_address("ki_reasons", "ki_r_other"))))

/* Both windows have the first place. */
static void spoil_layout(struct request *r)
{
	request_window(r, plain(), 7, 2, KI_BOARD_JMP);
	for (int i = 0; i < 2; i++) {
		r->windows[i].group = 1;
		r->windows[i].flags = KI_WINDOW_LAID;
	}
}

static void ask_layout(struct answer *a)
{
	ask_spoilt(a, spoil_layout);
}
ASKED(BAD_LAYOUT, ask_layout)

static void spoil_circle(struct request *r)
{
	request_replace(r, world_address("ki_reasons", "ki_r_other"));
	request_window(r, world_function("ki_reasons", "ki_r_other"), 0, 2, KI_BOARD_JMP);
	request_replace(r, plain()->start);
}

static void ask_circle(struct answer *a)
{
	ask_spoilt(a, spoil_circle);
}
ASKED(REPLACE_CIRCLE, ask_circle)

/* ---- somebody else is there ---- */

static void ask_beside(struct answer *a, void (*first)(struct request *r),
		       void (*second)(struct request *r))
{
	struct request r, s;

	request_begin(&r);
	first(&r);
	request_install(&r);
	request_begin(&s);
	second(&s);
	request_ask(&s, a);
	request_end(&s);
	request_end(&r);
}

static void whole(struct request *r)
{
	request_window(r, plain(), 0, 2, KI_BOARD_JMP);
}

static void shifted(struct request *r)
{
	request_window(r, plain(), 3, 2, KI_BOARD_JMP);
}

static void ask_overlap(struct answer *a)
{
	ask_beside(a, whole, shifted);
}
ASKED(WINDOW_OVERLAP, ask_overlap)

static void group(struct request *r)
{
	request_window(r, plain(), 0, 2, KI_BOARD_JMP)->group = 1;
	request_window(r, plain(), 7, 2, KI_BOARD_JMP)->group = 1;
}

static void ask_mixed(struct answer *a)
{
	ask_beside(a, whole, group);
}
ASKED(GROUP_MIXED, ask_mixed)

/* The filler of the function is [+22, +32). */
static void bounces(struct request *r)
{
	request_bounce(r, plain(), 0, 22);
}

static void bounces_there(struct request *r)
{
	request_bounce(r, plain(), 3, 24);
}

static void ask_taken(struct answer *a)
{
	ask_beside(a, bounces, bounces_there);
}
ASKED(BOUNCE_TAKEN, ask_taken)

static void ask_live(struct answer *a)
{
	struct request r;

	request_begin(&r);
	request_bounce(&r, plain(), 0, 14);
	request_ask(&r, a);
	request_end(&r);
}
ASKED(BOUNCE_LIVE, ask_live)

IN_SUITE(MAY_SLEEP, "test/guest/replace/circle.sh")
IN_SUITE(TAIL_FRAME, "test/guest/tail_jumps/tail.sh")
IN_SUITE(TAIL_STACK, "test/guest/tail_jumps/tail.sh")
IN_SUITE(TAIL_UNKNOWN, "test/guest/tail_jumps/tail.sh")
IN_SUITE(TAIL_RING, "test/guest/tail_jumps/tail.sh")
IN_SUITE(TAIL_REPLACED, "test/guest/tail_jumps/tail.sh")
IN_SUITE(THREAD_CHANGES, "test/guest/threads/sessions.c")
