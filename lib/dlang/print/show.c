// SPDX-License-Identifier: LGPL-2.1-only OR BSD-2-Clause
#include "dlang/print/show.h"

#include <ctype.h>
#include <errno.h>
#include <inttypes.h>
#include <string.h>

#include "dlang/print/place.h"
#include "dlang/run/run.h"
#include "snippet/tree.h"
#include "record/stacks.h"

/* ---- numbers ---- */

void ki_d_show_number(FILE *f, struct ki_d_type t, uint64_t value, bool quiet)
{
	static const uint8_t widths[][2] = {
		[1] = {3, 3}, [2] = {5, 5}, [4] = {10, 10}, [8] = {19, 20}};
	const bool is_unsigned = ki_d_num(t) >= KI_U8;
	const int64_t number = (int64_t)ki_type_extend(ki_d_num(t), value);
	const int width = quiet ? 0 : widths[ki_d_size(t)][is_unsigned];

	if (!quiet)
		fputc(' ', f);
	if (is_unsigned)
		fprintf(f, "%*" PRIu64, width, (uint64_t)number);
	else
		fprintf(f, "%*" PRId64, width, number);
}

void ki_d_show_key(FILE *f, unsigned int size, uint64_t value)
{
	switch (size) {
	case 1:
		fprintf(f, " %3u", (uint8_t)value);
		break;
	case 2:
		fprintf(f, " %5u", (uint16_t)value);
		break;
	case 4:
		fprintf(f, " %8" PRId32, (int32_t)value);
		break;
	default:
		fprintf(f, " %16" PRId64, (int64_t)value);
		break;
	}
}

/* ---- memory ---- */

#define LINE 16

void ki_d_show_bytes(FILE *f, const uint8_t *bytes, size_t n)
{
	static const char digits[] = "0123456789abcdef";

	fprintf(f, "\n%*s      ", 5, "");
	for (int i = 0; i < LINE; i++)
		fprintf(f, "  %c", digits[i]);
	fprintf(f, "  %s\n", digits);
	for (size_t at = 0; at < n; at += LINE) {
		fprintf(f, "%*s%5zx:", 5, "", at);
		for (size_t i = at; i < at + LINE; i++) {
			if (i < n)
				fprintf(f, " %02x", bytes[i]);
			else
				fputs("   ", f);
		}
		fputs("  ", f);
		for (size_t i = at; i < at + LINE && i < n; i++)
			fputc(isprint(bytes[i]) ? bytes[i] : '.', f);
		fputc('\n', f);
	}
}

static bool is_text(const uint8_t *bytes, size_t n, size_t *len)
{
	size_t i = 0;

	while (i < n && bytes[i] &&
	       (isprint(bytes[i]) || isspace(bytes[i]) || bytes[i] == '\b' || bytes[i] == '\a'))
		i++;
	*len = i;
	while (i < n && !bytes[i])
		i++;
	return i == n && *len;
}

bool ki_d_show_is_text(const uint8_t *bytes, size_t n)
{
	size_t len;

	return is_text(bytes, n, &len);
}

void ki_d_show_text_or_bytes(FILE *f, const uint8_t *bytes, size_t n, int width)
{
	size_t len;

	if (!is_text(bytes, n, &len))
		ki_d_show_bytes(f, bytes, n);
	else if (width)
		fprintf(f, "  %-*.*s", width, (int)len, (const char *)bytes);
	else
		fwrite(bytes, 1, len, f);
}

/* ---- addresses ---- */

void ki_d_show_conversion(struct ki_dlang *d, FILE *f, const struct ki_d_spec *s, int width,
			  struct ki_d_type t, uint64_t value)
{
	char text[KI_D_ADDRESS];

	if (s->conversion == 'A')
		ki_d_format_string(f, s, width,
				   ki_d_user_address(d, (uint32_t)d->o.target, value, text));
	else if (s->conversion == 'a')
		ki_d_format_string(f, s, width, ki_d_address(d, value, text));
	else
		ki_d_format_number(f, s, width, t, value);
}

int ki_d_stack_get(const struct ki_dlang *d, uint64_t word, struct ki_stack *out)
{
	const uint64_t depth = word >> KI_D_DEPTH_SHIFT;
	int ret = (uint32_t)word ? ki_stacks_get(d->run->stacks, (uint32_t)word, out) : -ENOENT;

	if (!ret && depth && depth - 1 < out->n)
		out->n = (uint32_t)(depth - 1);
	return ret;
}

void ki_d_stack_print(struct ki_dlang *d, uint64_t word, unsigned int frames, int indent, FILE *f)
{
	char text[KI_D_ADDRESS];
	struct ki_stack s;

	fputc('\n', f);
	if (ki_d_stack_get(d, word, &s))
		return;
	if (!frames)
		frames = (unsigned int)(s.tgid ? d->set.ustackframes : d->set.stackframes);
	if (frames > d->set.maxframes)
		frames = (unsigned int)d->set.maxframes;
	for (uint32_t i = 0; i < s.n && (!frames || i < frames); i++)
		fprintf(f, "%*s%s\n", indent > 0 ? indent : 0, "",
			s.tgid ? ki_d_user_address(d, s.tgid, s.addrs[i], text)
			       : ki_d_address(d, s.addrs[i], text));
}
