// SPDX-License-Identifier: GPL-2.0-only
/*
 * kerninst explain: the reasons why something is refused.
 */
#include <ctype.h>
#include <string.h>

#include "cli.h"
#include "kerninst/catalog.h"
#include "kerninst/pointspec.h"

static const char usage[] =
	"Usage: kerninst explain [--json] [TAG...]\n"
	"Say what a reason of refusal means and what to do instead; without TAG: all of them.\n\n"
	"  --json      one object per line\n"
	"  -h, --help  this text\n\n"
	"Examples:\n"
	"  kerninst explain FTRACE_SITE\n"
	"  kerninst explain | grep -A2 EBUSY\n";

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
	struct ki_page page = cli_page();
	const struct cli_row rows[] = {{"json", 0, NULL, &page.json}};
	unsigned int reason;
	int status;

	if (!cli_parse(self, argc, argv, CLI_ROWS(rows), &status))
		return status;
	for (unsigned int r = 0; optind == argc && r < KI_R_COUNT; r++)
		ki_reason_show(r, &page);
	for (int i = optind; i < argc; i++)
		if (ki_reason_find(argv[i], &reason))
			return unknown(argv[i]);
	for (int i = optind; i < argc; i++)
		if (!ki_reason_find(argv[i], &reason))
			ki_reason_show(reason, &page);
	return CLI_OK;
}

const struct verb verb_explain = {
	.name = "explain",
	.summary = "what a reason of refusal means",
	.usage = usage,
	.run = run,
};
