/* SPDX-License-Identifier: LGPL-2.1-only OR BSD-2-Clause */
/*
 * Patches of a process, linked: what goes into its memory where, and what is written into its text.
 */
#ifndef KI_PROCESS_LINKED_H
#define KI_PROCESS_LINKED_H

#include "kerninst/process.h"
#include "target/process.h"
#include "util/vec.h"

#define KI_PAGE 4096ull

/* Bytes of the text that change: a springboard, or a bounce. */
struct ki_edit {
	uint64_t addr;
	uint8_t len;
	bool bounce;
	uint8_t flags; /* KI_PROCESS_HIT; KI_PROCESS_SEMAPHORE */
	uint8_t orig[5], now[5];
	uint64_t via; /* where it leads; of a bounce, and of what leads to one: 0 */
};

struct ki_patched {
	uint64_t addr; /* of the window */
	uint64_t at;   /* of its patch */
	uint8_t ninsns;
	uint8_t off[KI_WINDOW_INSNS];	 /* of each displaced instruction in the window */
	uint32_t place[KI_WINDOW_INSNS]; /* of what stands for it in the patch, its chunks included
					  */
};

/*
 * A mapping of ours in reach of some windows: the counters (the same in all), then patches. base:
 * in the process.
 */
struct ki_arena {
	uint64_t lo, hi; /* addresses that it must reach */
	uint64_t base;
	uint64_t off;	   /* of its patches in the shared file */
	uint32_t from, to; /* its windows, in order of address */
	size_t len;	   /* of the patches, in whole pages */
	size_t rows;	   /* of the threads' words behind them; 0: another one has these */
	uint8_t *code;
};

struct ki_linked {
	const struct ki_plan *plan;
	uint32_t counters;
	size_t counters_len;	 /* with the blocks of threads, in whole pages */
	size_t shared_len;	 /* of the block that all share */
	uint32_t blocks, stride; /* of threads, behind it (tally.c); 0: there are none */
	uint64_t tally;		 /* where the rows are that say whose a block is */
	uint32_t words;		 /* of each thread */
	uint64_t rows;		 /* where these are, in the first arena; 0: there are none */
	ki_vec(uint32_t) chunks; /* the plan's that are installed: by window, place and order */
	ki_vec(uint32_t) order;	 /* the plan's windows that are installed, by address */
	ki_vec(struct ki_patched) windows; /* in the same order */
	ki_vec(struct ki_edit) edits;	   /* in order of address */
	uint8_t *released;		   /* of each what it says, shared; NULL: all are there */
	ki_vec(struct ki_arena) arenas;
	ki_vec(uint64_t) forbidden; /* where nobody may come back to while edits stand, in order */
};

/* An edit is in the text; it is to be given back; it has been. */
enum ki_released { KI_IN_TEXT, KI_TO_RELEASE, KI_RELEASED };

struct ki_linking {
	struct ki_plan *plan;
	const struct ki_target *target;
	uint32_t counters, words;
	bool shadow_stack;
	bool alone;  /* memory for counters alone, whatever there is in the plan */
	bool driver; /* it writes: there are breakpoints, and no bounces */
	bool tally;  /* threads are known by the word at their FS base */
	const struct ki_process *process;
	uint8_t hits;		    /* all windows get breakpoints with this flag; 0: as they fit */
	const uint64_t *semaphores; /* nsemaphores words to be counted up, none twice */
	size_t nsemaphores;
	const struct ki_mappings *maps;
};

/* Judge the plan's chunks, choose windows, find room in the mappings, link. */
int ki_linked_make(struct ki_linked *x, struct ki_target *t, const struct ki_linking *how,
		   struct ki_err *err);
void ki_linked_free(struct ki_linked *x); /* it is empty then */

/* write.c: what the threads of a process and its text say to our bytes. The threads are stopped. */
struct ki_stop;

/*
 * parts.c: edits that are written, or given back, while the threads are stopped once: from..to of
 * those of one kind. A short springboard comes after all bounces, and goes before them; a bounce
 * never comes before the window that it is in.
 */
