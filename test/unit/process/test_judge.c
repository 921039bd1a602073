// SPDX-License-Identifier: GPL-2.0-only
/*
 * What cannot be put into a process, and why: windows that only a breakpoint fits, calls whose
 * copies would not be on a shadow stack, chunks of kinds that are not built for processes.
 */
#include <setjmp.h>
#include <stdarg.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#include "process/judge.h"

#define LOW 0x401000ull	      /* of a program that is linked to a fixed place */
#define FAR 0x555555555000ull /* of one that is not */

static const uint8_t direct[] = {0xe8, 0x10, 0, 0, 0}, indirect[] = {0xff, 0xd0};
static const uint8_t jmp[] = {0xe9, 0x10, 0, 0, 0}, push[] = {0x68, 1, 2, 3, 4};

/* A window of this one instruction, and a chunk that counts before it. */
struct one {
	struct ki_window window;
	struct plan_window more;
	struct ki_copy copy;
	struct plan_chunk chunk;
	struct ki_plan plan;
};

static void make(struct one *o, uint64_t addr, const uint8_t *bytes, uint8_t len,
		 enum ki_insn_kind kind)
{
	const struct ki_insn in = {.addr = addr, .len = len, .kind = (uint8_t)kind};
	struct ki_code code;

	*o = (struct one){.more.host = KI_NONE, .chunk.bundle = KI_NONE};
	o->window = (struct ki_window){.addr = addr, .len = len, .ncopy = 1};
	assert_int_equal(ki_relocate(&in, bytes, &o->copy), KI_R_OK);
	ki_snippet_count_global(&code, 0, true);
	o->chunk.c = (struct ki_chunk){.len = code.len, .nfix = code.nfix};
	memcpy(o->chunk.c.fix, code.fix, sizeof(code.fix));
	o->plan.windows.v = &o->window;
	o->plan.more.v = &o->more;
	o->plan.copies.v = &o->copy;
	o->plan.chunks.v = &o->chunk;
	o->plan.windows.n = o->plan.more.n = o->plan.copies.n = o->plan.chunks.n = 1;
}

static unsigned int reason_by(struct one *o, bool shadow_stack, bool driver)
{
	const struct ki_linking how = {
		.plan = &o->plan, .shadow_stack = shadow_stack, .driver = driver};
	struct ki_linked x = {0};

	o->chunk.c.reason = KI_R_OK;
	assert_int_equal(ki_linked_judge(&x, &how), 0);
	assert_int_equal(x.chunks.n, o->chunk.c.reason ? 0 : 1);
	assert_int_equal(x.order.n, x.chunks.n);
	ki_vec_free(&x.chunks);
	ki_vec_free(&x.order);
	return o->chunk.c.reason;
}

static unsigned int reason_of(struct one *o, bool shadow_stack)
{
	return reason_by(o, shadow_stack, false);
}

static void calls_are_not_on_a_shadow_stack(void **state)
{
	static const uint64_t places[] = {LOW, FAR};
	struct one o;

	(void)state;
	for (int i = 0; i < 2; i++) {
		make(&o, places[i], direct, sizeof(direct), KI_INSN_CALL);
		assert_int_equal(reason_of(&o, true), KI_R_SHADOW_STACK);
		assert_int_equal(reason_of(&o, false), KI_R_OK);
		make(&o, places[i], indirect, sizeof(indirect), KI_INSN_CALL_INDIRECT);
		assert_int_equal(reason_of(&o, true), KI_R_SHADOW_STACK);
		make(&o, places[i], jmp, sizeof(jmp), KI_INSN_JMP);
		assert_int_equal(reason_of(&o, true), KI_R_OK);
		make(&o, places[i], push, sizeof(push), KI_INSN_PLAIN);
		assert_int_equal(reason_of(&o, true), KI_R_OK);
	}
}

static void breakpoints_are_the_drivers(void **state)
{
	struct one o;

	(void)state;
	make(&o, FAR, indirect, sizeof(indirect), KI_INSN_CALL_INDIRECT);
	o.window.board = KI_BOARD_TRAP;
	assert_int_equal(reason_of(&o, false), KI_R_NO_TRAP);
	assert_int_equal(reason_by(&o, false, true), KI_R_OK);
	assert_int_equal(reason_by(&o, true, true), KI_R_SHADOW_STACK);
}

static void not_built(void **state)
{
	struct one o;

	(void)state;
	make(&o, FAR, jmp, sizeof(jmp), KI_INSN_JMP);
	o.chunk.c.where = KI_TAKEN;
	assert_int_equal(reason_of(&o, false), KI_R_OK);
	o.chunk.c.where = KI_RETURNED;
	assert_int_equal(reason_of(&o, false), KI_R_NOT_IN_PROCESS);
	make(&o, FAR, indirect, sizeof(indirect), KI_INSN_CALL_INDIRECT);
	o.chunk.c.where = KI_TAKEN;
	assert_int_equal(reason_of(&o, false), KI_R_NOT_IN_PROCESS);
	make(&o, FAR, push, sizeof(push), KI_INSN_PLAIN);
	o.chunk.c.kind = KI_CHUNK_GUARDED;
	assert_int_equal(reason_of(&o, false), KI_R_NOT_IN_PROCESS);
	o.chunk.c.kind = KI_CHUNK_REPLACE;
	o.chunk.c.where = KI_AFTER;
	assert_int_equal(reason_of(&o, false), KI_R_NOT_REPLACEABLE);
	o.chunk.c.where = KI_BEFORE;
	o.chunk.c.kind = KI_CHUNK_CODE;
	o.chunk.c.fix[0].kind = KI_FIX_PERCPU;
	assert_int_equal(reason_of(&o, false), KI_R_NOT_IN_PROCESS);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(calls_are_not_on_a_shadow_stack),
		cmocka_unit_test(breakpoints_are_the_drivers),
		cmocka_unit_test(not_built),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
