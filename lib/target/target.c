/* SPDX-License-Identifier: LGPL-2.1-only OR BSD-2-Clause */
/*
 * What all kinds of target have in common.
 */
#include "target/priv.h"
#include "util/search.h"

#include <string.h>

int ki_target_new(struct ki_target **out, enum ki_target_kind kind, const struct ki_target_ops *ops,
		  struct ki_err *err)
{
	struct ki_target *t = calloc(1, sizeof(*t));

	if (!t)
		return ki_err_set(err, -ENOMEM, 0, "out of memory");
	t->kind = kind;
	t->ops = ops;
	t->fd = -1;
	*out = t;
	return 0;
}

void ki_target_clear(struct ki_target *t)
{
	if (t->facts)
		t->facts_free(t->facts);
	t->facts = NULL;
	ki_vec_free(&t->ranges);
	free(t->symbols);
	t->symbols = NULL;
	t->nsymbols = t->nexternals = 0;
	free(t->names.head);
	free(t->names.next);
	t->names = (struct ki_name_index){0};
	free(t->strings);
	t->strings = NULL;
	free(t->rows.v);
	free(t->rows.reach);
	t->rows = (struct ki_rows){0};
}

void ki_target_free(struct ki_target *t)
{
	if (!t)
		return;
	ki_target_clear(t);
	t->ops->close(t);
	free(t);
}

enum ki_target_kind ki_target_kind(const struct ki_target *t)
{
	return t->kind;
}

int ki_target_fd(const struct ki_target *t)
{
	return t->fd;
}

const struct ki_info *ki_target_info(const struct ki_target *t)
{
	return t->has_info ? &t->info : NULL;
}

const struct ki_text_range *ki_target_ranges(const struct ki_target *t, size_t *count)
{
	*count = t->ranges.n;
	return t->ranges.v;
}

const struct ki_symbol *ki_target_symbols(const struct ki_target *t, size_t *count)
{
	*count = t->nsymbols;
	return t->symbols;
}

const struct ki_text_range *ki_target_range_at(const struct ki_target *t, uint64_t addr)
{
	size_t lo = KI_FIRST(i, t->ranges.n, t->ranges.v[i].end > addr);

	if (lo == t->ranges.n || t->ranges.v[lo].start > addr)
		return NULL;
	return &t->ranges.v[lo];
}

int ki_target_not_text(struct ki_err *err, uint64_t addr, size_t len)
{
	return ki_err_reason(err, KI_R_NOT_TEXT, addr, "0x%llx, %zu bytes",
			     (unsigned long long)addr, len);
}

/* Patches are code, too, though no module that is listed has them. */
static bool is_patch(const struct ki_target *t, uint64_t addr, size_t len)
{
	return t->has_info && addr >= t->info.heap_start && addr <= t->info.heap_end &&
	       len <= t->info.heap_end - addr;
}

int ki_target_read(struct ki_target *t, uint64_t addr, void *buf, size_t len, enum ki_view view,
		   struct ki_err *err)
{
	const struct ki_text_range *r = ki_target_range_at(t, addr);

	if (view != KI_VIEW_LIVE && view != KI_VIEW_ORIG)
		return ki_err_set(err, -EINVAL, addr, "no such view of the text: %d", (int)view);
	if ((!r || len > r->end - addr) && !is_patch(t, addr, len))
		return ki_target_not_text(err, addr, len);
	if (!len)
		return 0;
	return t->ops->read(t, addr, buf, len, view, err);
}

int ki_target_read_data(struct ki_target *t, uint64_t addr, void *buf, size_t len,
			struct ki_err *err)
{
	if (!len)
		return 0;
	if (len - 1 > UINT64_MAX - addr)
		return ki_err_set(err, -EFAULT, addr,
				  "0x%llx: %zu bytes go beyond the last address",
				  (unsigned long long)addr, len);
	if (!t->ops->read_data)
		return ki_target_read(t, addr, buf, len, KI_VIEW_LIVE, err);
	return t->ops->read_data(t, addr, buf, len, err);
}

int ki_target_write_data(struct ki_target *t, uint64_t addr, const void *buf, size_t len,
			 struct ki_err *err)
{
	if (!t->ops->write_data)
		return ki_err_set(err, -EOPNOTSUPP, addr, "only memory of a process is written");
	return len ? t->ops->write_data(t, addr, buf, len, err) : 0;
}

static bool same_symbols(const struct ki_target *a, const struct ki_target *b)
{
	if (a->nsymbols != b->nsymbols)
		return false;
	for (size_t i = 0; i < a->nsymbols; i++) {
		const struct ki_symbol *x = &a->symbols[i], *y = &b->symbols[i];

		if (x->addr != y->addr || x->size != y->size || strcmp(x->name, y->name) ||
		    strcmp(x->module, y->module))
			return false;
	}
	return true;
}

static bool same_ranges(const struct ki_target *a, const struct ki_target *b)
{
	if (a->ranges.n != b->ranges.n)
		return false;
	for (size_t i = 0; i < a->ranges.n; i++) {
		const struct ki_text_range *x = &a->ranges.v[i], *y = &b->ranges.v[i];

		if (x->start != y->start || x->end != y->end || strcmp(x->module, y->module))
			return false;
	}
	return true;
}

int ki_target_refresh(struct ki_target *t, bool *changed, struct ki_err *err)
{
	struct ki_target next = {
		.ops = t->ops, .kind = t->kind, .fd = t->fd, .info = t->info, .own = t->own};
	int ret;

	*changed = false;
	if (!t->ops->refresh)
		return 0;
	ret = t->ops->refresh(t, &next, err);
	if (ret || (same_ranges(t, &next) && same_symbols(t, &next))) {
		ki_target_clear(&next);
		return ret;
	}
	*changed = true;
	ki_target_clear(t);
	t->ranges.v = next.ranges.v;
	t->ranges.n = next.ranges.n;
	t->ranges.cap = next.ranges.cap;
	t->symbols = next.symbols;
	t->nsymbols = next.nsymbols;
	t->names = next.names;
	t->strings = next.strings;
	return 0;
}

size_t ki_target_endbr_len(const uint8_t *p, size_t avail)
{
	/* The second and third are what 6.1..6.14 and later kernels write over unused ones. */
	static const uint8_t forms[][4] = {
		{0xf3, 0x0f, 0x1e, 0xfa}, {0x66, 0x0f, 0x1f, 0x00}, {0x0f, 0x1f, 0x40, 0xd6}};

	for (size_t i = 0; avail >= 4 && i < sizeof(forms) / sizeof(*forms); i++)
		if (memcmp(p, forms[i], 4) == 0)
			return 4;
	return 0;
}
