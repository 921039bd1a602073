// SPDX-License-Identifier: GPL-2.0-only
/*
 * kerninst sessions: who has the device open, what each has put into the kernel, what that takes.
 *
 * Rows come one by one, and windows too, so a session that ends meanwhile is left out or told
 * without its windows: never another's.
 */
#include <errno.h>
#include <getopt.h>
#include <inttypes.h>
#include <string.h>
#include <sys/ioctl.h>

#include "cli.h"
#include "out/json.h"
#include "out/table.h"

static const char usage[] =
	"Usage: kerninst sessions [OPTION...]\n"
	"List the sessions that are open: who opened each, and what it has put into the kernel.\n\n"
	"  -v, --verbose    also each window, not only what is replaced; and modules that are held\n"
	"      --json       a line for each session\n"
	"  -h, --help       this text\n\n"
	"COUNTED is the sum of all counters of a session, whatever they count. BYTES are those of\n"
	"patches; several sessions in one patch are told all of it. PAGES (4 KiB) are buffers and\n"
	"tables. kerninst evict takes out what a session has put in.\n\n"
	"Examples:\n"
	"  kerninst sessions\n"
	"  kerninst sessions --json | jq 'select(.replaced > 0)'\n";

#define NAME_LEN 192

struct choice {
	bool json, verbose;
	struct ki_target *t;
	int fd;
};

/* FUNCTION+0x12, or the address. */
static void name(const struct choice *o, uint64_t addr, char out[NAME_LEN])
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
static bool next_window(const struct choice *o, uint64_t session, uint64_t *from,
			struct ki_session_window *w)
{
	*w = (struct ki_session_window){.size = sizeof(*w), .session = session, .addr = *from};
	w->flags = o->verbose ? 0 : KI_WINDOW_REPLACED;
	if (ioctl(o->fd, KI_IOC_SESSION_WINDOW, w))
		return false;
	*from = w->addr + 1;
	return true;
}

static void json_window(const struct choice *o, struct ki_json *j,
			const struct ki_session_window *w)
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

static int print_json(const struct choice *o, const struct ki_session_row *r)
{
	struct ki_session_window w;
	uint64_t from = 0;
	struct ki_json j;
	char user[CLI_USER_NAME];

	cli_user_name(r->uid, user);
	ki_json_init(&j, stdout);
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
	ki_json_open(&j, o->verbose ? "in" : "replaces", '[');
	while ((o->verbose || r->replaced) && next_window(o, r->session, &from, &w))
		json_window(o, &j, &w);
	ki_json_close(&j);
	ki_json_close(&j);
	return ki_json_end_line(&j);
}

static void add_row(struct ki_table *t, const struct ki_session_row *r)
{
	char user[CLI_USER_NAME];

	cli_user_name(r->uid, user);
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

static void print_windows(const struct choice *o, const struct ki_session_row *r)
{
	char at[NAME_LEN], by[NAME_LEN];
	struct ki_session_window w;
	uint64_t from = 0;

	while (next_window(o, r->session, &from, &w)) {
		name(o, w.addr, at);
		name(o, w.target, by);
		printf("session %" PRIu64 ": %s, %" PRIu32 " chunk%s%s%s%s%s\n",
		       (uint64_t)r->session, at, w.chunks, w.chunks == 1 ? "" : "s",
		       w.target ? ", replaced by " : "", w.target ? by : "",
		       *w.module ? ", holds module " : "", w.module);
	}
}

/* What is to be done with each. 0, or -errno. */
static int each(const struct choice *o, struct ki_table *t,
		int (*call)(const struct choice *o, struct ki_table *t,
			    const struct ki_session_row *r))
{
	struct ki_session_row r = {.size = sizeof(r)};
	int err = 0;

	while (!err && !ioctl(o->fd, KI_IOC_SESSION, &r)) {
		err = call(o, t, &r);
		r = (struct ki_session_row){.size = sizeof(r), .session = r.session};
	}
	return err ? err : errno == ENOENT ? 0 : -errno;
}

static int one_json(const struct choice *o, struct ki_table *t, const struct ki_session_row *r)
{
	(void)t;
	return print_json(o, r);
}

static int one_row(const struct choice *o, struct ki_table *t, const struct ki_session_row *r)
{
	(void)o;
	add_row(t, r);
	return 0;
}

static void print_process(const struct ki_session_row *r)
{
	printf("session %" PRIu64 ": process %" PRIu32 ", %" PRIu32 " place%s of its text\n",
	       (uint64_t)r->session, r->process, r->places, r->places == 1 ? "" : "s");
}

static int one_list(const struct choice *o, struct ki_table *t, const struct ki_session_row *r)
{
	(void)t;
	if (o->verbose || r->replaced)
		print_windows(o, r);
	if (r->process)
		print_process(r);
	return 0;
}

static int print_table(const struct choice *o)
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
		err = ki_table_print(t, stdout, cli_bold(stdout));
	ki_table_free(t);
	return err ? err : each(o, NULL, one_list);
}

static int run(const struct verb *self, int argc, char **argv)
{
	static const struct option options[] = {{"verbose", no_argument, NULL, 'v'},
						{"json", no_argument, NULL, 'j'},
						{"help", no_argument, NULL, 'h'},
						{0}};
	struct choice o = {0};
	struct ki_err err = {0};
	int c, ret;

	while ((c = getopt_long(argc, argv, ":vh", options, NULL)) != -1) {
		if (c != 'j' && c != 'v')
			return cli_other_option(self, c, argv);
		o.json |= c == 'j';
		o.verbose |= c == 'v';
	}
	if (optind != argc)
		return cli_misuse(self, "no argument is expected");
	if (ki_target_open_live(&o.t, &err))
		return cli_fail(&err);
	o.fd = ki_target_fd(o.t);
	ret = o.json ? each(&o, NULL, one_json) : print_table(&o);
	ki_target_close(o.t);
	return ret ? cli_error("sessions cannot be listed: %s", strerror(-ret)) : CLI_OK;
}

const struct verb verb_sessions = {
	.name = "sessions",
	.summary = "who has put what into the kernel",
	.usage = usage,
	.run = run,
};
