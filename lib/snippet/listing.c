// SPDX-License-Identifier: LGPL-2.1-only OR BSD-2-Clause
/*
 * The source of a snippet with its code: below each line the instructions that come of it.
 */
#include <errno.h>
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "code/decode/zydis.h"
#include "snippet/tree.h"

struct listing {
	FILE *f;
	const struct ki_long_code *code;
	uint32_t nfix;	/* shown so far */
	uint32_t nline; /* in code->lines */
};

static const char *const fields[KI_FIELDS] = {
	[KI_FIELD_PID] = "pid",	      [KI_FIELD_TGID] = "tgid",	    [KI_FIELD_COMM] = "comm",
	[KI_FIELD_MINFLT] = "minflt", [KI_FIELD_MAJFLT] = "majflt", [KI_FIELD_NVCSW] = "nvcsw",
	[KI_FIELD_NIVCSW] = "nivcsw",
};

static const char *const selves[KI_SELVES] = {
	[KI_SELF_TASK] = "current task",
	[KI_SELF_CPU] = "cpu",
	[KI_SELF_WORDS] = "the thread's words",
	[KI_SELF_CLOCK] = "the thread's clock",
};

static void put_fixup(struct listing *l, uint32_t end)
{
	const struct ki_fixup *f = &l->code->fix[l->nfix];

	if (l->nfix >= l->code->nfix || f->off >= end)
		return;
	l->nfix++;
	switch (f->kind) {
	case KI_FIX_PERCPU:
		fprintf(l->f, "\t; counter %" PRIu64, (uint64_t)f->target);
		break;
	case KI_FIX_GLOBAL:
		fprintf(l->f, "\t; global %" PRIu64, (uint64_t)f->target);
		break;
	case KI_FIX_HELPER:
		fprintf(l->f, "\t; %s",
			f->target < KI_HELPERS ? ki_helper_name((unsigned int)f->target) : "?");
		break;
	case KI_FIX_SELF:
		fprintf(l->f, "\t; %s", f->target < KI_SELVES ? selves[f->target] : "?");
		break;
	case KI_FIX_WORD:
		fprintf(l->f, "\t; word %" PRIu64, (uint64_t)f->target);
		break;
	case KI_FIX_FIELD:
		fprintf(l->f, "\t; %s%s",
			(uint32_t)f->target < KI_FIELDS ? fields[(uint32_t)f->target] : "?",
			f->target >> 32 ? " + 8" : "");
		break;
	default:
		fprintf(l->f, "\t; 0x%" PRIx64, (uint64_t)f->target);
	}
}

/* One instruction; returns its length. */
static uint32_t put_insn(struct listing *l, const ZydisFormatter *fmt, uint32_t off)
{
	ZydisDecodedInstruction z;
	ZydisDecodedOperand ops[ZYDIS_MAX_OPERAND_COUNT];
	const uint8_t *at = l->code->code + off;
	char text[96];

	if (!ZYAN_SUCCESS(
		    ZydisDecoderDecodeFull(ki_zydis_decoder(), at, l->code->len - off, &z, ops))) {
		fprintf(l->f, "  %4x  (bad)\n", off);
		return l->code->len - off;
	}
	if (!ZYAN_SUCCESS(ZydisFormatterFormatInstruction(fmt, &z, ops, z.operand_count_visible,
							  text, sizeof(text), off, NULL)))
		text[0] = 0;
	fprintf(l->f, "  %4x  %s", off, text);
	put_fixup(l, off + z.length);
	fputc('\n', l->f);
	return z.length;
}

/* All code of one line, wherever it stands. */
static void put_code(struct listing *l, const ZydisFormatter *fmt, uint32_t line)
{
	const struct ki_long_code *c = l->code;

	for (uint32_t i = 0; i < c->nlines; i++) {
		uint32_t end = i + 1 < c->nlines ? c->lines[i + 1].off : c->len;

		if (c->lines[i].line != line)
			continue;
		for (l->nfix = 0; l->nfix < c->nfix && c->fix[l->nfix].off < c->lines[i].off;)
			l->nfix++;
		for (uint32_t off = c->lines[i].off; off < end;)
			off += put_insn(l, fmt, off);
	}
}

static void put_all(struct listing *l, const char *source)
{
	ZydisFormatter fmt;
	uint32_t line = 0;

	ZydisFormatterInit(&fmt, ZYDIS_FORMATTER_STYLE_INTEL);
	put_code(l, &fmt, line++);
	while (*source) {
		const char *end = strchr(source, '\n');

		fprintf(l->f, "%.*s\n", (int)(end - source), source);
		put_code(l, &fmt, line++);
		source = end + 1;
	}
}

int ki_snippet_listing(const struct ki_snippet *s, const struct ki_long_code *code, char **out,
		       struct ki_err *err)
{
	struct listing l = {.code = code};
	char *source;
	size_t len;
	int ret = ki_snippet_format(s, &source, err);

	*out = NULL;
	if (ret)
		return ret;
	l.f = open_memstream(out, &len);
	if (l.f)
		put_all(&l, source);
	free(source);
	if (l.f && !ferror(l.f) && !fclose(l.f))
		return 0;
	free(*out);
	*out = NULL;
	return ki_err_set(err, -ENOMEM, 0, "snippet: out of memory");
}
