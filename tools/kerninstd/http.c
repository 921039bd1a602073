// SPDX-License-Identifier: GPL-2.0-only
#include "http.h"

#include <errno.h>
#include <microhttpd.h>
#include <stdlib.h>
#include <string.h>
#include <strings.h>
#include <unistd.h>

#include "assets.h"
#include "respond.h"
#include "routes.h"

enum state { STATE_READING, STATE_WAITING, STATE_ANSWERED };

struct request {
	struct command command; /* the first member: the engine gives it back */
	struct http *http;
	struct MHD_Connection *conn;
	const struct route *route;
	const struct asset *asset; /* asked for in place of a route */
	struct text upload;
	bool too_large;
	enum state state;
};

static const char *header(struct MHD_Connection *conn, const char *name)
{
	return MHD_lookup_connection_value(conn, MHD_HEADER_KIND, name);
}

static const char *argument(struct MHD_Connection *conn, const char *name)
{
	const char *v = MHD_lookup_connection_value(conn, MHD_GET_ARGUMENT_KIND, name);

	return v ? v : "";
}

static bool has_token(struct http *h, struct MHD_Connection *conn, const struct route *route)
{
	static const char bearer[] = "Bearer ";
	const char *said = header(conn, MHD_HTTP_HEADER_AUTHORIZATION);

	if (said && !strncasecmp(said, bearer, sizeof(bearer) - 1))
		return guard_is_token(h->guard, said + sizeof(bearer) - 1);
	return route && route->kind == ROUTE_EVENTS &&
	       guard_is_token(h->guard, argument(conn, "token"));
}

static enum MHD_Result refuse(struct MHD_Connection *conn, unsigned int status, const char *reason,
			      const char *message)
{
	struct reply r = {0};

	reply_error(&r, status, reason, "%s", message);
	return respond(conn, &r);
}

/* Who asks from where: true, and *ret, if that has been refused. */
static bool is_refused(struct http *h, struct MHD_Connection *conn, enum MHD_Result *ret)
{
	const char *host = header(conn, MHD_HTTP_HEADER_HOST);

	if (!h->guard)
		return false;
	if (!guard_is_host(h->guard, host)) {
		*ret = refuse(conn, 421, "WRONG_HOST", "Host is not the address listened to");
		return true;
	}
	if (!guard_is_origin(header(conn, MHD_HTTP_HEADER_ORIGIN), host)) {
		*ret = refuse(conn, 403, "WRONG_ORIGIN", "Origin is not this page");
		return true;
	}
	return false;
}

static void answered(struct command *c)
{
	struct request *r = (struct request *)(void *)c;

	MHD_resume_connection(r->conn);
}

static bool accepts(struct MHD_Connection *conn, const char *name, const char *what)
{
	const char *v = header(conn, name);

	return v && strstr(v, what);
}

/* What the command is about. false: it has been refused. */
static bool make_command(struct request *r, enum MHD_Result *ret)
{
	struct command *c = &r->command;
	json_error_t error;

	c->run = r->route->run;
	c->answered = answered;
	c->name = argument(r->conn, "name");
	c->client = argument(r->conn, "client");
	c->process = argument(r->conn, "process");
	c->more = *argument(r->conn, "functions") == '1' ||
		  (!strcmp(r->route->path, "/api/functions") &&
		   accepts(r->conn, MHD_HTTP_HEADER_ACCEPT_ENCODING, "gzip")) ||
		  (!strcmp(r->route->path, "/metrics") &&
		   accepts(r->conn, MHD_HTTP_HEADER_ACCEPT, "application/openmetrics-text"));
	if (!strcmp(r->route->method, "GET"))
		return true;
	*ret = MHD_YES;
	if (r->too_large || r->upload.failed)
		*ret = refuse(r->conn, 413, "TOO_LARGE", "the request's body is too large");
	else if (r->http->read_only)
		*ret = refuse(r->conn, 403, "READ_ONLY", "the daemon is read-only");
	else if (!(c->body = json_loadb(r->upload.v ? r->upload.v : "", r->upload.n, 0, &error)) ||
		 !json_is_object(c->body))
		*ret = refuse(r->conn, 400, "BAD_REQUEST", "the body is no object of JSON");
	else
		return true;
	return false;
}

/* The connection must be suspended before the engine can resume it. */
static enum MHD_Result submit(struct request *r)
{
	enum MHD_Result ret;

