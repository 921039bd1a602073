// SPDX-License-Identifier: GPL-2.0-only
/*
 * kerninst evict: take out what others have put into the kernel. It opens the device for reading,
 * and needs no symbols: so it works where little else does.
 */
#include <errno.h>
#include <fcntl.h>
#include <getopt.h>
#include <inttypes.h>
#include <stdlib.h>
#include <string.h>
#include <sys/ioctl.h>
#include <unistd.h>

#include "cli.h"

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

static int refused(const struct ki_evict *e, int error)
{
	struct ki_err err = {0};

	if (error == ENOENT)
		return cli_error("no session %" PRIu64 "; kerninst sessions lists them",
				 (uint64_t)e->session);
	if (!e->reason)
		return cli_error("sessions cannot be evicted: %s", strerror(error));
	if (e->flags & KI_EVICT_ALL)
		ki_err_reason(&err, e->reason, 0, "all sessions");
	else
		ki_err_reason(&err, e->reason, 0, "session %" PRIu64, (uint64_t)e->session);
	return cli_fail(&err);
}

/* Counts what has been evicted: an exit status. */
static int evict(int fd, uint64_t session, uint64_t *count)
{
	struct ki_evict e = {.size = sizeof(e), .session = session};
	int ret;

	e.flags = session ? 0 : KI_EVICT_ALL;
	ret = ioctl(fd, KI_IOC_EVICT, &e) ? refused(&e, errno) : CLI_OK;
	*count += e.evicted;
	return ret;
}

static int open_device(void)
{
	struct ki_err err = {0};
	int fd = open(KI_DEVICE, O_RDONLY | O_CLOEXEC);

	if (fd >= 0)
		return fd;
	if (errno == ENOENT)
		ki_err_reason(&err, KI_R_NO_DEVICE, 0, KI_DEVICE);
	else if (errno == EPERM)
		ki_err_reason(&err, KI_R_LOCKDOWN, 0, KI_DEVICE);
	else
		ki_err_reason(&err, KI_R_NO_PERMISSION, 0, KI_DEVICE);
	cli_fail(&err);
	return -1;
}

static bool number(const char *text, uint64_t *out)
{
	char *end;

	errno = 0;
	*out = strtoull(text, &end, 10);
	return end != text && !*end && !errno && *out && *text != '-';
}

static int evict_named(char **names, uint64_t *count)
{
	int fd = open_device(), ret = CLI_OK;

	if (fd < 0)
		return CLI_ENVIRONMENT;
	if (!*names)
		ret = evict(fd, 0, count);
	for (uint64_t n; *names && number(*names, &n); names++) {
		int one = evict(fd, n, count);

		ret = ret ? ret : one;
	}
	close(fd);
	return ret;
}

static int run(const struct verb *self, int argc, char **argv)
{
	static const struct option options[] = {{"all", no_argument, NULL, 'a'},
						{"quiet", no_argument, NULL, 'q'},
						{"help", no_argument, NULL, 'h'},
						{0}};
	bool all = false, quiet = false;
	uint64_t count = 0, n;
	int c, ret;

	while ((c = getopt_long(argc, argv, ":qh", options, NULL)) != -1) {
		if (c != 'a' && c != 'q')
			return cli_other_option(self, c, argv);
		all |= c == 'a';
		quiet |= c == 'q';
	}
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
