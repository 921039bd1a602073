// SPDX-License-Identifier: LGPL-2.1-only OR BSD-2-Clause
/* What was found elsewhere in the kernel: a list, JSON. */
#include <math.h>
#include <string.h>

#include "crosswalk/walk.h"
#include "out/json.h"

static const char *const kinds[] = {"interrupt", "softirq", "tasklet", "timer", "work", "thread"};

const char *ki_crosswalk_kind_name(unsigned int kind)
{
	return kind < sizeof(kinds) / sizeof(*kinds) ? kinds[kind] : "?";
}

const struct ki_crosswalk_elsewhere *ki_crosswalk_elsewhere(const struct ki_crosswalk *w,
							    uint32_t *n)
{
	*n = (uint32_t)w->elsewhere.n;
	return w->elsewhere.v;
}

void ki_crosswalk_elsewhere_free(struct ki_crosswalk *w)
{
	for (size_t i = 0; i < w->elsewhere.n; i++) {
		free(w->elsewhere.v[i].name);
		free(w->elsewhere.v[i].module);
	}
	ki_vec_free(&w->elsewhere);
}

static int show_json(const struct ki_crosswalk_elsewhere *e, FILE *out)
{
	struct ki_json j;

	ki_json_init(&j, out);
	ki_json_open(&j, NULL, '{');
	ki_json_str(&j, "kind", ki_crosswalk_kind_name(e->kind));
	ki_json_str(&j, "function", e->addr ? e->name : NULL);
	ki_json_str(&j, "thread", e->addr ? NULL : e->name);
	ki_json_str(&j, "module", e->module);
	ki_json_hex(&j, "address", e->addr);
	ki_json_double(&j, "share", e->share);
	ki_json_double(&j, "calls_per_second", e->addr ? e->calls_per_second : NAN);
	ki_json_close(&j);
	return ki_json_end_line(&j);
}

static void show_row(const struct ki_crosswalk_elsewhere *e, FILE *out)
{
	char name[300];

	snprintf(name, sizeof(name), "%s%s%s", e->addr ? e->module : "", e->addr ? ":" : "",
		 e->name);
	fprintf(out, "%-54s  %-9s%7.1f %%", name, ki_crosswalk_kind_name(e->kind), 100 * e->share);
	if (e->addr)
		fprintf(out, "  %9.0f/s\n", e->calls_per_second);
	else
		fprintf(out, "  %11s\n", "-");
}

int ki_crosswalk_elsewhere_show(const struct ki_crosswalk *w, const struct ki_page *page)
{
	int ret = 0;

	if (!page->json && w->elsewhere.n)
		fprintf(page->out, "\n%s%-54s  %-9s%9s  %11s%s\n", page->bold ? "\033[1m" : "",
			"elsewhere in the kernel, and not only for the process", "by", "of a CPU",
			"calls", page->bold ? "\033[0m" : "");
	for (size_t i = 0; !ret && i < w->elsewhere.n; i++)
		if (page->json)
			ret = show_json(&w->elsewhere.v[i], page->out);
		else
			show_row(&w->elsewhere.v[i], page->out);
	return ret;
}
