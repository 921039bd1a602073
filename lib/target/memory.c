/* SPDX-License-Identifier: LGPL-2.1-only OR BSD-2-Clause */
#include "target/memory.h"

#include <string.h>

#include "target/priv.h"

static int memory_read(struct ki_target *t, uint64_t addr, void *buf, size_t len, enum ki_view view,
		       struct ki_err *err)
{
	const struct ki_memory *m = t->own;

	(void)view;
	(void)err;
	memcpy(buf, (const uint8_t *)m->bytes + (addr - m->base), len);
	return 0;
}

static int memory_reserved(struct ki_target *t, struct ki_rows *rows, struct ki_err *err)
{
	const struct ki_memory *m = t->own;

	rows->v = malloc((m->nrows + 1) * sizeof(*rows->v));
	if (!rows->v)
		return ki_err_set(err, -ENOMEM, 0, "out of memory for the reserved text");
	if (m->nrows)
		memcpy(rows->v, m->rows, m->nrows * sizeof(*rows->v));
	rows->n = m->nrows;
	return 0;
}

static void memory_close(struct ki_target *t)
{
	free(t->own);
}

static const struct ki_target_ops memory_ops = {
	.read = memory_read,
	.reserved = memory_reserved,
	.close = memory_close,
};

static int fill(struct ki_target *t, const struct ki_memory *m, struct ki_err *err)
{
	struct ki_text_range r = {.start = m->base, .end = m->base + m->len, .module = ""};
	struct ki_symbol_list list = {0};
	uint32_t module;
	int ret = ki_symbol_list_string(&list, "", 0, &module);

	if (!ret)
		ret = ki_vec_push(&t->ranges, r);
	for (size_t i = 0; !ret && i < m->nsymbols; i++) {
		const struct ki_symbol *s = &m->symbols[i];

		module = 0;
		if (s->module && *s->module)
			ret = ki_symbol_list_string(&list, s->module, strlen(s->module), &module);
		if (!ret)
			ret = ki_symbol_list_add(&list, s->addr, s->name, strlen(s->name), module);
	}
	if (ret) {
		ki_symbol_list_free(&list);
		return ki_err_set(err, ret, 0, "out of memory for the symbols");
	}
	return ki_target_finish(t, &list, NULL, err);
}

int ki_target_open_memory(const struct ki_memory *m, struct ki_target **out, struct ki_err *err)
{
	struct ki_target *t;
	int ret;

	if (m->len > UINT64_MAX - m->base)
		return ki_err_set(err, -EINVAL, m->base, "the text ends behind the last address");
	ret = ki_target_new(&t, m->kind, &memory_ops, err);
	if (ret)
		return ret;
	t->own = malloc(sizeof(*m));
	if (t->own) {
		memcpy(t->own, m, sizeof(*m));
		ret = fill(t, m, err);
	} else {
		ret = ki_err_set(err, -ENOMEM, 0, "out of memory");
	}
	if (ret)
		ki_target_free(t);
	else
		*out = t;
	return ret;
}
