// SPDX-License-Identifier: GPL-2.0-only
#include "routes.h"

#include <string.h>
#include <unistd.h>

#include "d_program.h"

static void answer_nothing(struct reply *r)
{
	r->status = 200;
	r->type = TYPE_JSON;
	text_str(&r->body, "{}\n");
}

static void info(struct engine *e, struct command *c)
{
	struct doc d;

	if (doc_begin(&d)) {
		reply_no_memory(&c->reply);
		return;
	}
	engine_info(e, &d.j, NULL);
	doc_reply(&d, &c->reply);
}

static void metrics(struct engine *e, struct command *c)
{
	struct doc d;

	if (doc_begin(&d)) {
		reply_no_memory(&c->reply);
		return;
	}
	e->source->metrics(e->source, &d.j, NULL);
	doc_reply(&d, &c->reply);
}

static void functions(struct engine *e, struct command *c)
{
	e->source->functions(e->source, c->process, &c->reply);
	if (c->more)
		pack(&c->reply);
}

static void processes(struct engine *e, struct command *c)
{
	if (e->source->processes)
		e->source->processes(e->source, &c->reply);
	else
		reply_error(&c->reply, 409, "REPLAY", "a recording has no processes to look at");
}

static void function(struct engine *e, struct command *c)
{
	struct client *seen = client_find(&e->clients, c->client);

	if (!*c->name) {
		reply_error(&c->reply, 400, "NO_NAME", "?name= is missing");
		return;
	}
	e->source->function(e->source, c->name, &c->reply);
	if (seen && c->reply.status == 200)
		recording_add(&seen->recording, engine_now() - seen->began, "function",
			      c->reply.body.v, c->reply.body.n);
}

static void inserted(struct engine *e, struct command *c)
{
	e->source->inserted(e->source, client_find(&e->clients, c->client), &c->reply);
}

static void openmetrics(struct engine *e, struct command *c)
{
	e->source->openmetrics(e->source, c->more, &c->reply);
}

/* Who asks, by the body; NULL, and the reply says so. */
static struct client *asker(struct engine *e, struct command *c)
{
	const char *id = json_string_value(json_object_get(c->body, "client"));
	struct client *client = client_find(&e->clients, id ? id : "");

	if (!client)
		reply_error(&c->reply, 404, "NO_CLIENT",
			    "no such client; its stream of events names it");
	return client;
}

static json_t *list_of(struct command *c, const char *name)
{
	json_t *list = json_object_get(c->body, name);

	if (json_is_array(list))
		return list;
	reply_error(&c->reply, 400, "BAD_REQUEST", "'%s' is no list", name);
	return NULL;
}

static void add(struct engine *e, struct command *c)
{
	struct client *client = asker(e, c);
	json_t *curves = client ? list_of(c, "curves") : NULL;

	if (!curves)
		return;
	e->source->add(e->source, client, curves, &c->reply);
	if (c->reply.status == 200)
		recording_add(&client->recording, engine_now() - client->began, "curves",
			      c->reply.body.v, c->reply.body.n);
}

static void remove_curves(struct engine *e, struct command *c)
{
	struct client *client = asker(e, c);
	json_t *ids = client ? list_of(c, "ids") : NULL;

	if (ids)
		e->source->remove(e->source, client, ids, &c->reply);
}

static void interval(struct engine *e, struct command *c)
{
	struct client *client = asker(e, c);
	json_t *ms = json_object_get(c->body, "ms");

	if (!client)
		return;
	if (!json_is_integer(ms) || json_integer_value(ms) < INTERVAL_LEAST ||
	    json_integer_value(ms) > INTERVAL_MOST) {
		reply_error(&c->reply, 400, "BAD_REQUEST", "'ms' is a number from %d to %d",
			    INTERVAL_LEAST, INTERVAL_MOST);
		return;
	}
	client->interval_ms = (unsigned int)json_integer_value(ms);
	if (!e->options.replay)
		client->due = engine_now();
	answer_nothing(&c->reply);
}

static void clear(struct engine *e, struct command *c)
{
	d_stop_all(e);
	e->source->clear(e->source);
	answer_nothing(&c->reply);
}

static void run_d(struct engine *e, struct command *c)
{
	struct client *client = asker(e, c);

	if (client)
		d_begin(e, client, c);
}

static void stop_d(struct engine *e, struct command *c)
{
	struct client *client = asker(e, c);

	if (!client)
		return;
	d_stop(e, client);
	answer_nothing(&c->reply);
}

static struct client *new_client(struct engine *e, struct command *c)
{
	struct client *client;

