/* SPDX-License-Identifier: LGPL-2.1-only OR BSD-2-Clause */
/*
 * A plan's inside, shared by the part that gathers (plan.c) and the part that talks to the
 * driver (apply.c).
 */
#ifndef KI_SPLICE_PLAN_H
#define KI_SPLICE_PLAN_H

#include <stdbool.h>
#include <stddef.h>

#include "kerninst/splice.h"
#include "util/vec.h"

struct plan_chunk {
	struct ki_chunk c; /* window: index in the plan's windows; reason: of the refusal */
	uint32_t code;	   /* KI_CHUNK_LONG: index in the plan's code */
	uint16_t stage;
	bool installed;	 /* c.id is the driver's */
	bool fresh;	 /* since this apply */
	bool paused;	 /* not to be installed now */
	uint32_t bundle; /* KI_NONE: it stands for itself */
};

/* Chunks [first, first + count) of the plan, which stand or fall together. */
struct plan_bundle {
	uint32_t first, count;
	uint16_t left_out; /* KI_R_OK, or it is not to be installed, for this reason */
};

/* The bundle makes no sense without another. */
struct plan_need {
	uint32_t bundle, needs;
};

/* A long chunk's code, as the driver wants to be told of it. */
struct plan_code {
	struct ki_long_code code;
	struct ki_long req;
	bool shared; /* by several chunks */
};

/* What a plan knows of a window beside struct ki_window. */
struct plan_window {
	uint32_t host;	 /* index of the window in whose tail it bounces; KI_NONE */
	uint32_t chunks; /* that stand in it; 0: it is there only as a host, or in a group */
	uint32_t active; /* of these, that neither rest nor are refused: ki_plan_count_active */
	uint32_t group;	 /* index of its group; KI_NONE */
};

/* Windows [first, first + count) of the plan, a function that is moved. */
struct plan_group {
	uint32_t first, count;
	bool laid;   /* in an order of its own: it is so, or not at all */
	bool single; /* it could not be: its windows are asked for one by one */
};

/* Calls of a function that lead to its replacement where they stand (give_way.c). */
struct plan_led {
	const struct ki_symbol *of;
	uint64_t site;	       /* its ftrace site */
	uint32_t first, count; /* chunks of the plan */
	bool away;	       /* somebody is there: they rest */
};

struct ki_plan {
	ki_vec(struct ki_window) windows; /* first_copy: index in copies */
	ki_vec(struct plan_window) more;  /* one for each of these */
	ki_vec(struct plan_group) groups;
	size_t hosts; /* windows without a chunk */
	ki_vec(struct ki_copy) copies;
	ki_vec(struct plan_chunk) chunks;
	size_t batch; /* windows of one request, hosts not counted; twice as many chunks */
	ki_vec(struct plan_code) codes;
	ki_vec(struct plan_bundle) bundles;
	ki_vec(struct plan_need) needs;
	ki_vec(struct plan_led) led;
	bool user;	 /* it is in a process; */
	bool sheds;	 /* and some of it may be given back before the rest */
	bool driven;	 /* by the driver: what is no jump there is a breakpoint */
	bool tally;	 /* with counters of each thread there (process/tally.h) */
	bool bundling;	 /* chunks that are added belong to the last bundle */
	uint16_t stage;	 /* of chunks that are added */
	uint16_t stages; /* the highest one that has a chunk */
	uint32_t *map;	 /* open hash of window address -> index + 1, 0: free */
	size_t map_cap;
	ki_plan_progress *progress;
	void *progress_arg;
};

#define PLAN_BATCH	4096
#define PLAN_BATCH_MOST (KI_BATCH_WINDOWS / 2 - 1) /* each may bring a host */

/* The plan's next chunk, at a place: its window is in the plan, it is not counted yet. */
int ki_plan_prepare(struct ki_plan *p, const struct ki_insertion *at, struct ki_chunk **out,
		    struct ki_err *err);

/* It is complete: its number. */
uint32_t ki_plan_count(struct ki_plan *p);

/* A function of a group. */
struct plan_member {
	const struct ki_function *fn;
	const struct ki_spans *spans;
	const uint16_t *places; /* of each window, where it stands in the patch; NULL: as in the
				   text, and if it cannot be moved there is no group */
	const bool *asides;	/* of each, whether it stands aside (KI_WINDOW_ASIDE); NULL: none */
	bool calls;		/* its windows have KI_WINDOW_CALL */
	bool *boarded;		/* ki_plan_group's own: which windows need a springboard */
};

/* All windows of n functions as a group; in the order of their addresses, if they have places.
   Nothing of these functions is in the plan. */
int ki_plan_group(struct ki_plan *p, struct plan_member *v, size_t n, struct ki_err *err);

/* For messages. */
const char *ki_plan_name_of(const struct ki_function *fn);

/* Note of each window how many of its chunks are to be there now. */
void ki_plan_count_active(struct ki_plan *p);

/* The same as ki_plan_apply, ki_plan_check and ki_plan_remove, on a session's descriptor. */
int ki_plan_apply_fd(struct ki_plan *p, int fd, bool drop, struct ki_err *err);
int ki_plan_check_fd(struct ki_plan *p, int fd, struct ki_err *err);
/* KI_IOC_UNSPLICE of these, again if a signal comes. */
int ki_unsplice(int fd, const uint32_t *ids, uint32_t n, struct ki_err *err);
int ki_plan_remove_fd(struct ki_plan *p, int fd, struct ki_err *err);
int ki_plan_update_fd(struct ki_plan *p, int fd, struct ki_err *err);

/* The plan's chunks from `first` on are calls of a function that lead elsewhere where they stand.
   -ENOMEM. */
int ki_plan_led(struct ki_plan *p, struct ki_target *t, const struct ki_symbol *of, uint32_t first);

/* ---- bundles (bundle.c) ---- */

/* Refuse a chunk, with all that stands or falls with it. */
void ki_bundle_refuse(struct ki_plan *p, uint32_t id, unsigned int reason);

/* At the beginning of an apply: forget the driver's refusals, note what is left out. */
void ki_bundle_begin(struct ki_plan *p);

/* ---- taking out (remove.c) ---- */

/* A request failed as a whole: say why. */
int ki_plan_failed(struct ki_err *err, const char *what, int error, uint32_t reason);

/* Does whoever is told of the progress want to go on? */
int ki_plan_tell(const struct ki_plan *p, size_t done, size_t all, struct ki_err *err);

/*
 * Take out the installed ones for which `is` holds (NULL: all), the last stage first. listener: who
 * is told of the progress, which cannot stop this; NULL: nobody.
 */
typedef bool ki_chunk_is(const struct plan_chunk *c);
int ki_plan_take_out(struct ki_plan *p, int fd, ki_chunk_is *is, const struct ki_plan *listener,
		     struct ki_err *err);

#endif