	if (!make_command(r, &ret))
		return ret;
	r->state = STATE_WAITING;
	MHD_suspend_connection(r->conn);
	if (engine_submit(r->http->engine, &r->command))
		return MHD_YES;
	reply_error(&r->command.reply, 503, "STOPPING", "the daemon is about to stop");
	MHD_resume_connection(r->conn);
	return MHD_YES;
}

static enum MHD_Result answer(struct request *r)
{
	struct command *c = &r->command;

	r->state = STATE_ANSWERED;
	if (c->held)
		return respond_events(r->conn, &r->http->engine->clients, &c->held, c);
	if (r->route->kind == ROUTE_RECORDING && c->reply.status == 200)
		return respond_file(r->conn, c);
	return respond(r->conn, &c->reply);
}

static enum MHD_Result take_upload(struct request *r, const char *data, size_t *n)
{
	if (r->upload.n + *n > BODY_MAX)
		r->too_large = true;
	else
		text_put(&r->upload, data, *n);
	*n = 0;
	return MHD_YES;
}

/* A request's headers are there. */
static enum MHD_Result begin(struct http *h, struct MHD_Connection *conn, const char *url,
			     const char *method, void **own)
{
	const struct asset *asset = asset_find(url);
	const struct route *route;
	enum MHD_Result ret;
	struct request *r;
	bool known;

	if (is_refused(h, conn, &ret))
		return ret;
	route = route_find(method, url, &known);
	if (strcmp(method, "GET") != 0 && strcmp(method, "HEAD") != 0)
		asset = NULL;
	if (!asset && h->guard && !has_token(h, conn, route))
		return refuse(conn, 401, "NO_TOKEN", "the token is missing or wrong");
	if (!route && !asset)
		return known || asset_find(url)
			       ? refuse(conn, 405, "BAD_METHOD", "not by this method")
			       : refuse(conn, 404, "NO_SUCH_PATH", "there is no such path");
	r = calloc(1, sizeof(*r));
	if (!r)
		return MHD_NO;
	r->http = h;
	r->conn = conn;
	r->route = route;
	r->asset = asset;
	r->command.fd = -1;
	*own = r;
	return MHD_YES;
}

static enum MHD_Result handle(void *arg, struct MHD_Connection *conn, const char *url,
			      const char *method, const char *version, const char *data, size_t *n,
			      void **own)
{
	struct request *r = *own;

	(void)version;
	if (!r)
		return begin(arg, conn, url, method, own);
	if (*n)
		return take_upload(r, data, n);
	if (r->asset)
		return respond_asset(conn, r->asset, header(conn, MHD_HTTP_HEADER_IF_NONE_MATCH));
	if (r->state == STATE_READING)
		return submit(r);
	return r->state == STATE_WAITING ? answer(r) : MHD_NO;
}

static void completed(void *arg, struct MHD_Connection *conn, void **own,
		      enum MHD_RequestTerminationCode why)
{
	struct request *r = *own;

	(void)arg;
	(void)conn;
	(void)why;
	if (!r)
		return;
	if (r->command.held)
		client_release(&r->http->engine->clients, r->command.held);
	if (r->command.fd >= 0)
		close(r->command.fd);
	json_decref(r->command.body);
	text_free(&r->command.reply.body);
	text_free(&r->upload);
	free(r);
	*own = NULL;
}

int http_start(struct http *h, int fd)
{
	h->daemon = MHD_start_daemon(
		MHD_USE_EPOLL_INTERNAL_THREAD | MHD_ALLOW_SUSPEND_RESUME, 0, NULL, NULL, handle, h,
		MHD_OPTION_LISTEN_SOCKET, fd, MHD_OPTION_NOTIFY_COMPLETED, completed, NULL,
		MHD_OPTION_CONNECTION_LIMIT, (unsigned int)CONNECTIONS_MAX,
		MHD_OPTION_CONNECTION_TIMEOUT, (unsigned int)CONNECTION_PATIENCE,
		MHD_OPTION_STRICT_FOR_CLIENT, 1, MHD_OPTION_END);
	return h->daemon ? 0 : -EIO;
}

void http_quiesce(struct http *h)
{
	int fd = h->daemon ? MHD_quiesce_daemon(h->daemon) : -1;

	if (fd >= 0)
		close(fd);
}

void http_stop(struct http *h)
{
	if (h->daemon)
		MHD_stop_daemon(h->daemon);
	h->daemon = NULL;
}
