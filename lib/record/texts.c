// SPDX-License-Identifier: LGPL-2.1-only OR BSD-2-Clause
/*
 * The session's table of strings. What is there does not change any more, so it is read in place;
 * after each string there is a 0.
 */
#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <sys/ioctl.h>
#include <sys/mman.h>

#include "kerninst/record.h"

#define PAGE	   4096
#define USUAL_ROWS (1u << 17)
#define USUAL_HEAP (16u << 20)

struct ki_texts_map {
	const uint8_t *base;
	uint64_t bytes;
	uint32_t number, rows, heap;
};

static int ask(int fd, struct ki_texts_map *m, uint32_t most, uint32_t scratch, struct ki_err *err)
{
	struct ki_texts req = {.size = sizeof(req),
			       .most = most,
			       .rows = USUAL_ROWS,
			       .heap = USUAL_HEAP,
			       .scratch = scratch};
	int error;

	if (ioctl(fd, KI_IOC_TEXTS, &req)) {
		error = errno;
		if (req.reason)
			return ki_err_reason(err, req.reason, 0, "a table of strings of %u bytes",
					     most);
		return ki_err_set(err, -error, 0, "a table of strings: %s", strerror(error));
	}
	m->rows = req.rows;
	m->heap = req.heap;
	m->number = req.number;
	m->bytes = req.bytes;
	return 0;
}

int ki_texts_map_new(struct ki_target *t, uint32_t most, uint32_t scratch,
		     struct ki_texts_map **out, struct ki_err *err)
{
	struct ki_texts_map *m;
	void *base;
	int ret;

	*out = NULL;
	if (!ki_target_info(t))
		return ki_err_set(err, -EINVAL, 0, "a table of strings: the target is not live");
	m = calloc(1, sizeof(*m));
	if (!m)
		return ki_err_set(err, -ENOMEM, 0, "a table of strings: out of memory");
	ret = ask(ki_target_fd(t), m, most, scratch, err);
	if (!ret) {
		base = mmap(NULL, m->bytes, PROT_READ, MAP_SHARED, ki_target_fd(t), KI_MAP_TEXTS);
		m->base = base == MAP_FAILED ? NULL : base;
		if (!m->base)
			ret = ki_err_set(err, -errno, 0, "a table of strings: mmap: %s",
					 strerror(errno));
	}
	if (ret)
		ki_texts_map_free(m);
	else
		*out = m;
	return ret;
}

void ki_texts_map_free(struct ki_texts_map *m)
{
	if (!m)
		return;
	if (m->base)
		munmap((void *)(uintptr_t)m->base, m->bytes);
	free(m);
}

uint32_t ki_texts_number(const struct ki_texts_map *m)
{
	return m->number;
}

const char *ki_texts_get(const struct ki_texts_map *m, uint64_t number)
{
	const uint64_t *rows = (const void *)(m->base + PAGE);
	uint64_t row = number && number <= m->rows
			       ? __atomic_load_n(&rows[number - 1], __ATOMIC_ACQUIRE)
			       : 0;

	if (!row || KI_TEXTS_AT(row) + KI_TEXTS_LEN(row) >= m->heap)
		return "";
	return (const char *)(rows + m->rows) + KI_TEXTS_AT(row);
}

size_t ki_texts_length(const struct ki_texts_map *m, uint64_t number)
{
	const uint64_t *rows = (const void *)(m->base + PAGE);

	if (!*ki_texts_get(m, number) && (!number || number > m->rows))
		return 0;
	return KI_TEXTS_LEN(__atomic_load_n(&rows[number - 1], __ATOMIC_ACQUIRE));
}

uint64_t ki_texts_refused(const struct ki_texts_map *m)
{
	const struct ki_texts_head *h = (const void *)m->base;

	return __atomic_load_n(&h->refused, __ATOMIC_RELAXED);
}

uint64_t ki_texts_lost(const struct ki_texts_map *m)
{
	const struct ki_texts_head *head = (const void *)m->base;

	return __atomic_load_n(&head->lost, __ATOMIC_RELAXED);
}
