// SPDX-License-Identifier: GPL-2.0-only
#include "text_words.h"

#include <inttypes.h>
#include <stdio.h>

static void hex(const uint8_t *bytes, size_t len, char *out)
{
	for (size_t i = 0; i < len; i++)
		sprintf(out + 3 * i, "%02x%s", bytes[i], i + 1 < len ? " " : "");
}

void text_words(const struct ki_target *t, const struct ki_text_change *c, struct text_words *w)
{
	const struct ki_symbol *s = ki_target_symbol_at(t, c->addr);

	_Static_assert(3 * sizeof(c->was) < sizeof(w->was), "each byte takes three");
	if (!s)
		snprintf(w->place, sizeof(w->place), "0x%" PRIx64, c->addr);
	else
		snprintf(w->place, sizeof(w->place), "%s%s%s+0x%" PRIx64, s->module,
			 *s->module ? ":" : "", s->name, c->addr - s->addr);
	*w->was = *w->is = 0;
	hex(c->was, c->len, w->was);
	hex(c->is, c->len, w->is);
}
