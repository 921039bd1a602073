// SPDX-License-Identifier: LGPL-2.1-only OR BSD-2-Clause
#include <errno.h>
#include <inttypes.h>

#include "kerninst/catalog.h"
#include "kerninst/sessions.h"
#include "kerninst/target.h"
#include "out/json.h"
#include "out/table.h"
#include "util/user.h"

#define NAME_LEN 192

struct shown {
	const struct ki_page *page;
	const struct ki_target *t;
	int fd;
};

/* FUNCTION+0x12, or the address. */
static void name(const struct shown *o, uint64_t addr, char out[NAME_LEN])
{
	const struct ki_symbol *s = ki_target_symbol_at(o->t, addr);

	if (!s)
		snprintf(out, NAME_LEN, "0x%" PRIx64, addr);
	else if (s->addr == addr)
		snprintf(out, NAME_LEN, "%s%s%s", s->module, *s->module ? ":" : "", s->name);
	else
		snprintf(out, NAME_LEN, "%s%s%s+0x%" PRIx64, s->module, *s->module ? ":" : "",
			 s->name, addr - s->addr);
}

/* The next window, from `from` on: moves it on. */
static bool next_window(const struct shown *o, uint64_t session, uint64_t *from,
			struct ki_session_window *w)
{
	w->addr = *from;
	if (ki_session_window(o->fd, session, o->page->verbose ? 0 : KI_WINDOW_REPLACED, w) <= 0)
		return false;
	*from = w->addr + 1;
	return true;
}

static void json_window(const struct shown *o, struct ki_json *j, const struct ki_session_window *w)
{
	char at[NAME_LEN], by[NAME_LEN];

	name(o, w->addr, at);
	name(o, w->target, by);
	ki_json_open(j, NULL, '{');
	ki_json_str(j, "at", at);
	ki_json_hex(j, "address", w->addr);
	ki_json_u64(j, "bytes", w->len);
	ki_json_u64(j, "chunks", w->chunks);
	ki_json_str(j, "replaced_by", w->target ? by : NULL);
	ki_json_str(j, "holds", *w->module ? w->module : NULL);
	ki_json_close(j);
}

static void json_numbers(struct ki_json *j, const struct ki_session_row *r)
{
	const struct {
		const char *key;
		uint64_t value;
	} numbers[] = {
		{"windows", r->windows}, {"chunks", r->chunks},	  {"replaced", r->replaced},
		{"heap_bytes", r->heap}, {"pages", r->pages},	  {"counters", r->counters},
		{"counted", r->counted}, {"globals", r->globals}, {"words", r->words},
		{"tables", r->tables},	 {"events", r->events},	  {"places", r->places},
	};

	for (size_t i = 0; i < sizeof(numbers) / sizeof(*numbers); i++)
		ki_json_u64(j, numbers[i].key, numbers[i].value);
}

static int print_json(const struct shown *o, const struct ki_session_row *r)
{
	struct ki_session_window w;
	uint64_t from = 0;
	struct ki_json j;
	char user[KI_USER_NAME];

	ki_user_name(r->uid, user);
	ki_json_init(&j, o->page->out);
	ki_json_open(&j, NULL, '{');
	ki_json_u64(&j, "session", r->session);
	ki_json_u64(&j, "pid", r->pid);
	ki_json_str(&j, "command", r->comm);
	ki_json_u64(&j, "uid", r->uid);
	ki_json_str(&j, "user", user);
	ki_json_double(&j, "age", (double)r->age / 1e9);
	ki_json_bool(&j, "self", r->flags & KI_SESSION_SELF);
	ki_json_bool(&j, "evicted", r->flags & KI_SESSION_EVICTED);
	json_numbers(&j, r);
	if (r->process)
		ki_json_u64(&j, "process", r->process);
	else
		ki_json_str(&j, "process", NULL);
	ki_json_open(&j, o->page->verbose ? "in" : "replaces", '[');
	while ((o->page->verbose || r->replaced) && next_window(o, r->session, &from, &w))
		json_window(o, &j, &w);
	ki_json_close(&j);
	ki_json_close(&j);
	return ki_json_end_line(&j);
}

