/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * What a request is answered with, and JSON made for it.
 */
#ifndef KERNINSTD_REPLY_H
#define KERNINSTD_REPLY_H

#include "kerninst/err.h"
#include "out/json.h"
#include "text.h"

#define TYPE_JSON "application/json"

struct reply {
	unsigned int status;
	const char *type;
	struct text body;
	bool packed; /* the body is gzip's */
};

/* {"error":{"reason":..,"message":..}} in place of what the reply may have had. */
void reply_error(struct reply *r, unsigned int status, const char *reason, const char *fmt, ...)
	__attribute__((format(printf, 4, 5)));
void reply_no_memory(struct reply *r);

/* The reason's tag; "ERROR" if none of the table fits. */
const char *reply_tag(const struct ki_err *err);

/* Why something is refused, as members "reason" and "message" of the object `key`. */
void reply_refused(struct ki_json *j, const char *key, const char *reason, const char *message);

/* JSON in memory: from doc_begin on j is written; doc_end gives the text. */
struct doc {
	struct ki_json j;
	FILE *f;
	char *v;
	size_t n;
};

int doc_begin(struct doc *d); /* 0, or -ENOMEM: then there is nothing to end */
int doc_end(struct doc *d, struct text *out);
void doc_reply(struct doc *d, struct reply *r); /* 200 and the text */

#endif
