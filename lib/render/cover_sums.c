// SPDX-License-Identifier: LGPL-2.1-only OR BSD-2-Clause
#include "render/cover_sums.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

void ki_cover_sum_add(struct ki_cover_sum *s, const struct ki_coverage *c,
		      const struct ki_cover_function *f)
{
	const struct ki_cover_block *b = c->blocks + f->first_block;
	uint64_t hit = 0;

	for (uint32_t i = 0; i < f->nblocks; i++) {
		hit += b[i].count != 0;
		s->known += b[i].how != KI_COVER_UNKNOWN;
		if (b[i].count > s->most)
			s->most = b[i].count;
	}
	s->functions++;
	s->functions_hit += hit != 0;
	s->blocks += f->nblocks;
	s->hit += hit;
	if (f->nblocks && __builtin_add_overflow(s->entries, b->count, &s->entries))
		s->entries = UINT64_MAX;
}

struct member {
	const char *group;
	uint32_t function;
};

static int by_group(const void *a, const void *b)
{
	const struct member *ma = a, *mb = b;
	int order = strcmp(ma->group, mb->group);

	return order ? order : ma->function < mb->function ? -1 : ma->function > mb->function;
}

static int by_hits(const void *a, const void *b)
{
	const struct ki_cover_sum *sa = a, *sb = b;

	if (sa->hit != sb->hit)
		return sa->hit > sb->hit ? -1 : 1;
	return strcmp(sa->name, sb->name);
}

/* Groups of members that stand in order. */
static int cut(const struct ki_coverage *c, const struct member *m, size_t count,
	       struct ki_cover_sum **out, size_t *ngroups)
{
	size_t n = 0, g = 0;
	struct ki_cover_sum *v;

	for (size_t i = 0; i < count; i++)
		n += !i || strcmp(m[i].group, m[i - 1].group) != 0;
	v = calloc(n + 1, sizeof(*v));
	if (!v)
		return -ENOMEM;
	for (size_t i = 0, end; i < count; i = end, g++) {
		for (end = i + 1; end < count && !strcmp(m[i].group, m[end].group); end++)
			;
		v[g].name = m[i].group;
		v[g].members = calloc(end - i, sizeof(*v->members));
		if (!v[g].members) {
			ki_cover_sums_free(v, g);
			return -ENOMEM;
		}
		for (size_t k = i; k < end; k++) {
			v[g].members[k - i] = m[k].function;
			ki_cover_sum_add(&v[g], c, &c->functions[m[k].function]);
		}
	}
	qsort(v, n, sizeof(*v), by_hits);
	*out = v;
	*ngroups = n;
	return 0;
}

int ki_cover_sums(const struct ki_coverage *c, const struct ki_cover_sum *of,
		  ki_cover_group_name *name, const void *arg, struct ki_cover_sum **out, size_t *n)
{
	size_t count = of ? of->functions : c->nfunctions;
	struct member *m = calloc(count + 1, sizeof(*m));
	int ret;

	if (!m)
		return -ENOMEM;
	for (size_t i = 0; i < count; i++) {
		uint32_t function = of ? of->members[i] : (uint32_t)i;

		m[i] = (struct member){.group = name(arg, function), .function = function};
	}
	qsort(m, count, sizeof(*m), by_group);
	ret = cut(c, m, count, out, n);
	free(m);
	return ret;
}

void ki_cover_sums_free(struct ki_cover_sum *v, size_t n)
{
	for (size_t i = 0; i < n; i++)
		free(v[i].members);
	free(v);
}