	if (e->clients.n >= CLIENTS_MAX) {
		reply_error(&c->reply, 429, "TOO_MANY_CLIENTS", "there are %d clients already",
			    CLIENTS_MAX);
		return NULL;
	}
	client = client_new(&e->clients, e->options.spool, e->options.record_max, false);
	if (client) {
		client->interval_ms = e->options.interval_ms;
		if (!e->source->begin(e->source, client))
			return client;
		if (client->own)
			e->source->end(e->source, client);
		client_free(&e->clients, client);
	}
	reply_no_memory(&c->reply);
	return NULL;
}

/* The reply is the stream's first event. */
static void events(struct engine *e, struct command *c)
{
	struct client *client = client_find(&e->clients, c->client);
	struct text hello = {0};
	struct doc d;

	if (!client)
		client = new_client(e, c);
	if (!client)
		return;
	if (doc_begin(&d)) {
		reply_no_memory(&c->reply);
		return;
	}
	ki_json_open(&d.j, NULL, '{');
	ki_json_str(&d.j, "client", client->id);
	engine_info(e, &d.j, "info");
	ki_json_close(&d.j);
	if (!doc_end(&d, &hello)) {
		text_str(&c->reply.body, "retry: 1000\nevent: hello\ndata: ");
		text_put(&c->reply.body, hello.v, hello.n);
		text_str(&c->reply.body, "\n\n");
	}
	text_free(&hello);
	c->reply.status = 200;
	c->held = client;
	client_hold(&e->clients, client);
}

static void append_functions(struct engine *e, struct text *to)
{
	struct reply functions = {0};

	e->source->functions(e->source, "", &functions);
	if (functions.status == 200) {
		text_str(to, "{\"t\":0,\"event\":\"functions\",\"data\":");
		text_put(to, functions.body.v,
			 functions.body.n - (functions.body.v[functions.body.n - 1] == '\n'));
		text_str(to, "}\n");
	}
	text_free(&functions.body);
}

/* The reply is the first lines; the file has the others. */
static void recording(struct engine *e, struct command *c)
{
	struct client *client = client_find(&e->clients, c->client);
	struct doc d;

	if (!client) {
		reply_error(&c->reply, 404, "NO_CLIENT", "?client= is no client");
		return;
	}
	if (doc_begin(&d)) {
		reply_no_memory(&c->reply);
		return;
	}
	ki_json_open(&d.j, NULL, '{');
	ki_json_u64(&d.j, "kerninst-session", 1);
	engine_info(e, &d.j, "info");
	e->source->metrics(e->source, &d.j, "metrics");
	ki_json_close(&d.j);
	doc_reply(&d, &c->reply);
	text_str(&c->reply.body, "\n");
	if (c->more)
		append_functions(e, &c->reply.body);
	recording_catch_up(&client->recording, engine_now() - client->began);
	c->fd = client->recording.fd < 0 ? -1 : dup(client->recording.fd);
	c->size = client->recording.size;
	c->reply.type = "application/x-ndjson";
}

static const struct route routes[] = {
	{"GET", "/api/info", info, ROUTE_ANSWER},
	{"GET", "/api/metrics", metrics, ROUTE_ANSWER},
	{"GET", "/api/functions", functions, ROUTE_ANSWER},
	{"GET", "/api/processes", processes, ROUTE_ANSWER},
	{"GET", "/api/function", function, ROUTE_ANSWER},
	{"GET", "/api/inserted", inserted, ROUTE_ANSWER},
	{"GET", "/api/events", events, ROUTE_EVENTS},
	{"GET", "/api/recording", recording, ROUTE_RECORDING},
	{"GET", "/metrics", openmetrics, ROUTE_ANSWER},
	{"POST", "/api/curves", add, ROUTE_ANSWER},
	{"POST", "/api/curves/remove", remove_curves, ROUTE_ANSWER},
	{"POST", "/api/interval", interval, ROUTE_ANSWER},
	{"POST", "/api/clear", clear, ROUTE_ANSWER},
	{"POST", "/api/d", run_d, ROUTE_ANSWER},
	{"POST", "/api/d/stop", stop_d, ROUTE_ANSWER},
};

const struct route *route_find(const char *method, const char *path, bool *known)
{
	*known = false;
	for (size_t i = 0; i < sizeof(routes) / sizeof(*routes); i++) {
		if (strcmp(routes[i].path, path) != 0)
			continue;
		*known = true;
		if (!strcmp(routes[i].method, method))
			return &routes[i];
	}
	return NULL;
}
