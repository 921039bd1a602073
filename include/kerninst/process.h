/* SPDX-License-Identifier: LGPL-2.1-only OR BSD-2-Clause */
/*
 * Splicing into a live process: windows, copies and chunks are the kernel's; this library links
 * them. There are two ways to put them in.
 *
 * Through the driver, where it is loaded and the caller may (CAP_PERFMON, and what ptrace takes):
 * no thread is stopped, and nothing is injected. What only a breakpoint fits is done with one,
 * which the process and its debugger never see. What is installed belongs to a descriptor: however
 * the caller ends, the process gets its text back, and so does what it has forked. Our memory
 * stays mapped in them until they end.
 *
 * Without it, through ptrace and /proc/PID/mem.
 *
 * There what is installed belongs to a guard, a small process of its own that alone traces the
 * process: when the caller ends, for whatever reason, kill -9 too, the guard gives the process its
 * text back. The threads are stopped only while text is written, so a debugger can be attached
 * meanwhile.
 */
#ifndef KERNINST_PROCESS_H
#define KERNINST_PROCESS_H

#include "kerninst/splice.h"

#ifdef __cplusplus
extern "C" {
#endif

/*
 * Start a program that something is to be installed in before it runs. pid is a child of the
 * caller that waits to be told, and then calls execve: `await` comes before it is told,
 * `reach_entry` after. Then the program and its libraries are mapped, their constructors have run
 * (those of a program without a loader have not); and it is stopped before its first instruction:
 * ki_target_new_process can open it. `run` lets it run.
 *
 * It is traced by the calling thread until `reach_entry` has returned, so it gains no privileges
 * from its file's mode; and it is killed if the caller ends before `run`, or calls `free` without
 * that. -ECHILD: it has ended before its entry, and can be waited for.
 */
struct ki_process_launch;
int ki_process_launch_new(pid_t pid, struct ki_process_launch **out, struct ki_err *err);
int ki_process_reach_entry(struct ki_process_launch *l, struct ki_err *err);
/* Up to the first instruction of its main(); of a program whose file does not say where that is, up
 * to its entry. */
int ki_process_reach_main(struct ki_process_launch *l, struct ki_err *err);
void ki_process_run(struct ki_process_launch *l);
void ki_process_launch_free(struct ki_process_launch *l); /* NULL is allowed */

struct ki_splice_process;

/*
 * Add one to counter number `counter` of the process, whichever of its threads runs:
 *
 *	lock incq counter(%rip)		f0 48 ff 05 disp32
 *
 * If the flags are live at the place, they are kept in %rax meanwhile; that is kept below the red
 * zone (the 128 bytes below %rsp that a function may use without taking them):
 *
 *	lea -128(%rsp), %rsp; push %rax; lahf; seto %al; ...; add $127, %al; sahf; pop %rax;
 *	lea 128(%rsp), %rsp
 *
 * Fixup: KI_FIX_GLOBAL. Without the driver threads can be told apart in programs of the GNU C
 * library, not in Go's. There ki_process_new makes of it an addition to a counter of the thread,
 * without the lock; ki_process_read adds them up.
 */
void ki_process_count(struct ki_code *out, uint32_t counter, bool keep_flags);

/*
 * Snippets in a process (user of struct ki_site_regs). Per-CPU variables are words that all its
 * threads share, changed by locked instructions, as global ones are. A thread's words are looked
 * up by its FS base. The 128 bytes below %rsp are left alone. What only the kernel or the driver
 * knows is refused, with its name (-EOPNOTSUPP):
 *    - facts but KI_FACT_TSC, KI_FACT_CPU, KI_FACT_RETVAL, KI_FACT_ADDR and KI_FACT_PLACE
 *    - loads and strings (an address that cannot be read would kill the process)
 *    - calls, records and tables
 *    - divisions but of unsigned numbers by powers of two
 *    - vectors that are read by an index
 *    - minimum and maximum, but of locals
 */

/* What changing the process has cost it. */
struct ki_process_cost {
	uint32_t threads; /* that it had when the text was written */
	uint64_t held_ns; /* how long all of them were held at the longest, from the first that was
			     asked to stop to the last that goes on */
	uint64_t mapping_ns; /* how long one of them was held to map our memory */
	uint32_t moved;	     /* threads that were led into a patch, from bytes that changed */
	bool by_driver;	     /* no thread was held */
	bool left; /* some thread was still in a patch, so the mapping has been left there;
		      the text is as it was */
};

/* Will ki_process_new go through the driver? Then a window may take a breakpoint. */
bool ki_process_by_driver(struct ki_target *t);

/*
 * Install a plan of short chunks (ki_plan_add), snippets (ki_plan_add_snippet) and replacements
 * (ki_plan_replace) in a target of ki_target_new_process, which must live on. Its counters, so
 * many, are 0. What cannot be put into a process is left out, with what is in one bundle with it.
 * ki_plan_refusal says why:
 *    KI_R_NO_TRAP         a window that only a breakpoint fits
 *    KI_R_SHADOW_STACK    a call where there is a shadow stack
 *    KI_R_NOT_IN_PROCESS  KI_RETURNED and chunks of other kinds
 *    KI_R_REPLACE_CIRCLE  replacements of the plan that lead back to where they begin
 *
 * All else goes in, or nothing. The plan need not live on.
 *
 * A thread has the words that have been taken (ki_words_take) from when its code first asks for
 * them. Of more than 4,000 threads some may find no place, and have none: ki_process_lost. Words go
 * when the process ends or becomes another program; what it forks begins with its own.
 *
 * Errors: -ESRCH: the process has ended, or become another program; KI_R_BYTES_CHANGED;
 * KI_R_PROCESS_TRACED, _SECCOMP, _STUCK, _ROOM, _BUSY. Nothing has changed then.
 *
 * What the process forks inherits patches and counters, and keeps them.
 */
int ki_process_new(struct ki_target *t, struct ki_plan *p, uint32_t counters,
		   struct ki_splice_process **out, struct ki_err *err);

/*
 * As ki_process_new, but nothing is put in: what would be left out has its refusal, and what would
 * go in has its window. Errors: the same, but for those that only show when text is written.
 */
int ki_process_check(struct ki_target *t, struct ki_plan *p, uint32_t counters, struct ki_err *err);

/*
 * As ki_process_new, but nothing is left out: the first reason is the error, and nothing has
 * changed. So replacements are installed (ki_plan_replacement), alone or with chunks. What counts
 * or looks at the same place runs before the jump to the other function. Then all calls in all
 * threads lead there; those that have begun end where they began. A library whose function stands
 * for another must not be unmapped meanwhile.
 */
int ki_process_new_whole(struct ki_target *t, struct ki_plan *p, uint32_t counters,
			 struct ki_splice_process **out, struct ki_err *err);

/*
 * Give back the springboards of windows all of whose chunks are paused (ki_plan_pause), and leave
 * the rest: of the plan that it was made of, which lives on, after ki_plan_sheds. A window in whose
 * bytes another one's bounce stands stays with that. KI_R_PROCESS_BUSY, _STUCK: some are there
 * still, and are tried again the next time.
 */
int ki_process_update(struct ki_splice_process *s, struct ki_plan *p, struct ki_err *err);

/*
 * Places of which the kernel is told: a breakpoint of the driver's on an instruction, at whose hits
 * the kernel calls a function that does nothing, ki_process_stub's, but what is spliced there. Its
 * parameters are the place's address and the thread's struct pt_regs, whose ip is that address.
 * What a place shares with others of any process, and with what the process forks, is that
 * function: code there compares parameters and process first. Then the thread goes on in a copy of
 * the instruction: no single step, no signal.
 */
struct ki_process_hit {
	uint64_t addr;
	uint64_t semaphore; /* a word of 16 bits that is one more meanwhile; 0: there is none */
	uint16_t reason;    /* out: KI_R_OK, or why it cannot be had there */
};

/*
 * Put them in, in a target of ki_target_new_process, which must live on; once for each address, as
 * often as it is named. What cannot be had is left out, and has its reason; there is no other way
 * than the driver's. *out is NULL if there is none left. -ENOMEM, -ESRCH; what else keeps all out
 * is the reason of each.
 */
int ki_process_new_hits(struct ki_target *t, struct ki_process_hit *v, size_t n,
			struct ki_splice_process **out, struct ki_err *err);

/*
 * Give back those at n addresses, for good; the others stay. What is none of its, or has gone
 * already, does no harm. Errors: KI_R_NO_MEMORY, and it can be asked for again.
 */
int ki_process_shed_hits(struct ki_splice_process *s, const uint64_t *addrs, size_t n,
			 struct ki_err *err);

/* What the kernel calls at a hit of that address: a symbol of the live target. Its analysis has the
   reason KI_R_SELF, as all of the driver's text has; of that it alone can be spliced. NULL: the
   driver has none. */
const struct ki_symbol *ki_process_stub(const struct ki_target *live, uint64_t addr);
bool ki_process_is_stub(const struct ki_symbol *sym);

/*
 * Let the thread that loads or unloads a library wait, by the driver, KI_PROCESS_HOLD_MS at most:
 * where the program's loader tells debuggers that it has mapped one, and is to unmap one, and has.
 * Of a library that has been mapped nothing has run by then. Only threads of the process itself
 * wait, not of what it forks. ki_process_waits: a descriptor, owned by s, that is readable while
 * one waits; ki_process_go lets it go, -ESRCH: it has gone by itself.
 */
int ki_process_new_loads(struct ki_target *t, struct ki_splice_process **out, struct ki_err *err);
int ki_process_waits(const struct ki_splice_process *s);
int ki_process_go(const struct ki_splice_process *s);

/*
 * Memory of ours in a process: len bytes, at most 1 GB, which are 0, and which its threads may read
 * and write; by ki_target_read_data and ki_target_write_data the caller may, too. What the process
 * forks shares it. It goes with ki_process_memory_free, or however the caller ends, unless a thread
 * has its address on its stack by then. Errors as of ki_process_new; -EINVAL: no such length.
 */
int ki_process_memory_new(struct ki_target *t, size_t len, struct ki_splice_process **out,
			  struct ki_err *err);
uint64_t ki_process_memory(const struct ki_splice_process *s); /* where it is */
void ki_process_memory_free(struct ki_splice_process *s);      /* NULL is allowed */

/* Costs the process nothing, and goes on when it has ended. */
uint64_t ki_process_read(const struct ki_splice_process *s, uint32_t counter);

/* How often a thread has asked for its words and had no place for them. */
uint64_t ki_process_lost(const struct ki_splice_process *s);

/* A descriptor that is readable when the process has ended. Owned by s. */
int ki_process_ended(const struct ki_splice_process *s);

const struct ki_process_cost *ki_process_cost(const struct ki_splice_process *s);

/*
 * Give the process its text back. Where something else stands meanwhile than was put there, it is
 * left. A process that has ended is no error. Counters can be read on until ki_process_free.
 */
int ki_process_remove(struct ki_splice_process *s, struct ki_err *err);

/* With ki_process_remove, if that has not been done. NULL is allowed. */
void ki_process_free(struct ki_splice_process *s);

#ifdef __cplusplus
}
#endif

#endif
