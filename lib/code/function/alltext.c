/* SPDX-License-Identifier: LGPL-2.1-only OR BSD-2-Clause */
#include "code/function/alltext.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "target/priv.h"
#include "util/search.h"

static int read_piece(struct ki_target *t, const struct ki_text_range *r,
		      struct ki_text_piece *piece, struct ki_err *err)
{
	size_t len = r->end - r->start;
	bool module = *r->module;
	int ret;

	piece->start = r->start;
	piece->end = r->end;
	piece->bytes = t->ops->view ? t->ops->view(t, r->start, len) : NULL;
	if (piece->bytes)
		return 0;
	piece->bytes = piece->owned = malloc(len);
	if (!piece->owned)
		return ki_err_set(err, -ENOMEM, r->start, "out of memory for the text");
	ret = ki_target_read(t, r->start, piece->owned, len, KI_VIEW_ORIG, module ? NULL : err);
	if (!ret)
		return 0;
	free(piece->owned);
	piece->bytes = piece->owned = NULL;
	/* A module may have gone meanwhile. */
	return module ? 0 : ret;
}

int ki_text_read(struct ki_target *t, struct ki_text *text, struct ki_err *err)
{
	size_t n;
	const struct ki_text_range *ranges = ki_target_ranges(t, &n);

	*text = (struct ki_text){.pieces = calloc(n + 1, sizeof(*text->pieces))};
	if (!text->pieces)
		return ki_err_set(err, -ENOMEM, 0, "out of memory for the text");
	for (; text->n < n; text->n++) {
		struct ki_text_piece *piece = &text->pieces[text->n];
		int ret = read_piece(t, &ranges[text->n], piece, err);

		if (ret) {
			ki_text_free(text);
			return ret;
		}
		if (piece->bytes)
			text->total += piece->end - piece->start;
	}
	return 0;
}

void ki_text_free(struct ki_text *text)
{
	for (size_t i = 0; i < text->n; i++)
		free(text->pieces[i].owned);
	free(text->pieces);
	*text = (struct ki_text){0};
}

const struct ki_text_piece *ki_text_piece_at(const struct ki_text *text, uint64_t addr)
{
	size_t lo = KI_FIRST(i, text->n, text->pieces[i].end > addr);

	return lo < text->n && text->pieces[lo].start <= addr ? &text->pieces[lo] : NULL;
}

const uint8_t *ki_text_at(const struct ki_text *text, uint64_t addr, size_t *avail)
{
	const struct ki_text_piece *piece = ki_text_piece_at(text, addr);

	if (!piece || !piece->bytes)
		return NULL;
	*avail = piece->end - addr;
	return piece->bytes + (addr - piece->start);
}
