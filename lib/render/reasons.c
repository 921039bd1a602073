// SPDX-License-Identifier: LGPL-2.1-only OR BSD-2-Clause
#include <string.h>

#include "kerninst/catalog.h"
#include "kerninst/err.h"
#include "out/json.h"

static const char *errno_name(unsigned int reason)
{
	const char *name = strerrorname_np(ki_reason_errno(reason));

	return ki_reason_errno(reason) && name ? name : "0";
}

static void print_text(unsigned int reason, FILE *out)
{
	fprintf(out, "%s (%s)\n  %s\n", ki_reason_tag(reason), errno_name(reason),
		ki_reason_text(reason));
	if (*ki_reason_hint(reason))
		fprintf(out, "  hint: %s\n", ki_reason_hint(reason));
}

static int print_json(unsigned int reason, FILE *out)
{
	struct ki_json j;

	ki_json_init(&j, out);
	ki_json_open(&j, NULL, '{');
	ki_json_str(&j, "tag", ki_reason_tag(reason));
	ki_json_str(&j, "errno", errno_name(reason));
	ki_json_str(&j, "text", ki_reason_text(reason));
	ki_json_str(&j, "hint", ki_reason_hint(reason));
	ki_json_close(&j);
	return ki_json_end_line(&j);
}

int ki_reason_show(unsigned int reason, const struct ki_page *page)
{
	if (page->json)
		return print_json(reason, page->out);
	print_text(reason, page->out);
	return 0;
}
