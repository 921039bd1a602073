/* SPDX-License-Identifier: LGPL-2.1-only OR BSD-2-Clause */
/*
 * Errors and the table of reasons.
 */
#include "kerninst/err.h"

#include <errno.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <strings.h>

struct reason {
	const char *tag;
	int err;
	const char *text;
	const char *hint;
};

static const struct reason reasons[] = {
#define KI_REASON(tag, err, text, hint) {#tag, err, text, hint},
#include "uapi/kerninst_reasons.def"
#undef KI_REASON
};

static const struct reason unknown = {"UNKNOWN", EINVAL, "refused for a reason unknown here",
				      "driver and library may be of different versions"};

static const struct reason *find(unsigned int reason)
{
	return reason < KI_R_COUNT ? &reasons[reason] : &unknown;
}

void ki_err_clear(struct ki_err *err)
{
	if (err)
		memset(err, 0, sizeof(*err));
}

__attribute__((format(printf, 5, 0))) static void
fill(struct ki_err *err, int code, unsigned int reason, uint64_t addr, const char *fmt, va_list ap)
{
	size_t n;

	err->code = code;
	err->reason = reason;
	err->addr = addr;
	vsnprintf(err->msg, sizeof(err->msg), fmt, ap);
	n = strlen(err->msg);
	if (reason != KI_R_OK)
		snprintf(err->msg + n, sizeof(err->msg) - n, "%s%s", n ? ": " : "",
			 find(reason)->text);
	for (char *c = err->msg; *c; c++)
		if (*c == '\n' || *c == '\r')
			*c = ' ';
}

int ki_err_set(struct ki_err *err, int code, uint64_t addr, const char *fmt, ...)
{
	va_list ap;

	if (!err || err->code)
		return code;
	va_start(ap, fmt);
	fill(err, code, KI_R_OK, addr, fmt, ap);
	va_end(ap);
	return code;
}

int ki_err_reason(struct ki_err *err, unsigned int reason, uint64_t addr, const char *fmt, ...)
{
	int code = -ki_reason_errno(reason);
	va_list ap;

	if (!err || err->code)
		return code;
	va_start(ap, fmt);
	fill(err, code, reason, addr, fmt, ap);
	va_end(ap);
	return code;
}

const char *ki_reason_tag(unsigned int reason)
{
	return find(reason)->tag;
}

const char *ki_reason_text(unsigned int reason)
{
	return find(reason)->text;
}

const char *ki_reason_hint(unsigned int reason)
{
	return find(reason)->hint;
}

int ki_reason_errno(unsigned int reason)
{
	return find(reason)->err;
}

int ki_reason_find(const char *tag, unsigned int *reason)
{
	for (unsigned int i = 0; tag && i < KI_R_COUNT; i++) {
		if (strcasecmp(reasons[i].tag, tag) == 0) {
			*reason = i;
			return 0;
		}
	}
	return -ENOENT;
}

void ki_free(void *given)
{
	free(given);
}
