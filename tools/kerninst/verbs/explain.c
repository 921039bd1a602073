// SPDX-License-Identifier: GPL-2.0-only
/*
 * kerninst explain: the reasons why something is refused.
 */
#include <ctype.h>
#include <getopt.h>
#include <string.h>

#include "cli.h"
#include "out/json.h"
#include "kerninst/pointspec.h"

static const char usage[] =
	"Usage: kerninst explain [--json] [TAG...]\n"
	"Say what a reason of refusal means and what to do instead; without TAG: all of them.\n\n"
	"  --json      one object per line\n"
	"  -h, --help  this text\n\n"
	"Examples:\n"
	"  kerninst explain FTRACE_SITE\n"
	"  kerninst explain | grep -A2 EBUSY\n";

static const char *errno_name(unsigned int reason)
{
	const char *name = strerrorname_np(ki_reason_errno(reason));

	return ki_reason_errno(reason) && name ? name : "0";
}

static void print_text(unsigned int reason)
{
	printf("%s (%s)\n  %s\n", ki_reason_tag(reason), errno_name(reason),
	       ki_reason_text(reason));
	if (*ki_reason_hint(reason))
		printf("  hint: %s\n", ki_reason_hint(reason));
}

static void print_json(unsigned int reason)
{
	struct ki_json j;

	ki_json_init(&j, stdout);
	ki_json_open(&j, NULL, '{');
	ki_json_str(&j, "tag", ki_reason_tag(reason));
	ki_json_str(&j, "errno", errno_name(reason));
	ki_json_str(&j, "text", ki_reason_text(reason));
	ki_json_str(&j, "hint", ki_reason_hint(reason));
	ki_json_close(&j);
	ki_json_end_line(&j);
}

/* Tags are in capitals, and people write dashes. */
static void as_tag(const char *text, char *tag, size_t len)
{
	size_t i = 0;

	for (; text[i] && i + 1 < len; i++)
		tag[i] = text[i] == '-' ? '_' : (char)toupper((unsigned char)text[i]);
	tag[i] = '\0';
}

static bool is_near(const char *wanted, const char *tag)
{
	size_t len = strlen(wanted);

	return ki_pointspec_distance(wanted, tag, 3) <= (len < 6 ? len / 2 : 3) ||
	       (len >= 3 && strstr(tag, wanted));
}

static int unknown(const char *text)
{
	char list[1024] = "", wanted[64];
	size_t at = 0;

	as_tag(text, wanted, sizeof(wanted));
	for (unsigned int r = 0; r < KI_R_COUNT && at < sizeof(list); r++)
		if (is_near(wanted, ki_reason_tag(r)))
			at += (size_t)snprintf(list + at, sizeof(list) - at, "%s%s",
					       at ? ", " : "; near: ", ki_reason_tag(r));
	return cli_error("no reason '%s'%s; kerninst explain lists them", text, list);
}

static int run(const struct verb *self, int argc, char **argv)
{
	static const struct option options[] = {
		{"json", no_argument, NULL, 'j'}, {"help", no_argument, NULL, 'h'}, {0}};
	void (*print)(unsigned int reason) = print_text;
	unsigned int reason;
	int c;

	while ((c = getopt_long(argc, argv, ":h", options, NULL)) != -1) {
		if (c != 'j')
			return cli_other_option(self, c, argv);
		print = print_json;
	}
	for (unsigned int r = 0; optind == argc && r < KI_R_COUNT; r++)
		print(r);
	for (int i = optind; i < argc; i++)
		if (ki_reason_find(argv[i], &reason))
			return unknown(argv[i]);
	for (int i = optind; i < argc; i++)
		if (!ki_reason_find(argv[i], &reason))
			print(reason);
	return CLI_OK;
}

const struct verb verb_explain = {
	.name = "explain",
	.summary = "what a reason of refusal means",
	.usage = usage,
	.run = run,
};
