// SPDX-License-Identifier: LGPL-2.1-only OR BSD-2-Clause
/*
 * Actions that print memory: tracemem(), print(), and trace().
 */
#include <stdlib.h>
#include <string.h>

#include "dlang/print/print.h"
#include "dlang/print/show.h"
#include "dlang/run/reading.h"

int ki_d_print_memory(struct ki_d_reading *r, const struct ki_d_action *a)
{
	const uint32_t size = a->args[0].size;
	uint8_t *bytes = ki_d_take_bytes(r, size);
	uint64_t shown = size;

	if (!bytes)
		return ki_d_no_memory(r->c->err);
	if (a->nargs > 1)
		shown = ki_d_take_word(r);
	if (shown)
		ki_d_show_bytes(r->c->f, bytes, shown < size ? (uint32_t)shown : size);
	free(bytes);
	return 0;
}

/* trace() of a struct or an array. */
static int print_bytes(struct ki_d_reading *r, const struct ki_d_arg *arg)
{
	const struct ki_d_settings *set = &r->c->d->set;
	uint8_t *bytes = ki_d_take_bytes(r, arg->size);

	if (!bytes)
		return ki_d_no_memory(r->c->err);
	if (set->rawbytes)
		ki_d_show_bytes(r->c->f, bytes, arg->size);
	else
		ki_d_show_text_or_bytes(r->c->f, bytes, arg->size,
					set->quiet ? 0 : KI_D_TEXT_COLUMNS);
	free(bytes);
	return 0;
}

int ki_d_print_typed(struct ki_d_reading *r, const struct ki_d_action *a)
{
	const struct ki_d_arg *arg = &a->args[0];
	uint8_t *bytes = ki_d_take_bytes(r, arg->size);

	if (!bytes)
		return ki_d_no_memory(r->c->err);
	ki_d_print_at(r->c->d, r->c->f, ki_d_print_type(r->c->d, arg->node), ki_d_take_word(r),
		      bytes, arg->size);
	free(bytes);
	return 0;
}

/* Option rawbytes: a string as the bytes that it has room for. */
static int print_raw(struct ki_d_reading *r, const struct ki_d_arg *arg)
{
	const unsigned int size = ki_d_strsize(r->c->d);
	const char *text = ki_d_take_text(r, arg);
	uint8_t *bytes = calloc(1, size);

	if (!bytes)
		return ki_d_no_memory(r->c->err);
	memcpy(bytes, text, strnlen(text, size - 1));
	ki_d_show_bytes(r->c->f, bytes, size);
	free(bytes);
	return 0;
}

int ki_d_print_traced(struct ki_d_reading *r, const struct ki_d_action *a)
{
	if (a->args[0].form == KI_D_FORM_BYTES)
		return print_bytes(r, &a->args[0]);
	if (r->c->d->set.rawbytes && ki_d_is_string(a->args[0].node->type))
		return print_raw(r, &a->args[0]);
	ki_d_print_value(r, &a->args[0], r->c->d->set.quiet);
	return 0;
}
