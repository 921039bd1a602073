/* SPDX-License-Identifier: LGPL-2.1-only OR BSD-2-Clause */
/*
 * JSON, written as it comes, to a stream of the caller's. No allocation. The first failure is
 * kept, so only the end needs a check:
 *
 *	struct ki_json j;
 *	ki_json_init(&j, file);
 *	ki_json_open(&j, NULL, '{');
 *	ki_json_str(&j, "point", "vfs_read");
 *	ki_json_u64(&j, "value", 7);
 *	ki_json_close(&j);
 *	ret = ki_json_end_line(&j);
 *
 * The key is NULL inside an array and at the top. Every value is correct JSON whatever it holds:
 * bytes that are not UTF-8 become U+FFFD; a number that not every reader can hold exactly (2^53
 * and more) becomes a string; a double that is no number becomes null.
 */
#ifndef KI_OUT_JSON_H
#define KI_OUT_JSON_H

#include <stdbool.h>
#include <stdint.h>
#include <stdio.h>

#define KI_JSON_DEPTH 16

struct ki_json {
	FILE *out;
	int err; /* 0, or the first failure: -EIO, -EINVAL for misuse */
	unsigned int depth;
	char close[KI_JSON_DEPTH]; /* what ends each open value */
	bool comma;		   /* something stands before the next value */
};

void ki_json_init(struct ki_json *j, FILE *out);

void ki_json_open(struct ki_json *j, const char *key, char kind); /* '{' or '[' */
void ki_json_close(struct ki_json *j);				  /* the innermost */

void ki_json_str(struct ki_json *j, const char *key, const char *s); /* NULL: null */
void ki_json_u64(struct ki_json *j, const char *key, uint64_t n);
void ki_json_i64(struct ki_json *j, const char *key, int64_t n);
void ki_json_hex(struct ki_json *j, const char *key, uint64_t addr); /* "0x..." */
void ki_json_double(struct ki_json *j, const char *key, double d);
void ki_json_bool(struct ki_json *j, const char *key, bool b);

/* End the line, with everything closed: 0, or the first failure. The stream may still hold it. */
int ki_json_end_line(struct ki_json *j);

#endif
