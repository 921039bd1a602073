// SPDX-License-Identifier: LGPL-2.1-only OR BSD-2-Clause
/*
 * The session's tables: asking for one, mapping it.
 */
#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <sys/ioctl.h>
#include <sys/mman.h>

#include "table/map.h"
#include "util/sized.h"

#define DEFAULT_ROWS 4096

static const uint64_t begins[KI_MERGES] = {
	[KI_MERGE_MIN] = INT64_MAX,
	[KI_MERGE_MAX] = 1ull << 63,
	[KI_MERGE_UMIN] = UINT64_MAX,
};

void ki_table_stats_merge(uint8_t *merge)
{
	static const uint8_t stats[KI_TABLE_STATS_WORDS] = {
		KI_MERGE_SUM, KI_MERGE_SUM, KI_MERGE_MIN,
		KI_MERGE_MAX, KI_MERGE_SUM, KI_MERGE_CARRY,
	};

	memcpy(merge, stats, sizeof(stats));
}

static uint32_t rows_of(uint32_t wanted)
{
	uint32_t rows = 1;

	if (!wanted)
		return DEFAULT_ROWS;
	while (rows < wanted && rows <= KI_TABLE_ROWS)
		rows *= 2;
	return rows;
}

static size_t bytes_of(const struct ki_table_map *m)
{
	return (size_t)(m->banks * m->stride);
}

static int check(const struct ki_table_options *o, struct ki_err *err)
{
	bool good = o->keys && o->keys <= KI_TABLE_KEYS && o->values &&
		    o->values <= KI_TABLE_VALUES && rows_of(o->rows) <= KI_TABLE_ROWS;

	for (uint32_t i = 0; good && o->merge && i < o->values; i++)
		good = o->merge[i] < KI_MERGES && (i || o->merge[i] != KI_MERGE_CARRY);
	if (good)
		return 0;
	return ki_err_set(err, -EINVAL, 0,
			  "a table with %u rows, %u words of a key and %u of values: there can be "
			  "%u, %u and %u",
			  o->rows, o->keys, o->values, KI_TABLE_ROWS, KI_TABLE_KEYS,
			  KI_TABLE_VALUES);
}

/* The request, and its mapping. */
static int ask(struct ki_table_map *m, int fd, const uint64_t *init, struct ki_err *err)
{
	struct ki_table_request req = {.size = sizeof(req),
				       .flags = m->shared ? KI_TABLE_SHARED : 0,
				       .keys = m->keys,
				       .values = m->values,
				       .rows = m->rows,
				       .init = (uintptr_t)init};
	void *base;

	if (ioctl(fd, KI_IOC_TABLE, &req)) {
		int error = errno;

		if (req.reason)
			return ki_err_reason(err, req.reason, 0, "a table of %u rows of %u words",
					     m->rows, 1 + m->keys + m->values);
		return ki_err_set(err, -error, 0, "a table of %u rows of %u words: %s", m->rows,
				  1 + m->keys + m->values, strerror(error));
	}
	m->banks = req.banks;
	m->stride = req.stride;
	m->number = req.number;
	base = mmap(NULL, bytes_of(m), PROT_READ, MAP_SHARED, fd, (off_t)req.offset);
	if (base == MAP_FAILED) {
		int error = errno;

		return ki_err_set(err, -error, 0, "a table: mmap: %s", strerror(error));
	}
	m->base = base;
	return 0;
}

static int begin(struct ki_table_map *m, int fd, struct ki_err *err)
{
	uint64_t *init = calloc(m->values, sizeof(*init));
	int ret;

	if (!init)
		return ki_err_set(err, -ENOMEM, 0, "a table: out of memory");
	for (uint32_t i = 0; i < m->values; i++)
		init[i] = begins[m->merge[i]];
	ret = ask(m, fd, init, err);
	free(init);
	return ret;
}

int ki_table_map_new(struct ki_target *t, const struct ki_table_options *o,
		     struct ki_table_map **out, struct ki_err *err)
{
	struct ki_table_map *m;
	int ret = ki_sized(o->size, sizeof(*o), "a table", err);

	if (!ret)
		ret = check(o, err);
	if (ret)
		return ret;
	if (!ki_target_info(t))
		return ki_err_set(err, -EINVAL, 0, "a table: the target is not live");
	m = calloc(1, sizeof(*m));
	if (!m || !(m->merge = calloc(o->values, 1))) {
		free(m);
		return ki_err_set(err, -ENOMEM, 0, "a table: out of memory");
	}
	m->keys = o->keys;
	m->values = o->values;
	m->rows = rows_of(o->rows);
	m->shared = o->shared;
	if (o->merge)
		memcpy(m->merge, o->merge, o->values);
	ret = begin(m, ki_target_fd(t), err);
	if (ret)
		ki_table_map_free(m);
	else
		*out = m;
	return ret;
}

void ki_table_map_free(struct ki_table_map *m)
{
	if (!m)
		return;
	if (m->base)
		munmap((void *)(uintptr_t)m->base, bytes_of(m));
	free(m->merge);
	free(m);
}

struct ki_table_var ki_table_var_of(const struct ki_table_map *m, const char *name)
{
	return (struct ki_table_var){.name = name,
				     .number = m->number,
				     .keys = m->keys,
				     .values = m->values,
				     .shared = m->shared};
}

uint64_t ki_table_lost(const struct ki_table_map *m)
{
	uint64_t sum = 0;

	for (uint32_t i = 0; i < m->banks; i++)
		sum += __atomic_load_n(&ki_table_head_of(m, i)->lost, __ATOMIC_ACQUIRE);
	return sum;
}

uint64_t ki_table_used(const struct ki_table_map *m)
{
	uint64_t sum = 0;

	for (uint32_t i = 0; i < m->banks; i++)
		sum += __atomic_load_n(&ki_table_head_of(m, i)->used, __ATOMIC_ACQUIRE);
	return sum;
}
