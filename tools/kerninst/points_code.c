// SPDX-License-Identifier: GPL-2.0-only
#include "points_code.h"

#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

/* if (predicate) count += 1; */
static int build(struct ki_snippet *s, const struct ki_predicate *when, uint32_t counter,
		 struct ki_err *err)
{
	const struct ki_var v = {
		.name = "count", .kind = KI_VAR_CPU, .type = KI_U64, .first = counter};
	struct ki_node *stmt =
		ki_stmt_update(s, KI_UPDATE_ADD, &v, NULL, ki_expr_const(s, KI_I64, 1));
	int ret = 0;

	if (when)
		ret = ki_predicate_guard(when, s, NULL, stmt, &stmt, err);
	ki_snippet_body(s, stmt);
	return ret;
}

static void print_place(FILE *f, const struct resolver *r, const struct ki_place *place,
			unsigned int ninsns)
{
	static const char *const sides[KI_WHERES] = {"before", "after", "taken", "returned"};

	fprintf(f, "%s+0x%" PRIx64 " %s: %u instruction%s\n", r->fn->symbol->name,
		place->addr - r->fn->start, sides[place->where], ninsns, ninsns == 1 ? "" : "s");
}

/* Source and instructions, behind those of the point's other places. */
static int keep_text(struct resolver *r, struct point *p, const struct ki_place *place,
		     const struct ki_snippet *s, const struct ki_site_regs *site,
		     struct ki_err *err)
{
	struct ki_long_code code;
	char *listing = NULL, *all;
	size_t len;
	FILE *f;
	int ret = ki_snippet_compile(s, site, &code, err);

	if (ret)
		return ret;
	ret = ki_snippet_listing(s, &code, &listing, err);
	f = ret ? NULL : open_memstream(&all, &len);
	if (f) {
		fputs(p->code ? p->code : "", f);
		print_place(f, r, place, code.ninsns);
		fputs(listing, f);
		if (fclose(f)) {
			ret = ki_err_set(err, -ENOMEM, 0, "%s: out of memory", p->name);
		} else {
			free(p->code);
			p->code = all;
		}
	}
	free(listing);
	ki_long_code_free(&code);
	return ret;
}

static int put_snippet(struct resolver *r, struct point *p, const struct ki_place *place,
		       struct ki_err *err)
{
	struct ki_site_regs site;
	struct ki_snippet *s;
	uint32_t id;
	int ret = ki_snippet_new(&s);

	if (ret)
		return ki_err_set(err, ret, 0, "%s: out of memory", p->name);
	ki_place_site(r->fn, place, NULL, &site);
	ret = build(s, r->how->when, p->counter, err);
	if (!ret)
		ret = ki_plan_add_snippet(r->out->plan, r->fn, &r->spans, place, p->order, s, &site,
					  &id, err);
	if (!ret && r->how->keep_code)
		ret = keep_text(r, p, place, s, &site, err);
	ki_snippet_free(s);
	return ret;
}

int points_put_code(struct resolver *r, struct point *p, const struct ki_place *place,
		    struct ki_err *err)
{
	struct ki_code code;
	uint32_t id;

	if (r->how->when || r->how->keep_code)
		return put_snippet(r, p, place, err);
	ki_snippet_count(&code, p->counter, place->flags_live);
	return ki_plan_add(r->out->plan, r->fn, &r->spans, place, p->order, &code, &id, err);
}