static void add_row(struct ki_table *t, const struct ki_session_row *r)
{
	char user[KI_USER_NAME];

	ki_user_name(r->uid, user);
	ki_table_cell(t, "%" PRIu64, (uint64_t)r->session);
	ki_table_cell(t, "%" PRIu32, r->pid);
	ki_table_cell(t, "%s%s", r->comm, r->flags & KI_SESSION_SELF ? " (this one)" : "");
	ki_table_cell(t, "%s", user);
	ki_table_cell(t, "%.1f s", (double)r->age / 1e9);
	ki_table_cell(t, "%" PRIu32, r->windows);
	ki_table_cell(t, "%" PRIu32, r->chunks);
	ki_table_cell(t, "%" PRIu32, r->replaced);
	ki_table_cell(t, "%" PRIu64, (uint64_t)r->heap);
	ki_table_cell(t, "%" PRIu64, (uint64_t)r->pages);
	ki_table_cell(t, "%" PRIu32, r->counters);
	ki_table_cell(t, "%" PRIu64, (uint64_t)r->counted);
	ki_table_cell(t, "%s", r->flags & KI_SESSION_EVICTED ? "evicted" : "");
}

static void print_windows(const struct shown *o, const struct ki_session_row *r)
{
	char at[NAME_LEN], by[NAME_LEN];
	struct ki_session_window w;
	uint64_t from = 0;

	while (next_window(o, r->session, &from, &w)) {
		name(o, w.addr, at);
		name(o, w.target, by);
		fprintf(o->page->out, "session %" PRIu64 ": %s, %" PRIu32 " chunk%s%s%s%s%s\n",
			(uint64_t)r->session, at, w.chunks, w.chunks == 1 ? "" : "s",
			w.target ? ", replaced by " : "", w.target ? by : "",
			*w.module ? ", holds module " : "", w.module);
	}
}

/* What is to be done with each. 0, or -errno. */
static int each(const struct shown *o, struct ki_table *t,
		int (*call)(const struct shown *o, struct ki_table *t,
			    const struct ki_session_row *r))
{
	struct ki_session_row r = {0};
	int err = 0, more = 0;

	while (!err && (more = ki_session_next(o->fd, &r)) > 0)
		err = call(o, t, &r);
	return err ? err : more;
}

static int one_json(const struct shown *o, struct ki_table *t, const struct ki_session_row *r)
{
	(void)t;
	return print_json(o, r);
}

static int one_row(const struct shown *o, struct ki_table *t, const struct ki_session_row *r)
{
	(void)o;
	add_row(t, r);
	return 0;
}

static void print_process(const struct shown *o, const struct ki_session_row *r)
{
	fprintf(o->page->out,
		"session %" PRIu64 ": process %" PRIu32 ", %" PRIu32 " place%s of its text\n",
		(uint64_t)r->session, r->process, r->places, r->places == 1 ? "" : "s");
}

static int one_list(const struct shown *o, struct ki_table *t, const struct ki_session_row *r)
{
	(void)t;
	if (o->page->verbose || r->replaced)
		print_windows(o, r);
	if (r->process)
		print_process(o, r);
	return 0;
}

static int print_table(const struct shown *o)
{
	static const struct ki_column columns[] = {
		{"SESSION", KI_ALIGN_RIGHT, 0},	 {"PID", KI_ALIGN_RIGHT, 0},
		{"COMMAND", KI_ALIGN_LEFT, 0},	 {"USER", KI_ALIGN_LEFT, 0},
		{"AGE", KI_ALIGN_RIGHT, 0},	 {"WINDOWS", KI_ALIGN_RIGHT, 0},
		{"CHUNKS", KI_ALIGN_RIGHT, 0},	 {"REPLACED", KI_ALIGN_RIGHT, 0},
		{"BYTES", KI_ALIGN_RIGHT, 0},	 {"PAGES", KI_ALIGN_RIGHT, 0},
		{"COUNTERS", KI_ALIGN_RIGHT, 0}, {"COUNTED", KI_ALIGN_RIGHT, 0},
		{"", KI_ALIGN_LEFT, 0}};
	struct ki_table *t;
	int err;

	if (ki_table_new(&t, columns, sizeof(columns) / sizeof(*columns)))
		return -ENOMEM;
	err = each(o, t, one_row);
	if (!err)
		err = ki_table_print(t, o->page->out, o->page->bold);
	ki_table_free(t);
	return err ? err : each(o, NULL, one_list);
}

int ki_sessions_show(const struct ki_target *t, const struct ki_page *page)
{
	const struct shown o = {.page = page, .t = t, .fd = ki_target_fd(t)};

	return page->json ? each(&o, NULL, one_json) : print_table(&o);
}
