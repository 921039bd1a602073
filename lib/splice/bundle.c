// SPDX-License-Identifier: LGPL-2.1-only OR BSD-2-Clause
/*
 * What of a plan belongs together: stages, which are installed one after the other, and bundles,
 * which are installed wholly or not at all.
 *
 * A bundle may lie in several stages, so it may be refused when a part of it stands in the text
 * already. Its parts in later stages are then not asked for, and those that stand are taken out
 * when the last stage is done. Whoever makes stages has to see to it that the lower ones alone do
 * no harm.
 */
#include <errno.h>

#include "splice/plan.h"

void ki_plan_stage(struct ki_plan *p, unsigned int stage)
{
	p->stage = (uint16_t)stage;
}

int ki_plan_bundle_begin(struct ki_plan *p, uint32_t *bundle)
{
	if (ki_vec_push(&p->bundles, (struct plan_bundle){.first = (uint32_t)p->chunks.n}))
		return -ENOMEM;
	p->bundling = true;
	*bundle = (uint32_t)p->bundles.n - 1;
	return 0;
}

void ki_plan_bundle_end(struct ki_plan *p)
{
	p->bundling = false;
}

int ki_plan_bundle_need(struct ki_plan *p, uint32_t bundle, uint32_t needs)
{
	return ki_vec_push(&p->needs, (struct plan_need){bundle, needs});
}

void ki_plan_leave_out(struct ki_plan *p, uint32_t bundle, unsigned int reason)
{
	p->bundles.v[bundle].left_out = (uint16_t)reason;
}

static void refuse_bundle(struct ki_plan *p, uint32_t bundle, unsigned int reason)
{
	const struct plan_bundle *b = &p->bundles.v[bundle];
	bool news = false;

	for (uint32_t i = b->first; i < b->first + b->count; i++) {
		news |= p->chunks.v[i].c.reason == KI_R_OK;
		if (p->chunks.v[i].c.reason == KI_R_OK)
			p->chunks.v[i].c.reason = reason;
	}
	for (size_t i = 0; news && i < p->needs.n; i++)
		if (p->needs.v[i].needs == bundle)
			refuse_bundle(p, p->needs.v[i].bundle, reason);
}

void ki_bundle_refuse(struct ki_plan *p, uint32_t id, unsigned int reason)
{
	uint32_t bundle = p->chunks.v[id].bundle;

	p->chunks.v[id].c.reason = KI_R_OK;
	if (bundle == KI_NONE)
		p->chunks.v[id].c.reason = reason;
	else
		refuse_bundle(p, bundle, reason);
}

void ki_bundle_begin(struct ki_plan *p)
{
	for (size_t i = 0; i < p->chunks.n; i++) {
		p->chunks.v[i].c.reason = KI_R_OK;
		p->chunks.v[i].fresh = false;
	}
	for (uint32_t i = 0; i < p->bundles.n; i++)
		if (p->bundles.v[i].left_out)
			refuse_bundle(p, i, p->bundles.v[i].left_out);
}
