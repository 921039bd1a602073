// SPDX-License-Identifier: GPL-2.0-only
/* Instructions and functions that cannot be displaced: forms.S has them, or the kernel. */
#include <stdio.h>

#include "reasons/reasons.h"

/* One window, of one instruction, with a breakpoint: nothing is wrong but the instruction. */
static void ask_insn(struct answer *a, const char *module, const char *function, uint64_t off)
{
	struct request r;

	request_begin(&r);
	request_window(&r, world_function(module, function), off, 1, KI_BOARD_TRAP);
	request_ask(&r, a);
	request_end(&r);
}

#define FORM(tag, form)                                                                            \
	static void ask_##form(struct answer *a)                                                   \
	{                                                                                          \
		ask_insn(a, "ki_reasons", "ki_r_" #form, 0);                                       \
	}                                                                                          \
	AT_BOTH(tag, "ki_reasons:ki_r_" #form "+0", ask_##form)

FORM(UNDECODABLE, undecodable)
FORM(LOOP_INSN, loop)
FORM(PRIVILEGED_INSN, hlt)
FORM(STI, sti)
FORM(STACK_CALL, stack_call)
FORM(TOO_FAR, far)
FORM(BUG_SITE, ud1)
FORM(ENDBR, endbr)
FORM(FOREIGN_BREAKPOINT, int3)

#define IN_KERNEL(tag, function)                                                                   \
	static void ask_##tag(struct answer *a)                                                    \
	{                                                                                          \
		ask_insn(a, "", function, 0);                                                      \
	}                                                                                          \
	AT_BOTH(tag, function, ask_##tag)

IN_KERNEL(ENTRY_TEXT, "entry_SYSCALL_64")
IN_KERNEL(NOINSTR, "exc_int3")
IN_KERNEL(KPROBES_BLACKLIST, "kprobe_int3_handler")
IN_KERNEL(IDLE_TEXT, "default_idle")
IN_KERNEL(TRAP_PATH, "rcu_is_watching")
IN_KERNEL(COPIED, "ftrace_caller")
IN_KERNEL(NO_PERCPU, "restore_processor_state")

/* To the library it is on the kernel's list before all. */
static void ask_thunk(struct answer *a)
{
	ask_insn(a, "", "__x86_indirect_thunk_rax", 0);
}
ASKED(THUNK, ask_thunk)

/* The first instruction of a function that the library refuses for this reason. */
static void ask_refused(struct answer *a, const char *module, const char *function,
			unsigned int reason)
{
	const struct ki_function *fn = world_function(module, function);

	for (uint32_t i = 0; i < fn->ninsns; i++)
		if (fn->insns[i].reason == reason) {
			ask_insn(a, module, function, fn->insns[i].addr - fn->start);
			return;
		}
	die(function, ki_reason_tag(reason));
}

static void ask_ftrace(struct answer *a)
{
	ask_refused(a, "", "vfs_read", KI_R_FTRACE_SITE);
}
AT_BOTH(FTRACE_SITE, "vfs_read+0", ask_ftrace)

static void ask_branch(struct answer *a)
{
	ask_refused(a, "ki_mate", "ki_mate_work", KI_R_JUMP_LABEL);
}
ASKED(JUMP_LABEL, ask_branch)

static void ask_call(struct answer *a)
{
	ask_refused(a, "ki_mate", "ki_mate_work", KI_R_STATIC_CALL);
}
ASKED(STATIC_CALL, ask_call)

/* Only the driver knows where they are, and only while there is one CPU. */
static void ask_lock(struct answer *a)
{
	ask_insn(a, "ki_reasons", "ki_r_lock", 0);
}
AT_BOTH(LOCK_PREFIX, "ki_reasons:ki_r_lock+0", ask_lock)

static void ask_self(struct answer *a)
{
	ask_insn(a, "kerninst", "ki_request_make", 0);
}
AT_BOTH(SELF, "kerninst:ki_request_make", ask_self)

/* A springboard over what may fault. */
static void ask_fault(struct answer *a)
{
	struct request r;

	request_begin(&r);
	request_window(&r, world_function("ki_reasons", "ki_r_fault"), 0, 2, KI_BOARD_JMP);
	request_ask(&r, a);
	request_end(&r);
}
ASKED(EXTABLE, ask_fault)

static void ask_entered(struct answer *a)
{
	struct request r;

	request_begin(&r);
	request_window(&r, world_function("ki_reasons", "ki_r_entered"), 5, 2, KI_BOARD_JMP);
	request_ask(&r, a);
	request_end(&r);
}
ASKED(WINDOW_ENTERED, ask_entered)

static void ask_large(struct answer *a)
{
	ask_insn(a, "ki_reasons", "ki_r_large", 0);
}
AT_BOTH(FUNCTION_TOO_LARGE, "ki_reasons:ki_r_large", ask_large)

static void ask_inside(struct answer *a)
{
	struct request r;
	struct ki_window *w;

	request_begin(&r);
	w = request_window(&r, world_function("ki_reasons", "ki_r_plain"), 0, 1, KI_BOARD_TRAP);
	w->addr++;
	request_ask(&r, a);
	request_end(&r);
}
ASKED(NOT_BOUNDARY, ask_inside)

/* Over the end of the function. */
static void ask_end(struct answer *a)
{
	struct request r;
	struct ki_window *w;

	request_begin(&r);
	w = request_window(&r, world_function("ki_reasons", "ki_r_plain"), 21, 1, KI_BOARD_TRAP);
	w->len = 40;
	request_ask(&r, a);
	request_end(&r);
}
ASKED(NO_SYMBOL, ask_end)

static void ask_nowhere(struct answer *a)
{
	struct request r;
	struct ki_window *w;

	request_begin(&r);
	w = request_window(&r, world_function("ki_reasons", "ki_r_plain"), 0, 1, KI_BOARD_TRAP);
	w->addr = 0x1000;
	request_ask(&r, a);
	request_end(&r);
}
const struct reason_case case_NOT_TEXT = {
	.ask = ask_nowhere, .tool = {"stat", "0x1000", "--", "true"}, .names = "0x1000"};

/* What the library alone refuses: the driver is not asked for it. */
AT_POINT(BACKWARD, "ki_reasons:ki_r_std+1")
AT_POINT(INDIRECT_EDGE, "ki_reasons:ki_r_table:edge/3")
AT_POINT(COMPUTED_GOTO, "ki_reasons:ki_r_goto:block/0")
AT_POINT(NO_CODE, "ki_reasons:ki_r_nothing")
AT_POINT(ENTRY_REPEATED, "ki_reasons:ki_r_repeated")
AT_POINT(RETURN_ENTERED, "ki_reasons:ki_r_again:returns")

IN_SUITE(INIT_TEXT, "test/unit/target/test_map.c")
IN_SUITE(HELPER_PATH, "test/guest/code/image.sh")
IN_SUITE(RESTARTABLE, "test/process/started.sh")
IN_SUITE(GO_RESUMED, "test/process/languages.sh")
