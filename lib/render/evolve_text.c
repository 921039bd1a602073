// SPDX-License-Identifier: LGPL-2.1-only OR BSD-2-Clause
/* What kerninst evolve says. */
#include "kerninst/evolve_text.h"

#include <inttypes.h>
#include <sys/ioctl.h>

#include "out/json.h"
#include "util/listen.h"

static const struct {
	const char *name, *text;
} news[] = {
	[KI_EVOLVE_KEPT] = {"kept", "better, kept"},
	[KI_EVOLVE_DROPPED] = {"dropped", "no difference is proved, taken out"},
	[KI_EVOLVE_CONFIRMED] = {"confirmed", "measured again, stays"},
	[KI_EVOLVE_UNDONE] = {"undone", "not better any more, taken out"},
	[KI_EVOLVE_REFUSED] = {"refused", "passed over"},
	[KI_EVOLVE_PAUSES] = {"pauses", "in a pause"},
};

static const char *text_of(const struct ki_evolve_notice *n)
{
	if (n->news == KI_EVOLVE_DROPPED && n->verdict->worse)
		return "worse, taken out";
	return news[n->news].text;
}

static void print_line(const struct ki_evolve_shown *w, const struct ki_evolve_notice *n)
{
	fprintf(w->page->out, "%9.3f s  ", w->time);
	if (n->sym)
		fprintf(w->page->out, "%s%s%s: ", n->sym->module, *n->sym->module ? ":" : "",
			n->sym->name);
	if (n->what && n->functions > 1)
		fprintf(w->page->out, "%s of %zu: ", n->what, n->functions);
	else if (n->what)
		fprintf(w->page->out, "%s: ", n->what);
	fprintf(w->page->out, "%s", text_of(n));
	if (n->verdict)
		fprintf(w->page->out, "; %s %.4g, then %.4g: %+.2f %% to %+.2f %% (95 %%)",
			w->metric, n->verdict->before, n->verdict->after, 100 * n->verdict->low,
			100 * n->verdict->high);
	if (n->err)
		fprintf(w->page->out, "; %s", n->err->msg);
	if (n->news == KI_EVOLVE_PAUSES)
		fprintf(w->page->out, " for %.0f s; %zu idea%s in", n->seconds, n->kept,
			n->kept == 1 ? " is" : "s are");
	putc('\n', w->page->out);
}

static void print_json(const struct ki_evolve_shown *w, const struct ki_evolve_notice *n)
{
	struct ki_json j;

	ki_json_init(&j, w->page->out);
	ki_json_open(&j, NULL, '{');
	ki_json_double(&j, "time", w->time);
	ki_json_str(&j, "news", news[n->news].name);
	ki_json_str(&j, "module", n->sym ? n->sym->module : NULL);
	ki_json_str(&j, "function", n->sym ? n->sym->name : NULL);
	ki_json_str(&j, "idea", n->what);
	if (n->what)
		ki_json_u64(&j, "functions", n->functions);
	ki_json_u64(&j, "kept", n->kept);
	if (n->verdict) {
		ki_json_str(&j, "metric", w->metric);
		ki_json_double(&j, "before", n->verdict->before);
		ki_json_double(&j, "after", n->verdict->after);
		ki_json_double(&j, "low", n->verdict->low);
		ki_json_double(&j, "high", n->verdict->high);
	}
	if (n->news == KI_EVOLVE_PAUSES)
		ki_json_double(&j, "seconds", n->seconds);
	ki_json_str(&j, "why", n->err ? n->err->msg : NULL);
	ki_json_close(&j);
	ki_json_end_line(&j);
}

void ki_evolve_notice_show(const struct ki_evolve_notice *n, const struct ki_evolve_shown *how)
{
	(how->page->json ? print_json : print_line)(how, n);
	fflush(how->page->out);
}

void ki_evolve_forecast_print(const struct ki_symbol *sym, const struct ki_evolve_forecast *f,
			      FILE *out)
{
	fprintf(out,
		"%s: %" PRIu64 " calls; %" PRIu32 " of %" PRIu32 " blocks are hot, %" PRIu32
		" of %" PRIu32 " bytes: %" PRIu32 " cache lines instead of %" PRIu32
		"; control does not fall %.2f times a call instead of %.2f\n",
		sym->name, f->calls, f->hot, f->blocks, f->hot_bytes, f->bytes, f->lines_after,
		f->lines_before, f->taken_after, f->taken_before);
}

void ki_evolve_verdict_print(const struct ki_evolve_trial *t, const struct ki_evolve_verdict *d,
			     FILE *out)
{
	fprintf(out, "%s: %s %.4g, then %.4g: %+.2f %% to %+.2f %% (95 %%): %s\n", t->judge->name,
		t->metric, d->before, d->after, 100 * d->low, 100 * d->high,
		d->better  ? "better"
		: d->worse ? "worse"
			   : "no difference is proved");
}

static const char *const small_pages[KI_SMALLS] = {
	[KI_SMALL_NOT] = "there is nothing else",
	[KI_SMALL_KERNEL] = "this kernel gives the driver none of 2 MiB",
	[KI_SMALL_MEMORY] = "no 2 MiB of memory were free in one piece",
	[KI_SMALL_ADDRESSES] = "others have been in their place",
	[KI_SMALL_LIMIT] = "the driver's heap may not grow by 2 MiB (its parameter 'heap')",
};

void ki_evolve_pages_print(const struct ki_target *t, FILE *out)
{
	struct ki_patches p = {.size = sizeof(p)};

	if (ioctl(ki_target_fd(t), KI_IOC_PATCHES, &p) || !p.laid_bytes)
		return;
	fprintf(out, "layouts take %" PRIu64 " KiB, %s%" PRIu64 " in pages of 2 MiB",
		(uint64_t)p.laid_bytes / 1024, p.large_bytes < p.laid_bytes ? "only " : "",
		(uint64_t)p.large_bytes / 1024);
	if (p.large_bytes < p.laid_bytes)
		fprintf(out, "; else of 4 KiB, because %s",
			small_pages[p.small < KI_SMALLS ? p.small : KI_SMALL_NOT]);
	fprintf(out, "\n");
}

void ki_evolve_aside_print(const struct ki_evolve *e, bool names, FILE *out)
{
	const struct ki_symbol *sym;
	size_t n = 0, all = 0;
	bool aside;

	for (; aside = ki_evolve_is_aside(e, all, &sym), sym; all++)
		n += aside;
	if (!n)
		return;
	fprintf(out,
		"%zu of %zu functions stand aside: all are more than the cache has room for, "
		"and these run least often\n",
		n, all);
	for (size_t i = 0; names && i < all; i++)
		if (ki_evolve_is_aside(e, i, &sym))
			fprintf(out, "%s: aside\n", sym->name);
}

size_t ki_evolve_warn_refused(const struct ki_evolve *e, const struct ki_listener *l)
{
	const struct ki_symbol *sym;
	unsigned int reason;
	size_t n = 0;

	for (size_t i = 0; reason = ki_evolve_refusal(e, i, &sym), sym; i++) {
		if (!reason)
			continue;
		ki_listener_warn(l, "%s: %s [%s]; %s", sym->name, ki_reason_text(reason),
				 ki_reason_tag(reason), ki_reason_hint(reason));
		n++;
	}
	return n;
}
