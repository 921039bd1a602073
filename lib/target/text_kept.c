/* SPDX-License-Identifier: LGPL-2.1-only OR BSD-2-Clause */
/*
 * The text of kernel and modules in a file, and what has become of it since.
 *
 * A file is a line (KEPT_MAGIC) and then, for each range of text, a header and its bytes, those
 * that the kernel itself rewrites taken as zero (text_hash.c). It is read back range by range, and
 * of a range only if the kernel has one of the same module at the same addresses: so no length of
 * the file is trusted further than to skip it.
 */
#include "target/text.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define KEPT_MAGIC "kerninst text 1\n"

struct kept_header {
	uint64_t start, end;
	char module[64]; /* its terminator included; "" the kernel */
};

struct kept_file {
	FILE *f;
	const char *path;
	struct ki_err *err;
};

static int failed(const struct kept_file *k)
{
	int code = errno ? -errno : -EIO;

	return ki_err_set(k->err, code, 0, "%s: %s", k->path, strerror(-code));
}

static int is_no_kept_text(const struct kept_file *k)
{
	return ki_err_set(k->err, -EINVAL, 0, "%s: not a file of kept text, or cut off", k->path);
}

static bool is_kept(const struct ki_target *t, const struct ki_text_range *r)
{
	return ki_target_text_is_watched(t, r) &&
	       strlen(r->module) < sizeof(((struct kept_header *)0)->module);
}

static int keep_range(struct ki_target *t, const struct ki_text_range *r, enum ki_view view,
		      const struct kept_file *k)
{
	struct kept_header h = {.start = r->start, .end = r->end};
	uint8_t *text;
	int ret = ki_target_text_masked(t, r, view, &text, k->err);

	if (ret)
		return ret;
	strcpy(h.module, r->module);
	if (fwrite(&h, sizeof(h), 1, k->f) != 1 || fwrite(text, r->end - r->start, 1, k->f) != 1)
		ret = failed(k);
	free(text);
	return ret;
}

int ki_target_text_keep(struct ki_target *t, const char *path, enum ki_view view,
			struct ki_err *err)
{
	struct kept_file k = {fopen(path, "we"), path, err};
	int ret = 0;

	if (!k.f || fputs(KEPT_MAGIC, k.f) < 0)
		ret = failed(&k);
	for (size_t i = 0; !ret && i < t->ranges.n; i++)
		if (is_kept(t, &t->ranges.v[i]))
			ret = keep_range(t, &t->ranges.v[i], view, &k);
	if (k.f && fclose(k.f) && !ret)
		ret = failed(&k);
	return ret;
}

static const struct ki_text_range *range_of(const struct ki_target *t, const struct kept_header *h)
{
	for (size_t i = 0; i < t->ranges.n; i++) {
		const struct ki_text_range *r = &t->ranges.v[i];

		if (r->start == h->start && r->end == h->end && !strcmp(r->module, h->module))
			return r;
	}
	return NULL;
}

static void note_first(struct ki_text_change *c, uint64_t addr, const uint8_t *was,
		       const uint8_t *is, size_t len)
{
	c->addr = addr;
	c->len = len < sizeof(c->was) ? len : sizeof(c->was);
	memcpy(c->was, was, c->len);
	memcpy(c->is, is, c->len);
}

static void compare(struct ki_text_change *c, uint64_t start, const uint8_t *was, const uint8_t *is,
		    size_t len)
{
	for (size_t i = 0; i < len; i++) {
		if (was[i] == is[i])
			continue;
		if (!c->differing++)
			note_first(c, start + i, was + i, is + i, len - i);
	}
	c->compared += len;
}

/* A range that is not there any more: its bytes are passed over. */
static int skip_range(const struct kept_header *h, const struct kept_file *k,
		      struct ki_text_change *c)
{
	if (!*h->module)
		return ki_err_set(k->err, -ESTALE, h->start,
				  "%s: the kernel was at other addresses then: another boot",
				  k->path);
	c->gone++;
	return fseek(k->f, (long)(h->end - h->start), SEEK_CUR) ? failed(k) : 0;
}

static int compare_range(struct ki_target *t, const struct kept_header *h,
			 const struct kept_file *k, struct ki_text_change *c)
{
	const struct ki_text_range *r = range_of(t, h);
	size_t len = h->end - h->start;
	uint8_t *is = NULL, *was = NULL;
	int ret = r ? ki_target_text_masked(t, r, KI_VIEW_LIVE, &is, k->err) : 0;

	if (!r || ki_target_text_is_gone(r, ret, k->err))
		return skip_range(h, k, c);
	if (!ret && !(was = malloc(len)))
		ret = ki_err_set(k->err, -ENOMEM, r->start, "out of memory for the text");
	if (!ret && fread(was, len, 1, k->f) != 1)
		ret = is_no_kept_text(k);
	if (!ret)
		compare(c, r->start, was, is, len);
	free(was);
	free(is);
	return ret;
}

static int compare_next(struct ki_target *t, const struct kept_file *k, struct ki_text_change *c,
			bool *more)
{
	struct kept_header h;
	size_t n = fread(&h, 1, sizeof(h), k->f);

	*more = n != 0;
	if (!n && c->compared)
		return 0;
	if (n != sizeof(h) || h.end <= h.start || h.end - h.start > INT32_MAX ||
	    memchr(h.module, 0, sizeof(h.module)) == NULL)
		return is_no_kept_text(k);
	return compare_range(t, &h, k, c);
}

int ki_target_text_compare(struct ki_target *t, const char *path, struct ki_text_change *out,
			   struct ki_err *err)
{
	struct kept_file k = {fopen(path, "re"), path, err};
	char magic[sizeof(KEPT_MAGIC) - 1];
	bool more = true;
	int ret = 0;

	*out = (struct ki_text_change){0};
	if (!k.f)
		return failed(&k);
	if (fread(magic, sizeof(magic), 1, k.f) != 1 || memcmp(magic, KEPT_MAGIC, sizeof(magic)))
		ret = is_no_kept_text(&k);
	while (!ret && more)
		ret = compare_next(t, &k, out, &more);
	fclose(k.f);
	return ret;
}
