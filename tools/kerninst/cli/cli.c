// SPDX-License-Identifier: GPL-2.0-only
#include "cli.h"

#include <errno.h>
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
	case KI_R_NEEDS_KILL_CAP:
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

/* What is no option of the verb's: --help, '?' or ':'. */
static int other(const void *verb, int option, char **argv)
{
	const struct verb *v = verb;
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

bool cli_parse(const struct verb *v, int argc, char **argv, const struct ki_option *rows, size_t n,
	       int *status)
{
	const struct ki_options o = {rows, n, other, v};

	if (ki_options_parse(argc, argv, &o, status))
		return true;
	if (*status == CLI_DONE)
		*status = CLI_OK;
	return false;
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

int cli_interval(const void *self, const char *text, void *to)
{
	return cli_seconds(text, to) ? CLI_OK
				     : cli_misuse(self, "'%s' is no interval in seconds", text);
}

int cli_number(const void *self, const char *text, void *to)
{
	const struct cli_number *row = to;
	char *end;

	errno = 0;
	*row->to = strtoul(text, &end, 10);
	if (!errno && *text >= '0' && *text <= '9' && !*end && *row->to >= row->least &&
	    *row->to <= row->most)
		return CLI_OK;
	return cli_misuse(self, "--%s '%s': a number from %zu to %zu", row->name, text, row->least,
			  row->most);
}

int cli_count(const struct verb *v, const char *option, const char *text, unsigned int most,
	      unsigned int *out)
{
	char *end;
	unsigned long n = strtoul(text, &end, 10);

	*out = (unsigned int)n;
	if (*text >= '0' && *text <= '9' && !*end && n >= 1 && n <= most)
		return CLI_OK;
	return cli_misuse(v, "%s %s: not a number from 1 to %u", option, text, most);
}
