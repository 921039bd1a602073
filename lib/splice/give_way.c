// SPDX-License-Identifier: LGPL-2.1-only OR BSD-2-Clause
/*
 * Calls that lead to a replacement where they stand give way.
 *
 * Function tracer, kprobes at entries, BPF programs and livepatches take hold of a function at its
 * ftrace site, and a call that leads elsewhere does not come there. So the site is looked at now
 * and then: as soon as it is no nop any more the calls are put back, and when it is one again they
 * lead to the replacement again. While they come by the function's entry they find there, after
 * whatever stands in the site, the jump that the function itself was replaced by.
 *
 * It is looked at, and not told: the kernel tells nobody who comes to a site, and to ask for it in
 * each call would cost the call more than the jump that it spares.
 */
#include <string.h>

#include "splice/plan.h"
#include "target/priv.h"

#define SITE_LEN 5

static const uint8_t nop[SITE_LEN] = {0x0f, 0x1f, 0x44, 0x00, 0x00};

/* A site that is on calls code of ftrace's or of BPF's, which has no name or says so. */
static bool calls_tracer(struct ki_target *t, uint64_t at, const uint8_t *code)
{
	const struct ki_symbol *to;
	int32_t far;

	if (*code != 0xe8)
		return false;
	memcpy(&far, code + 1, sizeof(far));
	to = ki_target_symbol_at(t, at + SITE_LEN + (uint64_t)(int64_t)far);
	return !to || !strncmp(to->name, "ftrace_", strlen("ftrace_"));
}

/* Where the function's ftrace site is; 0: it has none, and nobody can come. */
static uint64_t site_of(struct ki_target *t, uint64_t start)
{
	struct ki_err err = {0};
	uint8_t code[16];
	size_t at;

	if (ki_target_read(t, start, code, sizeof(code), KI_VIEW_LIVE, &err))
		return 0;
	at = ki_target_endbr_len(code, sizeof(code));
	return !memcmp(code + at, nop, SITE_LEN) || calls_tracer(t, start + at, code + at)
		       ? start + at
		       : 0;
}

int ki_plan_led(struct ki_plan *p, struct ki_target *t, const struct ki_symbol *of, uint32_t first)
{
	struct plan_led led = {.of = of,
			       .site = site_of(t, of->addr),
			       .first = first,
			       .count = (uint32_t)p->chunks.n - first};

	return led.site && led.count ? ki_vec_push(&p->led, led) : 0;
}

static bool is_installed(const struct ki_plan *p)
{
	for (size_t i = 0; i < p->chunks.n; i++)
		if (p->chunks.v[i].installed)
			return true;
	return false;
}

/* Has it changed whether somebody is there? */
static int look(struct ki_plan *p, struct ki_target *t, struct plan_led *led, bool *changed,
		struct ki_err *err)
{
	uint8_t code[SITE_LEN];
	int ret = ki_target_read(t, led->site, code, sizeof(code), KI_VIEW_LIVE, err);
	bool away = memcmp(code, nop, SITE_LEN) != 0;

	*changed = !ret && away != led->away;
	if (!*changed)
		return ret;
	led->away = away;
	for (uint32_t i = 0; i < led->count; i++)
		ki_plan_pause(p, led->first + i, away);
	return 0;
}

int ki_plan_give_way(struct ki_plan *p, struct ki_target *t, ki_plan_gave_way *told, void *arg,
		     struct ki_err *err)
{
	bool any = false;
	int ret = 0;

	for (size_t i = 0; i < p->led.n && !ret; i++) {
		struct plan_led *led = &p->led.v[i];
		bool changed;

		ret = look(p, t, led, &changed, err);
		any |= changed;
		if (changed && told)
			told(arg, led->of, led->count, led->away);
	}
	if (!ret && any && is_installed(p))
		ret = ki_plan_update(p, t, err);
	return ret;
}
