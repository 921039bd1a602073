// SPDX-License-Identifier: LGPL-2.1-only OR BSD-2-Clause
/*
 * The totals of a coverage, and the names that its parts have in files and in tables.
 */
#include <string.h>

#include "cover/coverage.h"

_Static_assert(KI_R_COUNT <= sizeof(((struct ki_cover_totals *)0)->refused) / sizeof(uint64_t),
	       "each reason has its place");

#define TOTAL(field, kind)                                                                         \
	{                                                                                          \
#field, offsetof(struct ki_cover_totals, field), kind                              \
	}

const struct ki_cover_total ki_cover_total_names[] = {
	TOTAL(functions, KI_TOTAL_SUM),
	TOTAL(functions_touchable, KI_TOTAL_SUM),
	TOTAL(functions_hit, KI_TOTAL_SUM),
	TOTAL(blocks, KI_TOTAL_SUM),
	TOTAL(blocks_touchable, KI_TOTAL_SUM),
	TOTAL(probes, KI_TOTAL_GIVEN),
	TOTAL(known, KI_TOTAL_SUM),
	TOTAL(hit, KI_TOTAL_SUM),
	TOTAL(removed, KI_TOTAL_GIVEN),
	TOTAL(heap_bytes, KI_TOTAL_GIVEN),
	TOTAL(memory_bytes, KI_TOTAL_GIVEN),
	TOTAL(seconds_analysis, KI_TOTAL_SECONDS),
	TOTAL(seconds_install, KI_TOTAL_SECONDS),
	TOTAL(seconds_run, KI_TOTAL_SECONDS),
	TOTAL(seconds_remove, KI_TOTAL_SECONDS),
};
const size_t ki_cover_ntotals = sizeof(ki_cover_total_names) / sizeof(*ki_cover_total_names);

static const char *name_of(const char *const *names, size_t n, unsigned int i)
{
	return i < n ? names[i] : "?";
}

#define NAME(names, i) name_of(names, sizeof(names) / sizeof(*(names)), i)

const char *ki_cover_mode_name(unsigned int mode)
{
	static const char *const names[] = {"hit", "count", "edges"};

	return NAME(names, mode);
}

const char *ki_cover_how_name(unsigned int how)
{
	static const char *const names[] = {"probed", "implied", "unknown"};

	return NAME(names, how);
}

const char *ki_cover_change_name(unsigned int change)
{
	static const char *const names[] = {"reached", "gone", "hotter", "colder"};

	return NAME(names, change);
}

const char *ki_cover_match_name(unsigned int match)
{
	static const char *const names[] = {"same", "differs", "only-old", "only-new"};

	return NAME(names, match);
}

static void clear_sums(struct ki_cover_totals *t)
{
	for (size_t i = 0; i < ki_cover_ntotals; i++)
		if (ki_cover_total_names[i].kind == KI_TOTAL_SUM)
			*(uint64_t *)((char *)t + ki_cover_total_names[i].offset) = 0;
	memset(t->refused, 0, sizeof(t->refused));
}

static void add_function(struct ki_cover_totals *t, const struct ki_coverage *c,
			 const struct ki_cover_function *f)
{
	const struct ki_cover_block *b = c->blocks + f->first_block;
	uint64_t hit = 0;

	for (uint32_t i = 0; i < f->nblocks; i++) {
		hit += b[i].count != 0;
		t->known += b[i].how != KI_COVER_UNKNOWN;
		if (b[i].how == KI_COVER_UNKNOWN && f->reason == KI_R_OK)
			t->refused[b[i].reason]++;
	}
	t->functions++;
	t->functions_touchable += f->reason == KI_R_OK;
	t->functions_hit += hit != 0;
	t->blocks += f->nblocks;
	t->blocks_touchable += f->reason == KI_R_OK ? f->nblocks : 0;
	t->hit += hit;
}

void ki_coverage_total(struct ki_coverage *c)
{
	clear_sums(&c->totals);
	for (size_t i = 0; i < c->nfunctions; i++)
		add_function(&c->totals, c, &c->functions[i]);
}
