// SPDX-License-Identifier: LGPL-2.1-only OR BSD-2-Clause
#include "dlang/run/reading.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

uint64_t ki_d_take_word(struct ki_d_reading *r)
{
	return *r->next++;
}

/* A string that is not in the record: it is written in the program, or the probe's. */
static const char *known_text(const struct ki_d_reading *r, const struct ki_d_node *n)
{
	const char *const fields[] = {ki_d_provider_name(r->probe), r->probe->module,
				      r->probe->function, r->probe->name};

	if (n->kind == KI_D_TEXT)
		return n->text;
	return fields[n->sym.builtin->number & 3];
}

const char *ki_d_take_text(struct ki_d_reading *r, const struct ki_d_arg *a)
{
	size_t size = 8 * ki_d_form_words(a->form);

	if (a->form == KI_D_FORM_PROBE)
		return known_text(r, a->node);
	if (a->form == KI_D_FORM_TEXT)
		return ki_texts_get(r->c->d->run->strings, ki_d_take_word(r));
	memcpy(r->text, r->next, size);
	r->text[size] = 0;
	r->next += ki_d_form_words(a->form);
	return r->text;
}

const char *ki_d_take_place(struct ki_d_reading *r, const struct ki_d_arg *a,
			    char text[KI_D_ADDRESS])
{
	const uint64_t *words = r->next;

	r->next += ki_d_form_words(a->form);
	return ki_d_place_text(r->c->d, (enum ki_d_place)a->node->type.num, words, text);
}

int ki_d_take_packet(struct ki_d_reading *r, const struct ki_d_action *a, struct ki_d_packet *out)
{
	const uint32_t most = a->args[a->nargs - 1].size;
	const uint64_t kind = a->nargs > 1 ? ki_d_take_word(r) : a->node->kid[0]->next->value,
		       head = ki_d_take_word(r);

	*out = (struct ki_d_packet){.kind = (uint32_t)kind,
				    .size = (uint32_t)(head >> 32),
				    .length = (uint32_t)head,
				    .time = ki_d_take_word(r)};
	if (out->size > most)
		out->size = most;
	out->bytes = ki_d_take_bytes(r, most);
	return out->bytes ? 0 : -ENOMEM;
}

uint8_t *ki_d_take_bytes(struct ki_d_reading *r, uint32_t size)
{
	const struct ki_texts_map *m = r->c->d->run->strings;
	const uint32_t piece = ki_d_bytes_piece(r->c->d);
	uint8_t *bytes = calloc(size + !size, 1);

	for (uint32_t at = 0; bytes && at < size; at += piece) {
		const uint64_t number = ki_d_take_word(r);
		const size_t room = size - at, len = ki_texts_length(m, number);

		memcpy(bytes + at, ki_texts_get(m, number), len < room ? len : room);
	}
	return bytes;
}
