/* SPDX-License-Identifier: LGPL-2.1-only OR BSD-2-Clause */
/*
 * Splicing: where code can be put, how displaced instructions are moved, what is installed.
 *
 * Windows are a pure function of a function's bytes and blocks; so any two users of one
 * kernel agree on them without talking to each other (doc/design.md, section 2).
 */
#ifndef KERNINST_SPLICE_H
#define KERNINST_SPLICE_H

#include "kerninst/code.h"
#include "kerninst/snippet.h"

#ifdef __cplusplus
extern "C" {
#endif

/* A window: a run of whole instructions of one block that one springboard displaces. */
struct ki_span {
	uint64_t addr;
	uint64_t bounce; /* KI_BOARD_BOUNCE: where its jmp rel32 stands; else 0 */
	uint32_t first;	 /* its instructions in the function's array */
	uint32_t host;	 /* the window in whose tail the bounce stands: index in the spans;
			    KI_NONE: in filler, or there is no bounce */
	uint8_t count;
	uint8_t len;	 /* bytes, filler of 0xcc after the last instruction included */
	uint8_t board;	 /* enum ki_board_kind */
	uint8_t written; /* of a layout, what the kernel goes on to write in the text: a static
			    branch, KI_WINDOW_BRANCH, or a static call, KI_WINDOW_STATIC_CALL; 0 */
};

struct ki_spans {
	struct ki_span *v; /* in order of address */
	size_t n;
};

/*
 * All windows of a function, each with its springboard. Instructions that may not be displaced
 * are in none.
 *
 * A window with fewer than 5 bytes bounces if some assignment of places to such windows
 * gives it one (the most possible are served); else it traps. Places are filler
 * after code that never falls through, and the tails of windows; where these are too short,
 * neighbouring windows of a block are joined to larger ones. None is over a call. Of places for one
 * window those are preferred where the stack is as deep as at the window.
 */
int ki_spans_find(const struct ki_function *fn, struct ki_spans *out, struct ki_err *err);
void ki_spans_free(struct ki_spans *s);

/*
 * The same for a function that is to be laid out (ki_plan_lay_out). Its static branches, and static
 * calls if it is the kernel's own, are windows too, where control comes to them from the layout
 * alone.
 */
int ki_spans_find_laid(const struct ki_function *fn, struct ki_spans *out, struct ki_err *err);

/*
 * Of ki_spans_find's only the window where code at the function's entry stands, if the rest of the
 * function has no say in that; else KI_FUNCTION_WHOLE. Then the second serves: it finds that window
 * alone, or all. It needs edges that do not lead to the first block, too. 0 or -ENOMEM.
 */
int ki_spans_find_entry(const struct ki_function *fn, struct ki_spans *out, struct ki_err *err);
int ki_spans_find_entry_whole(const struct ki_function *fn, struct ki_spans *out,
			      struct ki_err *err);

/* The window that holds the instruction at addr, or NULL. */
const struct ki_span *ki_spans_at(const struct ki_spans *s, const struct ki_function *fn,
				  uint64_t addr);

/*
 * May tasks be where the window is written? Then the driver waits until they have left, or, in
 * small requests, lets them trap.
 */
bool ki_span_waits(const struct ki_span *s, const struct ki_function *fn);

/*
 * The relocated copy of one instruction: its bytes with the position-dependent field as a fixup.
 * Short branches have their 32-bit form. A call is a call over a byte, whose return address
 * becomes the original one, and a jump. So no return address points into a patch. KI_R_OK, or why
 * it cannot be.
 */
unsigned int ki_relocate(const struct ki_insn *in, const uint8_t *bytes, struct ki_copy *out);

/*
 * Where in a function something is to be put.
 *
 *  ENTRY	when the function is called
 *  EXIT	when it is left: at its returns and its jumps to other functions
 *  EXIT_AFTER	when its caller gets control back: at its returns, and when the functions that it
 *		jumps to have returned
 *  BLOCK	when a block is entered: GILK's pre-hook
 *  BLOCK_END	after the last instruction of a block that control falls out of, before its branch,
 *		jump or return, if it ends in one: GILK's post-hook
 *  INSN	before an instruction
 *  AFTER	after an instruction: where control goes on if it is no branch, or one that is not
 *		taken; after a call: when it has returned
 *  EDGE	when control leaves a block by one of its edges
 *  CALLS	before each call in the function
 *  RETURNS	after each call in the function that comes back
 *  START	before the first instruction that does anything: all is as the caller left it, and
 *		the function can be replaced there
 */
enum ki_point_kind {
	KI_POINT_ENTRY,
	KI_POINT_EXIT,
	KI_POINT_BLOCK,
	KI_POINT_INSN,
	KI_POINT_BLOCK_END,
	KI_POINT_AFTER,
	KI_POINT_EDGE,
	KI_POINT_CALLS,
	KI_POINT_RETURNS,
	KI_POINT_START,
	KI_POINT_EXIT_AFTER,
	KI_POINT_KINDS
};

struct ki_point {
	enum ki_point_kind kind;
	uint32_t block; /* KI_POINT_BLOCK, KI_POINT_BLOCK_END: its number */
	uint32_t edge;	/* KI_POINT_EDGE: its number in the function's array */
	uint64_t addr;	/* KI_POINT_INSN, KI_POINT_AFTER: address of the instruction */
};

/* A place that a point stands for: one side of one instruction. */
struct ki_place {
	uint64_t addr;	 /* the instruction */
	uint16_t reason; /* KI_R_OK, or why nothing can be put there */
	uint8_t where;	 /* enum ki_where */
	bool flags_live; /* code there must keep the flags */
};

/*
 * The places of a point: as many as there are returns and tail jumps for EXIT and EXIT_AFTER, calls
 * for CALLS and RETURNS; one for all others. Code at the places of a point runs once whenever the
 * point is passed, and never else; where that cannot be had, the place has the reason.
 *
 * ENTRY and BLOCK: the first instruction of the block that is in a window, provided that nothing
 * before it in the block could leave the block; else, for a block that only one edge leads to, that
 * edge. EDGE: its side of the branch; else the beginning of the block that it leads to, if nothing
 * else leads there: so some edges of static branches, of jump tables and of exceptions have a place
 * too. INSN: if the instruction must stay where it is, after the one before it.
 * A place after a call is before the instruction that it returns to; if something else jumps there
 * too, it is refused with KI_R_RETURN_ENTERED. ENTRY and START are refused with
 * KI_R_ENTRY_REPEATED if something but calls leads there.
 * EXIT_AFTER: at an indirect tail jump it is refused with KI_R_TAIL_UNKNOWN; at a direct one it is
 * for the driver to say, when the plan is applied, whether it can be. -EINVAL with
 * KI_R_NOT_BOUNDARY for an address inside an instruction; KI_R_NO_SUCH_SIDE is the reason of AFTER
 * an instruction that nothing comes after. Caller frees *out.
 */
int ki_point_places(const struct ki_function *fn, const struct ki_spans *spans,
		    const struct ki_point *pt, struct ki_place **out, size_t *count,
		    struct ki_err *err);

/*
 * A point's name after that of its function, which names an instrument together with its order:
 *
 *	:entry :exit :exit:after :calls :returns	:block/N :block/N:post	:edge/N	+0x1c
 *+0x1c:after
 *
 * and, if the order is not 0, "/ORDER" after it. ":block/N:pre" and "+0x1c:before" are read too,
 * and decimal offsets. start: the function's address. Names are one to one: what is written is
 * read as the same point and order. START has none.
 */
#define KI_POINT_NAME_LEN 48

/* 0; -EINVAL: no such kind of point. */
int ki_point_format(const struct ki_point *pt, uint64_t start, uint16_t order,
		    char name[KI_POINT_NAME_LEN]);

/* 0; -EINVAL: no point's name. It is not looked whether the function has such a point. */
int ki_point_parse(const char *name, uint64_t start, struct ki_point *pt, uint16_t *order);

/*
 * A plan: chunks at places, of any number of functions, to be installed together. Adding does
 * not touch the kernel.
 */
struct ki_plan;

int ki_plan_new(struct ki_plan **out);
void ki_plan_free(struct ki_plan *p);

/* Where something is put in. None of the three need live on. */
struct ki_insertion {
	const struct ki_function *fn;
	const struct ki_spans *spans; /* the function's */
	const struct ki_place *place;
	uint16_t order; /* of several at one place the one with the lowest runs first */
};

/*
 * Put a snippet's code at a place. Of several at one place the one with the lowest order runs
 * first, of equal ones the one installed first, by whichever session. *id numbers it within the
 * plan (0, 1, ...). On a refusal the plan is as it was, and err has the reason. The function and
 * its spans need not live on. Windows that this one depends on are taken in with it.
 */
int ki_plan_add(struct ki_plan *p, const struct ki_insertion *at, const struct ki_code *code,
		uint32_t *id, struct ki_err *err);

/*
 * What a snippet finds at a place. live: the registers and flags that are live there (of KI_BEFORE
 * it is what ki_live_at says of the instruction); NULL: not known, so all are.
 *
 * at_entry: before an instruction of the function's first block with nothing before it but the
 * ftrace site, nops and pushes, which are counted. at_exit: before a return, or after what a tail
 * jump has led to (KI_RETURNED).
 */
void ki_place_site(const struct ki_function *fn, const struct ki_place *place,
		   const ki_regset *live, struct ki_site_regs *out);

/*
 * Compile a snippet for a place and put it there, as ki_plan_add does. site: what is free there and
 * what is known; NULL: ki_place_site without a live set. Flags that place->flags_live says are dead
 * are dead in either case. The snippet need not live on.
 */
int ki_plan_add_snippet(struct ki_plan *p, const struct ki_insertion *at,
			const struct ki_snippet *snippet, const struct ki_site_regs *site,
			uint32_t *id, struct ki_err *err);

/*
 * Put code at a place that has been compiled for it. On success it is the plan's, and *code empty;
 * otherwise it stays the caller's.
 */
int ki_plan_add_code(struct ki_plan *p, const struct ki_insertion *at, struct ki_long_code *code,
		     uint32_t *id, struct ki_err *err);

/*
 * Put the code of chunk `like` at another place too, where it has to mean the same: who asks knows
 * that the same registers and flags are free there, and that nothing in it is about its place. The
 * two share what ki_plan_add_snippet or ki_plan_add_code has put there.
 */
int ki_plan_add_like(struct ki_plan *p, const struct ki_insertion *at, uint32_t like, uint32_t *id,
		     struct ki_err *err);

/*
 * Compile another snippet for the place of chunk id, whose code is long, shared with no other, and
 * not installed. On a failure the chunk is as it was.
 */
int ki_plan_set_snippet(struct ki_plan *p, uint32_t id, const struct ki_snippet *snippet,
			const struct ki_site_regs *site, struct ki_err *err);

/* The code of chunk id; NULL: it is a short one, or there is no such chunk. */
const struct ki_long_code *ki_plan_code(const struct ki_plan *p, uint32_t id);

/*
 * Replace: a function, at the place of its START, by the one at target, which is called as the
 * original is; or one direct call or jump (the place: its address, KI_TAKEN), which goes to target
 * instead. Several may stand at one place: the one installed last counts, until it is taken out.
 */
int ki_plan_replace(struct ki_plan *p, const struct ki_insertion *at, uint64_t target, uint32_t *id,
		    struct ki_err *err);

/* Calls that are meant: with this value in an argument's register. */
struct ki_guard {
	uint8_t reg;	/* enum ki_reg */
	uint64_t value; /* as a sign-extended number of 32 bits */
	bool half;	/* its lower 32 bits are compared, else all 64 */
};

/*
 * At the place of a function's START: calls with one value go to the function at target, two
 * instructions more (cmp, je); all others go on as before. -ERANGE: the value has more bits.
 */
int ki_plan_guard(struct ki_plan *p, const struct ki_insertion *at, const struct ki_guard *g,
		  uint64_t target, struct ki_err *err);

/*
 * Move the whole function: link all its windows into one patch, so that a chunk in it costs its own
 * instructions and nothing else; but coming back from each call of the function costs a jump. To be
 * asked for before anything else of the function is added. It is a preference: where it cannot be
 * (another session has windows of the function; it is no single piece), windows stay single.
 * KI_R_OK, or the reason why the function cannot be touched at all.
 */
int ki_plan_move(struct ki_plan *p, const struct ki_function *fn, const struct ki_spans *spans,
		 struct ki_err *err);

/*
 * The window of a direct call or jump that can lead elsewhere where it stands, with no springboard:
 * of five bytes, and by itself in its window or after the springboard, in which none bounces.
 * NULL: it is none.
 */
const struct ki_span *ki_span_of_call(const struct ki_function *fn, const struct ki_spans *spans,
				      uint64_t addr);

/* How a function is laid out; or a caller's call, which leads to one that is. */
struct ki_layout {
	const struct ki_function *fn;
	const struct ki_spans *spans;
	const uint32_t *blocks; /* the numbers of its blocks, each once, in the order wanted */
	uint32_t nhot;		/* so many of them, which come first, are hot */
	uint32_t turn;		/* what has a smaller one stands before it; else by address */
	bool aside;		/* its hot blocks stand aside, in the last bytes of pages */
	uint64_t call;		/* not 0: where fn calls; blocks and nhot are not looked at */
	uint32_t id;		/* out: of a chunk without code, which keeps it so */
};

/*
 * Lay n functions out together: move them into one patch, where the hot blocks of all stand first,
 * function by function (in the order of `turn`), then the others. They make their calls from
 * there, and calls and jumps from one to another of them stay there as long as ftrace is not used;
 * so nothing but what may not be displaced is executed in the text. To be asked for before
 * anything else of these functions is added. It is so or it is refused, all of it: -EINVAL for
 * what is no order, a reason for a function that cannot be moved. All are of the kernel, or of one
 * module, and in order of address.
 *
 * Hot blocks that stand aside are in the last KI_ASIDE bytes of pages, and all others are not: in a
 * first-level cache, which finds its sets by the bits within a page, the ones do not take the
 * others' place. Cold blocks stand between them.
 *
 * A call (ki_span_of_call) of another function is changed where it stands in the text: it leads
 * past the ftrace site of a function that is laid out, which the caller goes to itself as soon as
 * ftrace is used.
 */
int ki_plan_lay_out(struct ki_plan *p, struct ki_layout *v, size_t n, struct ki_err *err);

/*
 * Would moving it spare breakpoints? So it is if a window that one of these places stands in has no
 * other springboard, and the moved function none that needs one. 0, or -ENOMEM.
 */
int ki_move_spares(const struct ki_function *fn, const struct ki_spans *spans,
		   const struct ki_place *places, size_t n, bool *spares);

/* Functions that are moved: asked for, or, when the plan has been applied, done. */
size_t ki_plan_moved(const struct ki_plan *p);

/*
 * Stages: what is added from here on is installed when all of lower stages is, and taken out before
 * it. 0 at first; not more than 65535.
 */
void ki_plan_stage(struct ki_plan *p, unsigned int stage);

/*
 * Bundles: what is added between begin and end stands or falls together: if the driver refuses a
 * part of it and refusals may be dropped, none of it stays, and all of its chunks have that
 * reason. A bundle may need others, without which it is not installed either. One that is left out
 * is never installed. -ENOMEM.
 */
int ki_plan_bundle_begin(struct ki_plan *p, uint32_t *bundle);
void ki_plan_bundle_end(struct ki_plan *p);
int ki_plan_bundle_need(struct ki_plan *p, uint32_t bundle, uint32_t needs);
void ki_plan_leave_out(struct ki_plan *p, uint32_t bundle, unsigned int reason);

size_t ki_plan_windows(const struct ki_plan *p); /* distinct windows, hosts included */
size_t ki_plan_hosts(const struct ki_plan *p); /* windows that are there only for others' bounces */
size_t ki_plan_chunks(const struct ki_plan *p);
/* Windows for which the driver may have to wait until no task is where bytes change. */
size_t ki_plan_waits(const struct ki_plan *p);

/* Why the driver refused chunk id at the last ki_plan_apply: KI_R_OK if it did not. */
unsigned int ki_plan_refusal(const struct ki_plan *p, uint32_t id);

/*
 * Called between requests with how many chunks have been done, of all. false: stop, which removing
 * does not.
 */
typedef bool ki_plan_progress(void *arg, size_t done, size_t all);

/* Who is told of the progress of applying and removing; NULL: none. */
void ki_plan_on_progress(struct ki_plan *p, ki_plan_progress *f, void *arg);

/*
 * How many windows one request may hold, instead of 4096: if there are more, fewer waits are
 * needed, but other sessions wait longer for the driver.
 */
void ki_plan_batch(struct ki_plan *p, size_t windows);

/*
 * Install a plan through the session of a live target: all of it or nothing. If the driver
 * refuses places and drop is true, they are left out (ki_plan_refusal tells which) and the rest
 * is installed; if drop is false, the call fails with the first reason. -ECANCELED, and nothing
 * installed, if the progress function wants to stop.
 */
int ki_plan_apply(struct ki_plan *p, struct ki_target *t, bool drop, struct ki_err *err);

/*
 * Ask the driver about everything, and install nothing: ki_plan_refusal then tells what
 * ki_plan_apply would leave out now.
 */
int ki_plan_check(struct ki_plan *p, struct ki_target *t, struct ki_err *err);

/*
 * A chunk that is paused is not installed, and keeps what else it is. Updating takes out those that
 * have been paused since the plan was applied, and puts in those that are paused no longer. What
 * the driver refused before is not asked for again. What it refuses now is left out, with all that
 * stands or falls with it, also where that has stood since before.
 */
void ki_plan_pause(struct ki_plan *p, uint32_t id, bool pause);

/* Before a plan is installed in a process: some of its chunks may be given back before the rest
   (ki_process_update). Then no driver does it. */
void ki_plan_sheds(struct ki_plan *p);
int ki_plan_update(struct ki_plan *p, struct ki_target *t, struct ki_err *err);

/* Take out what was installed: all of the plan; its ids stay valid for another apply. */
int ki_plan_remove(struct ki_plan *p, struct ki_target *t, struct ki_err *err);

/*
 * Counters of a session, mapped to read: values cost the kernel nothing to read.
 */
struct ki_counter_map;

int ki_counter_map_new(struct ki_target *t, struct ki_counter_map **out, struct ki_err *err);
void ki_counter_map_free(struct ki_counter_map *m);

/* Take a run of `count` zeroed counters; KI_R_COUNTERS_FULL if there are not so many. */
int ki_counters_take(struct ki_target *t, uint32_t count, uint32_t *first, struct ki_err *err);

/* Counter n of one CPU, and the sum of all CPUs. Wraps at 2^64. */
uint64_t ki_counter_read_cpu(const struct ki_counter_map *m, uint32_t n, unsigned int cpu);
uint64_t ki_counter_read(const struct ki_counter_map *m, uint32_t n);

/*
 * Global variables: a run of `count`, zeroed. Mapped to read; what is not there reads 0. One is set
 * at once, for code that runs meanwhile; -EACCES: it was not taken through this target.
 */
struct ki_global_map;

int ki_globals_take(struct ki_target *t, uint32_t count, uint32_t *first, struct ki_err *err);
int ki_global_set(struct ki_target *t, uint32_t n, uint64_t value, struct ki_err *err);
int ki_global_map_new(struct ki_target *t, struct ki_global_map **out, struct ki_err *err);
void ki_global_map_free(struct ki_global_map *m);
uint64_t ki_global_read(const struct ki_global_map *m, uint32_t n);

/*
 * Words of threads: a run of `count`, 0 in every thread (KI_IOC_WORDS). And of those that hold
 * start times by a clock, which threads are inside (KI_IOC_INSIDE): rows[count]; *now is the time
 * stamp counter.
 */
struct ki_words_run {
	enum ki_clock clock;
	uint32_t first, count;
};
int ki_words_take(struct ki_target *t, uint32_t count, uint32_t *first, struct ki_err *err);
int ki_words_inside(struct ki_target *t, const struct ki_words_run *run, struct ki_inside_row *rows,
		    uint64_t *now, struct ki_err *err);

/*
 * An event, counted from now on until the target is closed (KI_IOC_EVENT, flags: KI_EVENT_*), for
 * helper EVENT.
 */
struct ki_event_spec {
	uint32_t type; /* as in perf_event_open(2) */
	uint64_t config;
	const char *name; /* for messages */
};

int ki_event_take(struct ki_target *t, const struct ki_event_spec *spec, uint32_t flags,
		  uint32_t *number, struct ki_err *err);

/* What is to be replaced. Whether both functions take and return the same cannot be checked. */
struct ki_replacement {
	const char *text;		/* how errors call it */
	const struct ki_symbol *in;	/* the function, or the one whose calls are meant */
	const struct ki_symbol *callee; /* the direct calls of this; NULL */
	uint64_t offset;		/* the one call there, from the beginning of `in`; 0 */
	const struct ki_symbol *to;	/* what is called instead */
	const struct ki_guard *guard;	/* of a function: only calls with this value; NULL: all */
	/* Of ki_plan_replace_callers: is this call meant? NULL: all are. */
	bool (*meant)(void *arg, const struct ki_symbol *caller, uint64_t call);
	/* Called for each place that is planned; NULL: nothing is. */
	void (*told)(void *arg, const struct ki_replacement *r, const struct ki_place *place);
	void *arg;
};

/*
 * Plan it, in the kernel (ki_plan_apply) or in a process (ki_process_new_whole). 0, or -errno: a
 * place that is refused, or no such call.
 */
int ki_plan_replacement(struct ki_plan *p, struct ki_target *t, const struct ki_replacement *r,
			struct ki_err *err);

/*
 * Plan that the direct calls of the function r->in by others of the kernel lead to r->to where
 * they stand: *n of them. That is beside what ki_plan_replacement plans for all others. Those that
 * cannot are left out. What is changed so is no call of r->in any more: tracers, kprobes and
 * livepatches of that see it only if it gives way to them (ki_plan_give_way). The whole kernel is
 * analysed for it. 0, -EINVAL: r is of calls; or -errno.
 */
int ki_plan_replace_callers(struct ki_plan *p, struct ki_target *t, const struct ki_replacement *r,
			    size_t *n, struct ki_err *err);

/* The direct calls of a function, so many, come to it again (away), or lead to the replacement. */
typedef void ki_plan_gave_way(void *arg, const struct ki_symbol *of, size_t calls, bool away);

/*
 * Let what ki_plan_replace_callers has planned give way: while anybody uses the ftrace site of the
 * replaced function (function tracer, kprobe at the entry, BPF program, livepatch): its calls come
 * to it, and find the replacement after the site. To be called before the plan is applied, and then
 * as often as it is to be noticed: it reads five bytes of each such function, and changes text only
 * if a user has come or gone. told, which may be NULL, hears of each function that is changed.
 * 0, or as ki_plan_update.
 */
int ki_plan_give_way(struct ki_plan *p, struct ki_target *t, ki_plan_gave_way *told, void *arg,
		     struct ki_err *err);

#ifdef __cplusplus
}
#endif

#endif
