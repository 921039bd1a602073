// SPDX-License-Identifier: GPL-2.0-only
#include "d_program.h"

#include <stdlib.h>
#include <string.h>

static void ignore(struct command *c)
{
	(void)c;
}

/* What is said is said by d_look_after, which the engine calls after each command. */
static void take_news(struct engine *e, struct command *c)
{
	struct d_program *p = (struct d_program *)(void *)c;

	(void)e;
	pthread_mutex_lock(&p->lock);
	p->submitted = false;
	pthread_mutex_unlock(&p->lock);
}

static struct d_program *find(struct engine *e, const struct client *c)
{
	struct d_program *p = e->programs;

	while (p && p->client != c)
		p = p->next;
	return p;
}

static void free_program(struct d_program *p)
{
	pthread_mutex_destroy(&p->lock);
	text_free(&p->reply.body);
	text_free(&p->said);
	text_free(&p->events);
	free(p->text);
	free(p);
}

/* NULL: the reply says why not. */
static const char *accept(struct engine *e, struct client *c, struct command *asked)
{
	json_t *text = json_object_get(asked->body, "program");
	size_t n = 0;

	for (struct d_program *p = e->programs; p; p = p->next)
		n++;
	if (e->options.replay)
		reply_error(&asked->reply, 409, "REPLAY", "a recording has no kernel to look at");
	else if (!json_is_string(text))
		reply_error(&asked->reply, 400, "BAD_REQUEST", "'program' is no text");
	else if (json_string_length(text) > D_TEXT_MAX)
		reply_error(&asked->reply, 413, "TOO_LARGE", "the program is too large");
	else if (find(e, c))
		reply_error(&asked->reply, 409, "PROGRAM_RUNS", "this client has a program");
	else if (n >= D_PROGRAMS_MAX)
		reply_error(&asked->reply, 429, "TOO_MANY_PROGRAMS", "%d programs run already",
			    D_PROGRAMS_MAX);
	else
		return json_string_value(text);
	return NULL;
}

void d_begin(struct engine *e, struct client *c, struct command *asked)
{
	const char *text = accept(e, c, asked);
	struct d_program *p;

	if (!text)
		return;
	p = calloc(1, sizeof(*p));
	if (!p) {
		reply_no_memory(&asked->reply);
		return;
	}
	p->news = (struct command){.run = take_news, .answered = ignore};
	p->engine = e;
	p->client = c;
	p->text = strdup(text);
	pthread_mutex_init(&p->lock, NULL);
	if (!p->text || pthread_create(&p->thread, NULL, d_work, p)) {
		free_program(p);
		reply_no_memory(&asked->reply);
		return;
	}
	p->asked = asked;
	asked->later = true;
	p->next = e->programs;
	e->programs = p;
}

static void stop(struct d_program *p)
{
	pthread_mutex_lock(&p->lock);
	p->stop = true;
	pthread_mutex_unlock(&p->lock);
}

void d_stop(struct engine *e, struct client *c)
{
	struct d_program *p = find(e, c);

	if (p)
		stop(p);
}

void d_stop_all(struct engine *e)
{
	for (struct d_program *p = e->programs; p; p = p->next)
		stop(p);
}

void d_leave(struct engine *e, struct client *c)
{
	struct d_program *p = find(e, c);

	if (!p)
		return;
	stop(p);
	p->client = NULL;
}

/* Whoever waits for the compiler. Under the lock. */
static void answer(struct d_program *p)
{
	struct command *asked = p->asked;

	if (!asked || p->state == D_COMPILES)
		return;
	p->asked = NULL;
	if (p->state == D_REFUSED) {
		asked->reply = p->reply;
		p->reply = (struct reply){0};
	} else {
		asked->reply.status = 200;
		asked->reply.type = TYPE_JSON;
		text_str(&asked->reply.body, "{}\n");
	}
	asked->answered(asked);
}

/* As many events as the client's queue has room for. Under the lock. */
static void say(struct d_program *p)
{
	struct clients *cs = &p->engine->clients;
	size_t at = 0;

	d_flush(p);
	while (p->client && at < p->events.n) {
		const char *line = p->events.v + at;
		size_t n = strcspn(line, "\n");

		if (!client_has_room(cs, p->client, n))
			break;
		client_say(cs, p->client, "d", line, n);
		at += n + 1;
	}
	if (!p->client || at == p->events.n) {
		text_free(&p->events);
	} else {
		memmove(p->events.v, p->events.v + at, p->events.n - at + 1);
		p->events.n -= at;
	}
}

/* Has it ended, and all been said? */
static bool look_after(struct d_program *p)
{
	bool done;

	pthread_mutex_lock(&p->lock);
	answer(p);
	say(p);
	done = p->finished && !p->submitted && !p->events.n;
	pthread_mutex_unlock(&p->lock);
	return done;
}

void d_look_after(struct engine *e)
{
	struct d_program **at = &e->programs;

	while (*at) {
		struct d_program *p = *at;

		if (!look_after(p)) {
			at = &p->next;
			continue;
		}
		pthread_join(p->thread, NULL);
		*at = p->next;
		free_program(p);
	}
}

void d_end(struct engine *e)
{
	d_stop_all(e);
	while (e->programs) {
		struct d_program *p = e->programs;

		pthread_join(p->thread, NULL);
		look_after(p);
		e->programs = p->next;
		free_program(p);
	}
}
