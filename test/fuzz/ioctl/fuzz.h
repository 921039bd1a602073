/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * ioctl_fuzz, its parts:
 *   ioctl_fuzz	sessions, threads, children; what must be true at the end
 *   corpus	valid windows of real functions, and valid requests made of them
 *   long	requests with long chunks
 *   numbers	requests for counters, variables, words of threads
 *   mutate	memory that is bad on purpose, and what is done to a request
 *   call	one call of each kind, and the tally of what came of it
 */
#ifndef KI_FUZZ_H
#define KI_FUZZ_H

#include <stdatomic.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "uapi/kerninst.h"

/* ---- random numbers: xorshift64* ---- */

struct rng {
	uint64_t state;
};

static inline uint64_t rng_next(struct rng *r)
{
	r->state ^= r->state >> 12;
	r->state ^= r->state << 25;
	r->state ^= r->state >> 27;
	return r->state * 0x2545f4914f6cdd1dull;
}

static inline uint32_t rng_below(struct rng *r, uint32_t n)
{
	return (rng_next(r) >> 32) % n;
}

static inline bool rng_one_in(struct rng *r, uint32_t n)
{
	return !rng_below(r, n);
}

/* Independent streams of one seed. */
static inline struct rng rng_split(uint64_t seed, uint64_t stream)
{
	struct rng r = {(seed + 1) * 0x9e3779b97f4a7c15ull ^ (stream + 1) * 0xd1342543de82ef95ull};

	if (!r.state)
		r.state = 1;
	rng_next(&r);
	return r;
}

/* ---- the tally, shared with children ---- */

enum op {
	OP_INFO,
	OP_READ,
	OP_RESERVED,
	OP_COUNTERS,
	OP_SPLICE,
	OP_UNSPLICE,
	OP_MMAP,
	OP_FILE, /* read, write, poll, lseek, ... */
	OP_GLOBALS,
	OP_GLOBAL,
	OP_WORDS,
	OP_INSIDE,
	OP_RING,
	OP_STACKS,
	OP_TEXTS,
	OP_EVENT,
	OP_TABLE,
	OP_PROCESS,
	OP_PROCESS_MEMORY,
	OP_PROCESS_MAP,
	OP_PROCESS_EDIT,
	OP_PROCESS_GO,
	OP_PROCESS_RELEASE,
	OP_LONG,    /* SPLICE with a long chunk */
	OP_KCOV,    /* all of KCOV's file */
	OP_UNKNOWN, /* ioctl numbers that there are not */
	OPS
};

#define ERRNO_MAX 134

struct tally {
	atomic_ulong calls[OPS], accepted[OPS];
	atomic_ulong by_errno[ERRNO_MAX];
	atomic_ulong by_reason[KI_R_COUNT];
	atomic_uint wrong; /* things that must not be */
};

extern struct tally *tally;

/* Note something that must not be; the run goes on and fails at its end. */
void wrong(const char *fmt, ...) __attribute__((format(printf, 1, 2)));

/* A new session's descriptor; exits on failure. */
int device_open(void);

/* ---- corpus ---- */

#define TEMPLATE_COPIES KI_WINDOW_INSNS
#define FUNCTION_MAX	8
#define TEXT_BYTES	4096

/* The functions that windows are taken of. */
struct text {
	uint64_t addr;
	size_t len;
	bool cold; /* has a part elsewhere, which jumps back into it */
	uint8_t bytes[TEXT_BYTES];
};
extern struct text texts[FUNCTION_MAX];
extern unsigned int ntexts;

/*
 * vary.c: other springboards than the planner's, calls that lead elsewhere, and groups. A bounce
 * takes a wait when it goes, so without dry it is rarely asked for.
 */
void vary_windows(struct ki_window *w, unsigned int n, bool dry, struct rng *r);

