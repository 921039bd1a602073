// SPDX-License-Identifier: GPL-2.0-only
#include "respond.h"

#include <stdlib.h>
#include <string.h>
#include <unistd.h>

static const char policy[] =
	"default-src 'none'; script-src 'self'; style-src 'self'; img-src 'self' data:; "
	"connect-src 'self'; worker-src 'self'; base-uri 'none'; form-action 'none'; "
	"frame-ancestors 'none'";

static enum MHD_Result send_it(struct MHD_Connection *conn, unsigned int status,
			       struct MHD_Response *m, const char *type, const char *cache)
{
	enum MHD_Result ret;

	if (!m)
		return MHD_NO;
	MHD_add_response_header(m, MHD_HTTP_HEADER_CONTENT_TYPE, type);
	MHD_add_response_header(m, MHD_HTTP_HEADER_CACHE_CONTROL, cache);
	MHD_add_response_header(m, "Content-Security-Policy", policy);
	MHD_add_response_header(m, "X-Content-Type-Options", "nosniff");
	MHD_add_response_header(m, "Referrer-Policy", "no-referrer");
	MHD_add_response_header(m, "Cross-Origin-Resource-Policy", "same-origin");
	if (status == MHD_HTTP_UNAUTHORIZED)
		MHD_add_response_header(m, MHD_HTTP_HEADER_WWW_AUTHENTICATE, "Bearer");
	ret = MHD_queue_response(conn, status, m);
	MHD_destroy_response(m);
	return ret;
}

enum MHD_Result respond(struct MHD_Connection *conn, struct reply *r)
{
	struct MHD_Response *m;

	if (r->body.failed || !r->status)
		reply_no_memory(r);
	m = MHD_create_response_from_buffer(r->body.n, r->body.v, MHD_RESPMEM_MUST_FREE);
	if (!m)
		return MHD_NO;
	r->body = (struct text){0};
	if (r->packed)
		MHD_add_response_header(m, MHD_HTTP_HEADER_CONTENT_ENCODING, "gzip");
	return send_it(conn, r->status, m, r->type, "no-store");
}

enum MHD_Result respond_asset(struct MHD_Connection *conn, const struct asset *a, const char *tag)
{
	char own[24];
	bool same;
	struct MHD_Response *m;

	asset_tag(a, own);
	same = tag && strstr(tag, own);
	m = MHD_create_response_from_buffer(same ? 0 : (size_t)(a->end - a->start),
					    (void *)(uintptr_t)a->start, MHD_RESPMEM_PERSISTENT);
	if (m)
		MHD_add_response_header(m, MHD_HTTP_HEADER_ETAG, own);
	return send_it(conn, same ? MHD_HTTP_NOT_MODIFIED : MHD_HTTP_OK, m, a->type, "no-cache");
}

struct file {
	struct text head;
	int fd;
};

static ssize_t read_file(void *arg, uint64_t pos, char *buf, size_t max)
{
	struct file *f = arg;
	ssize_t n;

	if (pos < f->head.n) {
		n = (ssize_t)(f->head.n - pos < max ? f->head.n - pos : max);
		memcpy(buf, f->head.v + pos, (size_t)n);
		return n;
	}
	n = pread(f->fd, buf, max, (off_t)(pos - f->head.n));
	return n > 0 ? n : MHD_CONTENT_READER_END_WITH_ERROR;
}

static void free_file(void *arg)
{
	struct file *f = arg;

	text_free(&f->head);
	if (f->fd >= 0)
		close(f->fd);
	free(f);
}

enum MHD_Result respond_file(struct MHD_Connection *conn, struct command *c)
{
	struct file *f = calloc(1, sizeof(*f));
	struct MHD_Response *m;

	if (!f)
		return MHD_NO;
	f->head = c->reply.body;
	f->fd = c->fd;
	c->reply.body = (struct text){0};
	c->fd = -1;
	m = MHD_create_response_from_callback(f->head.n + c->size, 64 << 10, read_file, f,
					      free_file);
	if (!m) {
		free_file(f);
		return MHD_NO;
	}
	MHD_add_response_header(m, "Content-Disposition",
				"attachment; filename=\"session.kperfmon\"");
	return send_it(conn, 200, m, c->reply.type, "no-store");
}

static ssize_t read_events(void *arg, uint64_t pos, char *buf, size_t max)
{
	ssize_t n = stream_read(arg, buf, max);

	(void)pos;
	return n < 0 ? MHD_CONTENT_READER_END_OF_STREAM : n;
}

static void close_events(void *arg)
{
	stream_close(arg);
}

enum MHD_Result respond_events(struct MHD_Connection *conn, struct clients *cs,
			       struct client **held, struct command *c)
{
	struct stream *s = stream_open(cs, *held, conn, &c->reply.body);
	struct MHD_Response *m;

	if (!s)
		return MHD_NO;
	*held = NULL;
	m = MHD_create_response_from_callback(MHD_SIZE_UNKNOWN, 32 << 10, read_events, s,
					      close_events);
	if (!m) {
		stream_close(s);
		return MHD_NO;
	}
	return send_it(conn, 200, m, "text/event-stream", "no-store");
}
