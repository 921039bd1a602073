// SPDX-License-Identifier: GPL-2.0-only
/*
 * kerninst evict: take out what others have put into the kernel. It opens the device for reading,
 * and needs no symbols: so it works where little else does.
 */
#include <errno.h>
#include <inttypes.h>
#include <stdlib.h>
#include <unistd.h>

#include "cli.h"
#include "kerninst/sessions.h"

static const char usage[] =
	"Usage: kerninst evict SESSION...\n"
	"       kerninst evict --all\n"
	"Take out what sessions have put into the kernel, as if they had ended. Their processes go\n"
	"on, and are told that they were evicted when they next change something. It takes to be\n"
	"the user who began the session, or CAP_SYS_ADMIN. kerninst sessions lists the numbers.\n\n"
	"      --all        all that may be\n"
	"  -q, --quiet      do not say how many\n"
	"  -h, --help       this text\n\n"
	"Without any tool: sysctl kernel.kerninst_evict=1; or the key y of sysrq.\n\n"
	"Examples:\n"
	"  kerninst evict 12\n"
	"  kerninst evict --all\n";

static bool number(const char *text, uint64_t *out)
{
	char *end;

	errno = 0;
	*out = strtoull(text, &end, 10);
	return end != text && !*end && !errno && *out && *text != '-';
}

static int evict_named(char **names, uint64_t *count)
{
	struct ki_err err = {0};
	int fd = ki_sessions_fd(&err), ret = CLI_OK;

	if (fd < 0)
		return cli_fail(&err);
	if (!*names && ki_session_evict(fd, 0, count, &err))
		ret = cli_fail(&err);
	for (uint64_t n; *names && number(*names, &n); names++) {
		int one;

		ki_err_clear(&err);
		one = ki_session_evict(fd, n, count, &err) ? cli_fail(&err) : CLI_OK;
		ret = ret ? ret : one;
	}
	close(fd);
	return ret;
}

static int run(const struct verb *self, int argc, char **argv)
{
	bool all = false, quiet = false;
	const struct ki_option rows[] = {{"all", 0, NULL, &all}, {"quiet", 'q', NULL, &quiet}};
	uint64_t count = 0, n;
	int ret;

	if (!cli_parse(self, argc, argv, CLI_ROWS(rows), &ret))
		return ret;
	if (all == (optind < argc))
		return cli_misuse(self, "numbers of sessions, or --all");
	for (int i = optind; i < argc; i++)
		if (!number(argv[i], &n))
			return cli_misuse(self, "'%s' is no number of a session", argv[i]);
	ret = evict_named(argv + optind, &count);
	if (!ret && !quiet)
		printf("%" PRIu64 " evicted\n", count);
	return ret;
}

const struct verb verb_evict = {
	.name = "evict",
	.summary = "take out what a session has put into the kernel",
	.usage = usage,
	.run = run,
};