/* A window that may be installed with flag-destroying chunks at any of its slots. */
struct template
{
	struct ki_window window;
	struct ki_copy copies[TEMPLATE_COPIES];
	bool waits; /* the driver must wait for tasks: slow */
	bool raw;   /* made of bytes at random: chunks must keep the flags */
};

extern struct template *templates;	/* in order of address */
extern unsigned int ntemplates, nquick; /* nquick of them do not wait */

/* The window before the first instruction of __x64_sys_getppid that can be displaced. */
extern const struct template *getppid_entry;

void corpus_make(void); /* through a session of its own, closed on return; exits on failure */
bool corpus_text_intact(void);
/* A window of a function that is never called here: what is put there does not run. */
const struct template *corpus_never_run(struct rng *r);

/* ---- arena: where requests lie in memory ---- */

#define ARENA_BYTES (32u << 20)

/*
 * Writable memory, then a page that may only be read, then one without any access. One per
 * thread, at an address of which no few flipped bits lead to anything that is mapped.
 */
struct arena {
	uint8_t *base;
	size_t used;
};

void arena_make(struct arena *a, unsigned int number);
void *arena_take(struct arena *a, size_t len); /* the arena wraps before it is full */
void *arena_end(const struct arena *a);	       /* the first byte that is not writable */

/* ---- one session as the fuzzer sees it ---- */

#define IDS_KEPT 64

struct session {
	int fd;
	uint32_t first_counter, ncounters, first_global, first_word;
	uint64_t map_bytes, global_bytes, cpus;
	_Atomic uint32_t ids[IDS_KEPT];
	atomic_uint nids;
};

/* What a request consists of in memory; mutations work on these pieces. */
#define PIECES 7

struct request {
	unsigned long cmd;
	struct {
		uint8_t *at;
		size_t len;
	} piece[PIECES]; /* the first is the request's structure */
	unsigned int npieces;
	uintptr_t arg;
};

typedef void request_maker(struct request *q, const struct session *s, struct arena *a,
			   struct rng *r);

/* Take memory for one; it is zero. */
void *request_piece(struct request *q, struct arena *a, size_t len);
/* long.c: one of test/guest/long/samples*.c, where it does not run: it may be changed to anything.
 */
void request_make_long(struct request *q, const struct session *s, struct arena *a, struct rng *r);
/* numbers.c */
void request_make_counters(struct request *q, const struct session *s, struct arena *a,
			   struct rng *r);
void request_make_global(struct request *q, const struct session *s, struct arena *a,
			 struct rng *r);
void request_make_globals(struct request *q, const struct session *s, struct arena *a,
			  struct rng *r);
void request_make_words(struct request *q, const struct session *s, struct arena *a, struct rng *r);
void request_make_inside(struct request *q, const struct session *s, struct arena *a,
			 struct rng *r);
void request_make_table(struct request *q, const struct session *s, struct arena *a, struct rng *r);
void request_make_texts(struct request *q, const struct session *s, struct arena *a, struct rng *r);
void request_make_stacks(struct request *q, const struct session *s, struct arena *a,
			 struct rng *r);
void request_make_ring(struct request *q, const struct session *s, struct arena *a, struct rng *r);
void request_make_event(struct request *q, const struct session *s, struct arena *a, struct rng *r);
/* watch.c; progress: a number that changes as long as calls end */
void watch_begin(unsigned long (*progress)(void));
/* process.c */
void victims_begin(void); /* before anything is made that a fork would copy */
request_maker request_make_process, request_make_process_memory, request_make_process_map,
	request_make_process_edit, request_make_process_go, request_make_process_release;
void request_make(struct request *q, enum op op, const struct session *s, struct arena *a,
		  struct rng *r);
/* May leave the request as it is. */
void request_mutate(struct request *q, struct arena *a, struct rng *r);

/* ---- calls ---- */

/* Of KCOV's file: what it returned, and errno. */
long kcov_call(struct rng *r);

void call_random(struct session *s, struct arena *a, struct rng *r);

#endif
