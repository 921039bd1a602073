// SPDX-License-Identifier: GPL-2.0-only
#include "cli.h"

#include <errno.h>
#include <getopt.h>
#include <math.h>
#include <stdarg.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "kerninst/match.h"
#include "util/text.h"

static void say(const char *fmt, va_list ap)
{
	fflush(stdout);
	fputs("kerninst: ", stderr);
	ki_text_vprint(stderr, fmt, ap);
	fputc('\n', stderr);
}

void cli_warn(const char *fmt, ...)
{
	va_list ap;

	va_start(ap, fmt);
	say(fmt, ap);
	va_end(ap);
}

int cli_error(const char *fmt, ...)
{
	va_list ap;

	va_start(ap, fmt);
	say(fmt, ap);
	va_end(ap);
	return CLI_ERROR;
}

/* What failed last may have been something else. */
static bool is_of_writing(int error)
{
	return error == ENOSPC || error == EDQUOT || error == EFBIG || error == EIO ||
	       error == EPIPE || error == EBADF;
}

int cli_unwritten(const char *what)
{
	static bool said;
	const int error = errno;
	const bool known = is_of_writing(error);

	if (!said)
		cli_warn("writing the %s failed%s%s", what, known ? ": " : "",
			 known ? strerror(error) : "");
	said = true;
	return CLI_ERROR;
}

int cli_no_memory(void)
{
	return cli_error("out of memory");
}

int cli_nothing(struct ki_target *t, const struct ki_pointspec *spec)
{
	char why[KI_MATCH_WHY];

	ki_match_nothing(t, spec, why);
	return cli_error("%s", why);
}

int cli_fail(const struct ki_err *err)
{
	const char *hint = ki_reason_hint(err->reason);

	cli_warn("%s%s%s", err->msg, *hint ? "; " : "", hint);
	switch (err->reason) {
	case KI_R_NO_DEVICE:
	case KI_R_NO_PERMISSION:
	case KI_R_PROCESS_PERMISSION:
	case KI_R_ABI_MISMATCH:
	case KI_R_LOCKDOWN:
	case KI_R_UNKNOWN_KERNEL:
	case KI_R_READ_ONLY:
	case KI_R_NEEDS_MODULE_CAP:
	case KI_R_NOT_YOURS:
	case KI_R_NO_SYMBOLS:
		return CLI_ENVIRONMENT;
	default:
		return CLI_ERROR;
	}
}

int cli_misuse(const struct verb *v, const char *fmt, ...)
{
	char text[512];
	va_list ap;

	va_start(ap, fmt);
	vsnprintf(text, sizeof(text), fmt, ap);
	va_end(ap);
	cli_warn("%s; try: kerninst %s --help", text, v->name);
	return CLI_USAGE;
}

int cli_other_option(const struct verb *v, int option, char **argv)
{
	const char *what = argv[optind - 1], *why = "unknown";
	char letter[] = {'-', (char)optopt, 0};

	if (option == 'h') {
		fputs(v->usage, stdout);
		return CLI_OK;
	}
	/* a letter may stand among others; a long option is the argument just read */
	if (optopt && strncmp(what, "--", 2) != 0)
		what = letter;
	else if (optopt) /* the option is known */
		why = "it takes no value";
	return cli_misuse(v, "option %s: %s", what, option == ':' ? "no value is given" : why);
}

bool cli_take_options(const struct verb *v, int argc, char **argv, const struct cli_syntax *s,
		      int *status)
{
	int c;

	*status = CLI_OK;
	while (!*status && (c = getopt_long(argc, argv, s->letters, s->options, NULL)) != -1) {
		if (c == 'h' || c == '?' || c == ':') {
			*status = cli_other_option(v, c, argv);
			return false;
		}
		*status = s->take(v, c, s->arg);
	}
	return !*status;
}

#define ROWS_MAX 40
#define LONG	 0x100 /* options without a letter are numbers from here on */

static bool takes_value(const struct cli_row *r)
{
	return r->take && r->take != cli_no && r->letter != CLI_NO_VALUE;
}

