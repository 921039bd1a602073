// SPDX-License-Identifier: LGPL-2.1-only OR BSD-2-Clause
#include <inttypes.h>
#include <string.h>

#include "kerninst/listing.h"
#include "out/json.h"

struct shown {
	const struct ki_listing *v;
	const ki_regset *registers; /* live, one for each instruction; NULL: not known */
	bool wide;		    /* with the bytes of each instruction */
	FILE *out;
	int bytes_width, text_width;
};

#define TEXT_WIDTH_MAX 48

static void free_registers(const struct shown *d, const struct ki_listing_line *l, char *buf,
			   size_t len)
{
	ki_regset_format(KI_REGSET_ALL & ~d->registers[l->insn], buf, len);
}

static bool has_registers(const struct shown *d, const struct ki_listing_line *l)
{
	return d->registers && l->count && !ki_listing_is_padding(d->v, l);
}

static void hex_bytes(const struct ki_listing *v, const struct ki_listing_line *l,
		      const char *between, char *buf, size_t len)
{
	const uint8_t *p = ki_listing_bytes(v, l);
	size_t at = 0;

	*buf = '\0';
	for (uint32_t i = 0; i < l->len && at + 4 < len; i++)
		at += (size_t)snprintf(buf + at, len - at, "%s%02x", i ? between : "", p[i]);
}

static void measure(struct shown *d)
{
	char text[KI_LISTING_TEXT];

	d->bytes_width = d->text_width = 0;
	for (size_t i = 0; i < d->v->lines.n; i++) {
		const struct ki_listing_line *l = &d->v->lines.v[i];
		int bytes = (int)l->len * 3 - 1, width;

		if (ki_listing_is_padding(d->v, l))
			continue;
		ki_listing_text(d->v, l, text);
		width = (int)strlen(text);
		if (bytes > d->bytes_width)
			d->bytes_width = bytes;
		if (width > d->text_width && width <= TEXT_WIDTH_MAX)
			d->text_width = width;
	}
}

/* "rax, cl" as "rax cl". */
static void without_commas(char *text)
{
	char *to = text;

	for (; *text; text++)
		if (*text != ',')
			*to++ = *text;
	*to = '\0';
}

static void remark(char *buf, size_t len, const char *what, const char *text)
{
	size_t at = strlen(buf);

	snprintf(buf + at, len - at, "  %s%s%s", at ? "" : "; ", what, text);
}

/* Has it a row in a table in which the kernel finds it by its address? */
static bool has_row(const struct shown *d, const struct ki_listing_line *l, uint8_t flag)
{
	return l->kind == KI_LISTING_SAME && d->v->fn->insns[l->insn].flags & flag;
}

/* What stands after ';': the reason, rows, what is displaced, the free registers. */
static void remarks(const struct shown *d, const struct ki_listing_line *l, char *buf, size_t len)
{
	unsigned int reason = ki_listing_reason(d->v, l);
	char text[KI_LISTING_TEXT];

	*buf = '\0';
	if (reason)
		remark(buf, len, "", ki_reason_tag(reason));
	if (has_row(d, l, KI_INSN_EXTABLE))
		remark(buf, len, "", "fixup");
	if (has_row(d, l, KI_INSN_BUG))
		remark(buf, len, "", "bug");
	ki_listing_displaced(d->v, l, text);
	if (*text)
		remark(buf, len, "was: ", text);
	if (!has_registers(d, l))
		return;
	free_registers(d, l, text, sizeof(text));
	without_commas(text);
	remark(buf, len, "free: ", text);
}

static void print_line(const struct shown *d, const struct ki_listing_line *l)
{
	char text[KI_LISTING_TEXT], bytes[64], behind[3 * KI_LISTING_TEXT];

	fprintf(d->out, "%c 0x%016" PRIx64 "  +0x%-5" PRIx64 " ",
		l->kind == KI_LISTING_SAME ? ' ' : '*', l->addr, l->addr - d->v->fn->start);
	if (d->wide) {
		hex_bytes(d->v, l, " ", bytes, sizeof(bytes));
		fprintf(d->out, "%-*s  ", d->bytes_width, bytes);
	}
	ki_listing_text(d->v, l, text);
	remarks(d, l, behind, sizeof(behind));
	fprintf(d->out, "%-*s%s\n", *behind ? d->text_width : 0, text, behind);
}

/* All padding from line i on is one line; returns the number of the line after it. */
static size_t print_padding(const struct shown *d, size_t i)
{
	const struct ki_listing_line *first = &d->v->lines.v[i];
	uint32_t len = 0;

	for (; i < d->v->lines.n && ki_listing_is_padding(d->v, &d->v->lines.v[i]); i++)
		len += d->v->lines.v[i].len;
	fprintf(d->out, "\n  0x%016" PRIx64 "  +0x%-5" PRIx64 " (%u byte%s of padding)\n",
		first->addr, first->addr - d->v->fn->start, len, len == 1 ? "" : "s");
	return i;
}

