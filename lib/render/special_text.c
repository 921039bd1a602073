// SPDX-License-Identifier: LGPL-2.1-only OR BSD-2-Clause
#include "kerninst/special_text.h"

#include <inttypes.h>

#include "util/listen.h"

double ki_special_values_print(const struct ki_special_watch *w, const struct ki_special_value *v,
			       size_t n, uint64_t calls, FILE *out)
{
	const double share = 100.0 * (double)v->calls / (double)calls;

	fprintf(out,
		"%s: argument %u is %" PRId64 " in %.1f %% of %" PRIu64 " calls (%zu values)\n",
		w->sym->name, w->argument, (int64_t)v->value, share, calls, n);
	return share;
}

void ki_special_print(const struct ki_special *s, const struct ki_special_request *request,
		      FILE *out)
{
	struct ki_special_facts f;

	ki_special_facts(s, &f);
	fprintf(out,
		"%s for %" PRId64 ": %" PRIu32 " instructions instead of %" PRIu32 ", %" PRIu32
		" branch%s decided, %" PRIu32 " callee%s copied, %zu bytes\n",
		request->sym->name, (int64_t)request->value, f.after, f.before, f.branches,
		f.branches == 1 ? "" : "es", f.copies, f.copies == 1 ? "" : "s", f.bytes);
}

void ki_special_calls_print(const struct ki_special *s, FILE *out)
{
	struct ki_special_facts f;

	ki_special_facts(s, &f);
	fprintf(out, "%zu call%s lead%s there past the guard\n", f.calls, f.calls == 1 ? "" : "s",
		f.calls == 1 ? "s" : "");
}

void ki_replacement_print(const struct ki_replacement *r, const struct ki_place *place, FILE *out)
{
	fprintf(out, "%s %s+0x%" PRIx64 " (0x%" PRIx64 ")  ->  %s (0x%" PRIx64 ")\n",
		place->where == KI_TAKEN ? "call in" : "function", r->in->name,
		place->addr - r->in->addr, place->addr, r->to->name, r->to->addr);
}

void ki_replacement_warn_way(const struct ki_symbol *of, size_t calls, bool away,
			     const struct ki_listener *l)
{
	ki_listener_warn(l, "%s is %s: %zu calls of it %s", of->name,
			 away ? "traced or patched" : "not traced any more", calls,
			 away ? "come by its entry meanwhile" : "lead to the replacement again");
}
