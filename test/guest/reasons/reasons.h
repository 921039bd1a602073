/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * For each reason of the table the request that earns it: case_TAG, declared here from the table
 * and defined in the files by what they are about. A tag without one does not link; one that is in
 * the table no more does not compile.
 */
#ifndef TEST_GUEST_REASONS_H
#define TEST_GUEST_REASONS_H

#include "common/common.h"

/* What came back. */
struct answer {
	int error;		/* an errno, positive */
	unsigned int reason;	/* KI_R_* */
	char where[128];	/* what was asked for */
	char words[KI_ERR_MSG]; /* the library's; "": the driver was asked without it */
};

struct reason_case {
	/* Of the driver or the library; NULL: nothing. */
	void (*ask)(struct answer *a);
	/* A point that the tool is asked to count, and to tell why not. NULL: nothing. */
	const char *point;
	/* The tool's arguments, and the place or the thing that it must name. NULL: nothing. */
	const char *tool[9]; /* ended by NULL */
	const char *names;
	void (*prepare)(void), (*after)(void); /* of the tool's case; NULL: nothing is to be done */
	/* Else: which test it is in that provokes it, and lives in another world than this. */
	const char *suite;
};

#define KI_REASON(tag, err, text, hint) extern const struct reason_case case_##tag;
#include "uapi/kerninst_reasons.def"
#undef KI_REASON

/* The case is of another test: a file below the project's folder that names the tag. */
#define IN_SUITE(tag, file) const struct reason_case case_##tag = {.suite = file};
/* A point that the tool is asked to count. */
#define AT_POINT(tag, at) const struct reason_case case_##tag = {.point = (at)};
/* The same, and the driver is asked for it too, without the library's leave. */
#define AT_BOTH(tag, at, f) const struct reason_case case_##tag = {.ask = (f), .point = (at)};
#define ASKED(tag, f)	    const struct reason_case case_##tag = {.ask = (f)};

/* ---- world.c: what all cases share ---- */

extern struct ki_target *world; /* of root, open from the beginning to the end */

const struct ki_function *world_function(const char *module, const char *name);
uint64_t world_address(const char *module, const char *name);
void world_close(void); /* forget the functions */

/* Run by another: nobody, with no capability but these (CAP_*, -1: none), in a process of its own
   that ends with it. It may not use the target. */
void as_nobody(int cap, void (*f)(struct answer *a), struct answer *a);
void param_set(const char *name, const char *value); /* of the driver, until param_back */
void param_back(void);
/* What an ioctl has returned, and said. */
void answer_of(struct answer *a, int ret, unsigned int reason);

/* ---- request.c: KI_IOC_SPLICE, as hostile as it is made ---- */

#define REQUEST_WINDOWS 4

struct request {
	struct ki_window windows[REQUEST_WINDOWS];
	struct ki_copy copies[REQUEST_WINDOWS * KI_WINDOW_INSNS];
	struct ki_chunk chunks[REQUEST_WINDOWS];
	struct ki_splice req;
	int fd; /* the session */
	uint32_t counter;
};

/* A session of its own, with a counter; closed by request_end. */
void request_begin(struct request *r);
void request_end(struct request *r);
/*
 * One window more: n instructions from the offset on, and a chunk that counts before its first one.
 * What the library would not displace is displaced as it stands.
 */
struct ki_window *request_window(struct request *r, const struct ki_function *fn, uint64_t off,
				 unsigned int n, enum ki_board_kind board);
void request_bounce(struct request *r, const struct ki_function *fn, uint64_t off, uint64_t at);
/* The last chunk is a replacement by that function. */
void request_replace(struct request *r, uint64_t target);
void request_ask(struct request *r, struct answer *a);
/* It must be granted. */
void request_install(struct request *r);

#endif