static void print_text(struct shown *d, bool bold)
{
	const struct ki_function *fn = d->v->fn;

	measure(d);
	fprintf(d->out, "%s%s:%s  0x%" PRIx64 "  %" PRIu64 " bytes  %u block%s  %s%s%s\n",
		bold ? "\033[1m" : "", ki_symbol_module(fn->symbol), fn->symbol->name, fn->start,
		fn->end - fn->start, fn->nblocks, fn->nblocks == 1 ? "" : "s",
		fn->reason ? ki_reason_tag(fn->reason) : "yes", d->v->live ? "  live" : "",
		bold ? "\033[0m" : "");
	for (size_t i = 0; i < d->v->lines.n;) {
		const struct ki_listing_line *l = &d->v->lines.v[i];

		if (ki_listing_is_padding(d->v, l)) {
			i = print_padding(d, i);
			continue;
		}
		if (l->block != KI_NONE)
			fprintf(d->out, "%sblock %u:\n", i ? "\n" : "", l->block);
		print_line(d, l);
		i++;
	}
}

static const char *kind_name(uint8_t kind)
{
	static const char *const names[] = {
		[KI_INSN_PLAIN] = "plain", [KI_INSN_JCC] = "branch",
		[KI_INSN_JMP] = "jump",	   [KI_INSN_JMP_INDIRECT] = "jump indirect",
		[KI_INSN_CALL] = "call",   [KI_INSN_CALL_INDIRECT] = "call indirect",
		[KI_INSN_RET] = "return",  [KI_INSN_LOOP] = "loop",
		[KI_INSN_TRAP] = "trap",   [KI_INSN_PAD] = "padding",
		[KI_INSN_BAD] = "bad",
	};

	return kind < sizeof(names) / sizeof(*names) ? names[kind] : "unknown";
}

static void json_registers(const struct shown *d, const struct ki_listing_line *l,
			   struct ki_json *j)
{
	char text[KI_LISTING_TEXT], *save = NULL;

	free_registers(d, l, text, sizeof(text));
	ki_json_open(j, "free", '[');
	for (char *s = strtok_r(text, ", ", &save); s; s = strtok_r(NULL, ", ", &save))
		if (strcmp(s, "-") != 0)
			ki_json_str(j, NULL, s);
	ki_json_close(j);
}

static void json_line(const struct shown *d, const struct ki_listing_line *l, struct ki_json *j)
{
	char text[KI_LISTING_TEXT];
	struct ki_insn in = {0};
	bool insn = ki_listing_insn(d->v, l, &in);

	ki_json_open(j, NULL, '{');
	ki_json_hex(j, "address", l->addr);
	ki_json_u64(j, "offset", l->addr - d->v->fn->start);
	if (l->block != KI_NONE)
		ki_json_u64(j, "block", l->block);
	hex_bytes(d->v, l, "", text, sizeof(text));
	ki_json_str(j, "bytes", text);
	ki_listing_text(d->v, l, text);
	ki_json_str(j, "text", text);
	ki_json_str(j, "kind", insn ? kind_name(in.kind) : "rest");
	if (in.target)
		ki_json_hex(j, "target", in.target);
	ki_json_str(j, "reason", ki_reason_tag(ki_listing_reason(d->v, l)));
	if (has_row(d, l, KI_INSN_EXTABLE))
		ki_json_bool(j, "fixup", true);
	if (has_row(d, l, KI_INSN_BUG))
		ki_json_bool(j, "bug", true);
	ki_listing_displaced(d->v, l, text);
	if (*text)
		ki_json_str(j, "displaced", text);
	if (has_registers(d, l))
		json_registers(d, l, j);
	ki_json_close(j);
}

static int print_json(const struct shown *d)
{
	const struct ki_function *fn = d->v->fn;
	struct ki_json j;

	ki_json_init(&j, d->out);
	ki_json_open(&j, NULL, '{');
	ki_json_str(&j, "module", ki_symbol_module(fn->symbol));
	ki_json_str(&j, "function", fn->symbol->name);
	ki_json_hex(&j, "address", fn->start);
	ki_json_u64(&j, "size", fn->end - fn->start);
	ki_json_u64(&j, "blocks", fn->nblocks);
	ki_json_str(&j, "reason", ki_reason_tag(fn->reason));
	ki_json_str(&j, "view", d->v->live ? "live" : "original");
	ki_json_open(&j, "instructions", '[');
	for (size_t i = 0; i < d->v->lines.n; i++)
		json_line(d, &d->v->lines.v[i], &j);
	ki_json_close(&j);
	ki_json_close(&j);
	return ki_json_end_line(&j);
}

int ki_listing_show(const struct ki_listing *v, const ki_regset *live, const struct ki_page *page)
{
	struct shown d = {.v = v, .registers = live, .wide = page->verbose, .out = page->out};

	if (page->json)
		return print_json(&d);
	print_text(&d, page->bold);
	return 0;
}