struct ki_part {
	size_t from, to;
	bool boards; /* the short springboards; or all else */
};

/* The next one of that kind, {0, 0} being before the first; false: there is none. */
bool ki_part_next(const struct ki_linked *x, struct ki_part *p);
bool ki_part_has(const struct ki_linked *x, const struct ki_part *p, size_t edit);
/* x, but what is forbidden is so while this part is written. Free forbidden. */
int ki_part_of(struct ki_linked *out, const struct ki_linked *x, const struct ki_part *p);
int ki_forbid(struct ki_linked *x, const struct ki_edit *e);

/* Is the text what was analysed? 0, KI_R_BYTES_CHANGED, or -ESRCH. part: where it is written; NULL:
   all. */
int ki_text_check(const struct ki_linked *x, int mem, const struct ki_part *part,
		  struct ki_err *err);

/*
 * Lead threads that are in bytes that change into their patches (*moved: how many);
 * KI_R_PROCESS_BUSY if one will come back there from a signal.
 */
int ki_threads_clear(const struct ki_linked *x, struct ki_stop *s, uint32_t *moved,
		     struct ki_err *err);

/* The same before the text is given back: there bounces alone can be where somebody is. */
int ki_threads_clear_bounces(const struct ki_linked *x, struct ki_stop *s, struct ki_err *err);

/*
 * release.c: mark what is to be given back now: of windows of the plan all of whose chunks are
 * paused; *n: how many edits. The plan's windows know what is active. -ENOMEM.
 */
int ki_linked_release(struct ki_linked *x, size_t *n);
/* Is something of that in a part? */
bool ki_part_releases(const struct ki_linked *x, const struct ki_part *p);

int ki_text_write(const struct ki_linked *x, int mem, const struct ki_part *part,
		  struct ki_err *err);
/* Where our bytes stand. released: only what is to be. */
void ki_text_restore(const struct ki_linked *x, int mem, const struct ki_part *part, bool released);

/* Is some thread in a patch, or will it come back to one? */
bool ki_arenas_in_use(const struct ki_linked *x, const struct ki_stop *s);

/* The place in a patch of the instruction at addr, which is displaced; 0: it is not. */
uint64_t ki_linked_place(const struct ki_linked *x, uint64_t addr);

/* memory.c: an arena without windows, whose only code is a page that nobody goes to. -ENOMEM. */
int ki_linked_memory(struct ki_linked *x, const struct ki_linking *how);

/*
 * words.c: the routine that code calls for the words of its thread. In %rax it returns where they
 * are, or 0 if there are none; all else is as it was, but the flags and what is below %rsp. The
 * counter at `lost` says how often no place was found. While the word at `gate` is 0 no thread has
 * words; then it is ~0. Returns the length; to: NULL, or there it is put.
 */
struct ki_words_at {
	uint64_t code;	     /* where it will stand */
	uint64_t lost, gate; /* the gate in reach of it */
	uint64_t rows;
	uint32_t words; /* of each thread */
};

size_t ki_words_routine(uint8_t *to, const struct ki_words_at *at);

/*
 * Words behind the counters: how often a thread found no words; how many blocks have been taken
 * (tally.c); and the gate of words. It is opened when all of the text has been written: so whatever
 * begins with a thread's word has all its ends in the text, in whichever order that was written.
 */
enum ki_linked_word { KI_WORD_LOST, KI_WORD_TALLY, KI_WORD_GATE, KI_LINKED_WORDS };

#define KI_GATE_OPEN UINT64_MAX

static inline uint64_t ki_linked_word(const struct ki_linked *x, enum ki_linked_word which)
{
	return x->counters + (uint64_t)which;
}

/* room.c: a free place for len bytes that reaches [lo, hi]; 0: there is none. */
uint64_t ki_room_find(const struct ki_mappings *maps, const struct ki_linked *x, uint64_t lo,
		      uint64_t hi, size_t len);

#endif
