// SPDX-License-Identifier: GPL-2.0-only
#include "options.h"

#include <getopt.h>
#include <math.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

static const char usage[] =
	"Usage: kerninstd [OPTION...]\n"
	"Measure the running kernel for people who look at a page. Prints the page's address.\n\n"
	"  -l, --listen ADDR:PORT   where to listen (127.0.0.1:7072)\n"
	"  -p, --port PORT          another port there; 0: any that is free\n"
	"      --token-file FILE    the token, which is made if it is not there; else a new one is\n"
	"                           printed with the address\n"
	"  -s, --socket PATH        a local socket, for group kerninst, without a token\n"
	"                           (/run/kerninst/kperfmon.sock); none: without\n"
	"  -i, --interval MS        samples of a client that does not say how often: 100..60000 (200)\n"
	"      --export METRIC POINT  measure it from the start on, for /metrics; may be repeated\n"
	"      --priority N         samples are taken in real time, at 1 to 99 (SCHED_RR)\n"
	"      --read-only          nobody may add, remove or clear\n"
	"      --spool DIR          where recordings are kept while clients are there (/var/tmp)\n"
	"      --record-max MIB     of one recording (1024)\n"
	"      --replay FILE        a session that was saved, in place of the kernel\n"
	"      --speed N            so many times as fast\n"
	"  -h, --help               this text\n"
	"      --version\n\n"
	"Everything that is inserted is taken out when its client goes, or the daemon ends.\n\n"
	"Examples:\n"
	"  kerninstd\n"
	"  kerninstd --export calls vfs_read --export latency vfs_read --token-file /etc/kerninst.token\n"
	"  kerninstd --port 0 --replay session.kperfmon\n"
	"  curl --unix-socket /run/kerninst/kperfmon.sock http://localhost/metrics\n";

void complain(const char *fmt, ...)
{
	va_list ap;

	va_start(ap, fmt);
	fputs("kerninstd: ", stderr);
	vfprintf(stderr, fmt, ap);
	fputc('\n', stderr);
	va_end(ap);
}

enum {
	OPT_TOKEN_FILE = 0x100,
	OPT_EXPORT,
	OPT_READ_ONLY,
	OPT_PRIORITY,
	OPT_SPOOL,
	OPT_RECORD_MAX,
	OPT_REPLAY,
	OPT_SPEED,
	OPT_VERSION
};

static const struct option options[] = {
	{"listen", required_argument, NULL, 'l'},
	{"port", required_argument, NULL, 'p'},
	{"token-file", required_argument, NULL, OPT_TOKEN_FILE},
	{"socket", required_argument, NULL, 's'},
	{"interval", required_argument, NULL, 'i'},
	{"export", required_argument, NULL, OPT_EXPORT},
	{"priority", required_argument, NULL, OPT_PRIORITY},
	{"read-only", no_argument, NULL, OPT_READ_ONLY},
	{"spool", required_argument, NULL, OPT_SPOOL},
	{"record-max", required_argument, NULL, OPT_RECORD_MAX},
	{"replay", required_argument, NULL, OPT_REPLAY},
	{"speed", required_argument, NULL, OPT_SPEED},
	{"help", no_argument, NULL, 'h'},
	{"version", no_argument, NULL, OPT_VERSION},
	{0},
};

static int misuse(const char *fmt, const char *what)
{
	char text[256];

	snprintf(text, sizeof(text), fmt, what);
	complain("%s; try: kerninstd --help", text);
	return EXIT_USAGE;
}

static bool take_number(const char *text, long least, long most, long *out)
{
	char *end;

	*out = strtol(text, &end, 10);
	return end != text && !*end && *out >= least && *out <= most;
}

/* The point is the argument after the metric. */
static int take_export(struct options *o, int argc, char **argv)
{
	if (optind >= argc)
		return misuse("--export %s: no POINT is given", optarg);
	if (ki_vec_push(&o->exports, (struct live_export){optarg, argv[optind]})) {
		complain("out of memory");
		return EXIT_ERROR;
	}
	optind++;
	return -1;
}

static int take_numbers(struct options *o, int c)
{
	long n = 0;
	char *end;

	if (c == 'p')
		return take_number(optarg, 0, 65535, &o->port)
			       ? -1
			       : misuse("--port %s: 0 to 65535", optarg);
	if (c == 'i') {
		if (!take_number(optarg, INTERVAL_LEAST, INTERVAL_MOST, &n))
			return misuse("--interval %s: 100 to 60000 ms", optarg);
		o->engine.interval_ms = (unsigned int)n;
		return -1;
	}
	if (c == OPT_PRIORITY)
		return take_number(optarg, 1, 99, &o->priority)
			       ? -1
			       : misuse("--priority %s: 1 to 99", optarg);
	if (c == OPT_RECORD_MAX) {
		if (!take_number(optarg, 0, 1 << 20, &n))
			return misuse("--record-max %s: 0 to 1048576 MiB", optarg);
		o->engine.record_max = (uint64_t)n << 20;
		return -1;
	}
	o->speed = strtod(optarg, &end);
	if (end == optarg || *end || !isfinite(o->speed) || o->speed < 1e-3 || o->speed > 1e6)
		return misuse("--speed %s: a number above 0", optarg);
	return -1;
}

static int take_one(struct options *o, int c, int argc, char **argv)
{
	switch (c) {
	case 'l':
		o->listen = optarg;
		return -1;
	case 's':
		o->socket = optarg;
		return -1;
	case OPT_TOKEN_FILE:
		o->token_file = optarg;
		return -1;
	case OPT_EXPORT:
		return take_export(o, argc, argv);
	case OPT_READ_ONLY:
		o->engine.read_only = true;
		return -1;
	case OPT_SPOOL:
		o->engine.spool = optarg;
		return -1;
	case OPT_REPLAY:
		o->replay = optarg;
		return -1;
	case 'h':
		fputs(usage, stdout);
		return EXIT_OK;
	case OPT_VERSION:
		printf("kerninstd %s (driver ABI %d)\n", KI_VERSION, KI_ABI_VERSION);
		return EXIT_OK;
	default:
		return take_numbers(o, c);
	}
}

int options_take(struct options *o, int argc, char **argv)
{
	const char *name;
	int c, ret;

	*o = (struct options){.listen = "127.0.0.1:7072", .port = -1, .speed = 1};
	o->engine = (struct engine_options){
		.spool = "/var/tmp", .record_max = UINT64_C(1) << 30, .interval_ms = 200};
	while ((c = getopt_long(argc, argv, ":l:p:s:i:h", options, NULL)) != -1) {
		if (c == ':')
			return misuse("option %s: no value is given", argv[optind - 1]);
		if (c == '?')
			return misuse(optopt && !strncmp(argv[optind - 1], "--", 2)
					      ? "option %s: it takes no value"
					      : "option %s: unknown",
				      argv[optind - 1]);
		ret = take_one(o, c, argc, argv);
		if (ret >= 0)
			return ret;
	}
	if (optind < argc)
		return misuse("'%s': there are only options", argv[optind]);
	if (o->replay && o->exports.n)
		return misuse("%s: what is exported is what the recording has", "--export");
	name = o->replay ? strrchr(o->replay, '/') : NULL;
	o->engine.replay = name ? name + 1 : o->replay;
	return -1;
}
