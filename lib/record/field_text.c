// SPDX-License-Identifier: LGPL-2.1-only OR BSD-2-Clause
/*
 * A text's words together, a stack as its frames, the innermost first.
 */
#include "record/field_text.h"

#include <ctype.h>
#include <inttypes.h>
#include <stdio.h>

#include "out/seconds.h"
#include "kerninst/snippet.h"
#include "snippet/tree.h"

#define FRAME 512

unsigned int ki_field_words(const struct ki_record_field *fields, unsigned int n, unsigned int i)
{
	unsigned int words = 1;

	while (i + words < n && ki_field_goes_on(fields, i + words))
		words++;
	return words;
}

bool ki_field_is_negative(const struct ki_record_field *f, uint64_t v)
{
	return ki_types[f->type].sign && (int64_t)v < 0;
}

double ki_field_number(const struct ki_record_field *f, uint64_t v)
{
	return ki_field_is_negative(f, v) ? (double)(int64_t)v : (double)v;
}

/* A text from words. */
static char *words_text(const uint64_t *words, unsigned int n, char *text)
{
	char *to = text;

	for (unsigned int b = 0; b < 8 * n; b++) {
		char ch = (char)(words[b / 8] >> 8 * (b % 8));

		if (!ch)
			break;
		*to++ = isprint((unsigned char)ch) ? ch : '?';
	}
	*to = 0;
	return text;
}

char *ki_field_code(const char *name, uint64_t offset, uint64_t addr, char *text, size_t size)
{
	if (!name)
		snprintf(text, size, "0x%" PRIx64, addr);
	else if (!offset)
		snprintf(text, size, "%s", name);
	else
		snprintf(text, size, "%s+0x%" PRIx64, name, offset);
	return text;
}

static char *code_text(const struct ki_field_names *names, uint64_t v, char *text)
{
	uint64_t offset = 0;
	const char *name = names->symbol(names->arg, v, &offset);

	return ki_field_code(name, offset, v, text, KI_FIELD_TEXT);
}

static char *stack_text(const struct ki_field_names *names, uint64_t number, char *text)
{
	char frame[FRAME];
	struct ki_stack s;
	size_t n = 0;

	*text = 0;
	if (!names->stack(names->arg, number, &s))
		return text;
	for (uint32_t k = 0; k < s.n && n < KI_FIELD_TEXT - 1; k++)
		n += (size_t)snprintf(text + n, KI_FIELD_TEXT - n, "%s%s", k ? ";" : "",
				      names->frame(names->arg, &s, k, frame, sizeof(frame)));
	return text;
}

char *ki_field_text(const struct ki_field_names *names, const struct ki_record_field *f,
		    const uint64_t *words, unsigned int nwords, char text[KI_FIELD_TEXT])
{
	uint64_t v = *words;

	switch (f->show) {
	case KI_SHOW_HEX:
		snprintf(text, KI_FIELD_TEXT, "0x%" PRIx64, v);
		return text;
	case KI_SHOW_CODE:
		return code_text(names, v, text);
	case KI_SHOW_TICKS:
		return ki_seconds_text(ki_field_number(f, v) / names->khz / 1e3, text);
	case KI_SHOW_SECONDS:
		return ki_seconds_text(ki_field_number(f, v) / 1e9, text);
	case KI_SHOW_TEXT:
		return words_text(words, nwords, text);
	case KI_SHOW_STACK:
		return stack_text(names, v, text);
	default:
		snprintf(text, KI_FIELD_TEXT, ki_field_is_negative(f, v) ? "%" PRId64 : "%" PRIu64,
			 v);
		return text;
	}
}
