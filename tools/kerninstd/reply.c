// SPDX-License-Identifier: GPL-2.0-only
#include "reply.h"

#include <errno.h>
#include <stdarg.h>
#include <stdlib.h>
#include <string.h>

int doc_begin(struct doc *d)
{
	*d = (struct doc){0};
	d->f = open_memstream(&d->v, &d->n);
	if (!d->f)
		return -ENOMEM;
	ki_json_init(&d->j, d->f);
	return 0;
}

int doc_end(struct doc *d, struct text *out)
{
	int ret = d->j.depth ? -EINVAL : d->j.err;

	if (fclose(d->f))
		ret = ret ? ret : -ENOMEM;
	text_free(out);
	if (ret) {
		free(d->v);
		return ret;
	}
	*out = (struct text){.v = d->v, .n = d->n, .cap = d->n + 1};
	return 0;
}

void doc_reply(struct doc *d, struct reply *r)
{
	if (doc_end(d, &r->body)) {
		reply_no_memory(r);
		return;
	}
	r->status = 200;
	r->type = TYPE_JSON;
}

void reply_no_memory(struct reply *r)
{
	static const char text[] =
		"{\"error\":{\"reason\":\"NO_MEMORY\",\"message\":\"out of memory\"}}";

	text_free(&r->body);
	text_str(&r->body, text);
	r->status = 503;
	r->type = TYPE_JSON;
	r->packed = false;
}

void reply_refused(struct ki_json *j, const char *key, const char *reason, const char *message)
{
	ki_json_open(j, key, '{');
	ki_json_str(j, "reason", reason);
	ki_json_str(j, "message", message);
	ki_json_close(j);
}

void reply_error(struct reply *r, unsigned int status, const char *reason, const char *fmt, ...)
{
	char message[1024];
	struct doc d;
	va_list ap;

	va_start(ap, fmt);
	vsnprintf(message, sizeof(message), fmt, ap);
	va_end(ap);
	r->packed = false;
	if (doc_begin(&d)) {
		reply_no_memory(r);
		return;
	}
	ki_json_open(&d.j, NULL, '{');
	reply_refused(&d.j, "error", reason, message);
	ki_json_close(&d.j);
	doc_reply(&d, r);
	if (r->status == 200)
		r->status = status;
}

const char *reply_tag(const struct ki_err *err)
{
	return err->reason ? ki_reason_tag(err->reason) : "ERROR";
}
