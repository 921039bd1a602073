// SPDX-License-Identifier: LGPL-2.1-only OR BSD-2-Clause
#include <errno.h>
#include <inttypes.h>
#include <string.h>
#include <unistd.h>

#include "kerninst/catalog.h"
#include "kerninst/metric.h"
#include "kerninst/sessions.h"
#include "out/json.h"
#include "out/table.h"

/* Calls it for each session that counts events. False: the driver cannot be asked. */
static bool each_user(void (*call)(void *arg, const struct ki_session_row *s), void *arg)
{
	struct ki_session_row s = {0};
	int fd = ki_sessions_fd(NULL);

	if (fd < 0)
		return false;
	while (ki_session_next(fd, &s) > 0)
		if (s.events)
			call(arg, &s);
	close(fd);
	return true;
}

/* Is it counted here? *why is the reason if not; the kernel may not tell: "unknown". */
static const char *here(size_t n, struct ki_err *why)
{
	if (!ki_event_check(n, why))
		return "yes";
	return why->reason ? "no" : "unknown";
}

/* The reason after the event's name, which stands beside it. */
static const char *reason(const char *name, const struct ki_err *why)
{
	const size_t len = strlen(name);

	if (!why->code)
		return NULL;
	return strncmp(why->msg, name, len) || strncmp(why->msg + len, ": ", 2)
		       ? why->msg
		       : why->msg + len + 2;
}

static void user_json(void *arg, const struct ki_session_row *s)
{
	struct ki_json *j = arg;

	ki_json_open(j, NULL, '{');
	ki_json_u64(j, "session", s->session);
	ki_json_u64(j, "pid", s->pid);
	ki_json_str(j, "command", s->comm);
	ki_json_u64(j, "uid", s->uid);
	ki_json_u64(j, "events", s->events);
	ki_json_close(j);
}

static int print_json(FILE *out)
{
	const char *name;
	struct ki_json j;

	ki_json_init(&j, out);
	ki_json_open(&j, NULL, '{');
	ki_json_open(&j, "events", '[');
	for (size_t n = 0; (name = ki_event_at(n)); n++) {
		struct ki_err why = {0};

		ki_json_open(&j, NULL, '{');
		ki_json_str(&j, "name", name);
		ki_json_str(&j, "here", here(n, &why));
		ki_json_str(&j, "why", reason(name, &why));
		ki_json_close(&j);
	}
	ki_json_close(&j);
	ki_json_open(&j, "users", '[');
	each_user(user_json, &j);
	ki_json_close(&j);
	ki_json_close(&j);
	return ki_json_end_line(&j);
}

struct users {
	FILE *out;
	unsigned int n;
};

static void user_line(void *arg, const struct ki_session_row *s)
{
	struct users *u = arg;

	u->n++;
	fprintf(u->out, "session %" PRIu64 " (%.*s, process %u, uid %u) counts %u events\n",
		(uint64_t)s->session, KI_COMM_LEN, s->comm, s->pid, s->uid, s->events);
}

static int print_table(const struct ki_page *page)
{
	static const struct ki_column columns[] = {
		{"EVENT", KI_ALIGN_LEFT, 0}, {"HERE", KI_ALIGN_LEFT, 0}, {"WHY", KI_ALIGN_LEFT, 0}};
	struct users users = {.out = page->out};
	struct ki_table *t;
	const char *name;
	int ret;

	if (ki_table_new(&t, columns, 3))
		return -ENOMEM;
	for (size_t n = 0; (name = ki_event_at(n)); n++) {
		struct ki_err why = {0};

		ki_table_cell(t, "%s", name);
		ki_table_cell(t, "%s", here(n, &why));
		ki_table_cell(t, "%s", why.code ? reason(name, &why) : "");
	}
	ret = ki_table_print(t, page->out, page->bold);
	ki_table_free(t);
	if (ret)
		return ret;
	putc('\n', page->out);
	if (!each_user(user_line, &users))
		fputs("the driver cannot be asked who counts events\n", page->out);
	else if (!users.n)
		fputs("no session counts events\n", page->out);
	return 0;
}

int ki_events_show(const struct ki_page *page)
{
	return page->json ? print_json(page->out) : print_table(page);
}