static void list_options(const struct cli_row *rows, size_t n, struct option *options,
			 char *letters)
{
	struct option *o = options;

	*letters++ = rows[0].name ? ':' : '-';
	if (!rows[0].name)
		*letters++ = ':';
	for (size_t i = 0; i < n; i++) {
		if (!rows[i].name)
			continue;
		*o++ = (struct option){rows[i].name,
				       rows[i].letter == CLI_OPTIONAL ? optional_argument
				       : takes_value(&rows[i])	      ? required_argument
								      : no_argument,
				       NULL, LONG + (int)i};
		if (rows[i].letter > 0)
			letters = stpcpy(letters, (char[]){(char)rows[i].letter,
							   takes_value(&rows[i]) ? ':' : 0, 0});
	}
	*o++ = (struct option){"help", no_argument, NULL, 'h'};
	*o = (struct option){0};
	stpcpy(letters, "h");
}

static int take_row(const struct verb *v, const struct cli_row *rows, int option)
{
	const struct cli_row *r = rows;

	if (option >= LONG)
		r += option - LONG;
	else if (option != 1) /* an argument: the first row */
		while (r->letter != option)
			r++;
	if (r->take)
		return r->take(v, optarg, r->to);
	*(bool *)r->to = true;
	return CLI_OK;
}

bool cli_parse(const struct verb *v, int argc, char **argv, const struct cli_row *rows, size_t n,
	       int *status)
{
	struct option options[ROWS_MAX + 2];
	char letters[2 * ROWS_MAX + 4];
	int c;

	list_options(rows, n, options, letters);
	*status = CLI_OK;
	while (!*status && (c = getopt_long(argc, argv, letters, options, NULL)) != -1) {
		if (c == 'h' || c == '?' || c == ':') {
			*status = cli_other_option(v, c, argv);
			return false;
		}
		*status = take_row(v, rows, c);
	}
	if (*status != CLI_DONE)
		return !*status;
	*status = CLI_OK;
	return false;
}

int cli_no(const struct verb *v, const char *value, void *to)
{
	(void)v;
	(void)value;
	*(bool *)to = false;
	return CLI_OK;
}

int cli_text(const struct verb *v, const char *value, void *to)
{
	(void)v;
	*(const char **)to = value;
	return CLI_OK;
}

struct ki_page cli_page(void)
{
	return (struct ki_page){.out = stdout, .bold = cli_bold(stdout)};
}

int cli_shown(int ret)
{
	return ret == -ENOMEM ? cli_no_memory() : ret ? cli_unwritten("output") : CLI_OK;
}

bool cli_seconds(const char *text, double *out)
{
	char *end;

	*out = strtod(text, &end);
	return end != text && !*end && isfinite(*out) && *out >= 0.001 && *out <= 1e9;
}

bool cli_bold(FILE *out)
{
	const char *no = getenv("NO_COLOR");

	return (!no || !*no) && isatty(fileno(out));
}

const char *cli_module(const struct ki_symbol *sym)
{
	return ki_symbol_module(sym);
}

double cli_since(const struct timespec *start)
{
	struct timespec now;

	clock_gettime(CLOCK_MONOTONIC, &now);
	return (double)(now.tv_sec - start->tv_sec) + (double)(now.tv_nsec - start->tv_nsec) / 1e9;
}

void cli_progress_start(struct cli_progress *p, const char *what, size_t total, bool off)
{
	*p = (struct cli_progress){.what = what, .total = total, .next = 1, .off = off};
	clock_gettime(CLOCK_MONOTONIC, &p->start);
}

void cli_progress_at(struct cli_progress *p, size_t done)
{
	bool tty;

	if (p->off || cli_since(&p->start) < p->next)
		return;
	tty = isatty(STDERR_FILENO);
	p->next = cli_since(&p->start) + (tty ? 0.2 : 10);
	p->shown = tty;
	fprintf(stderr, tty ? "\r%s: %zu of %zu " : "kerninst: %s: %zu of %zu\n", p->what, done,
		p->total);
}

void cli_progress_end(struct cli_progress *p)
{
	if (p->shown)
		fputs("\r\033[K", stderr);
	p->shown = false;
}
