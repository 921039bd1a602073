/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * libFuzzer: any bytes as a program with symbols and tables that may lie.
 *
 * The input: options; how many symbols, rows and stamps there are; these; the text. A stamp
 * writes what random bytes do not come upon by themselves over the text: a call or jump to
 * another place of it, a table of addresses or of offsets.
 */
#include <stdlib.h>
#include <string.h>

#include "common_program.h"
#include "target/memory.h"

#define MOST_TEXT (64u << 10)

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

struct raw_symbol {
	uint16_t off;
	uint8_t name, module;
} __attribute__((packed));

struct raw_row {
	uint16_t off;
	uint8_t reason, len;
	uint16_t target;
} __attribute__((packed));

struct raw_stamp {
	uint8_t kind;
	uint16_t at, to;
	uint8_t n;
} __attribute__((packed));

struct input {
	const uint8_t *p;
	size_t left;
};

struct made {
	struct ki_memory m;
	uint8_t *text;
	struct ki_symbol symbols[256];
	struct ki_reserved_row rows[256];
};

static const char *const names[] = {
	"f",
	"f.cold",
	"f.part.0",
	"f.part.0.cold",
	"f.constprop.0",
	"g",
	"g.cold",
	"__fentry__",
	"__x86_return_thunk",
	"__x86_indirect_thunk_rax",
	"__x86_indirect_thunk_r11",
	"__x86_indirect_thunk_array",
	"__pfx_f",
	"this_cpu_cmpxchg16b_emu",
	"",
	".",
};

static const char *const modules[] = {"", "", "", "kerninst", "ext4"};

static const unsigned int reasons[] = {
	KI_R_JUMP_LABEL, KI_R_EXTABLE,	   KI_R_STATIC_CALL, KI_R_BUG_SITE,
	KI_R_NOINSTR,	 KI_R_FTRACE_SITE, KI_R_LOCK_PREFIX, KI_R_ENTRY_TEXT,
};

static bool take(struct input *in, void *to, size_t len)
{
	if (in->left < len)
		return false;
	memcpy(to, in->p, len);
	in->p += len;
	in->left -= len;
	return true;
}

static uint64_t place(const struct made *x, uint16_t off)
{
	return x->m.base + off % x->m.len;
}

static void take_symbols(struct made *x, struct input *in, unsigned int n)
{
	struct raw_symbol raw;

	while (n-- && take(in, &raw, sizeof(raw)))
		x->symbols[x->m.nsymbols++] = (struct ki_symbol){
			/* some of them outside */
			.addr = raw.name & 0x80 ? x->m.base + raw.off : place(x, raw.off),
			.name = names[raw.name % 16],
			.module = modules[raw.module % 5],
		};
}

static void take_rows(struct made *x, struct input *in, unsigned int n)
{
	struct raw_row raw;

	while (n-- && take(in, &raw, sizeof(raw)))
		x->rows[x->m.nrows++] = (struct ki_reserved_row){
			.addr = raw.reason & 0x80 ? x->m.base + raw.off : place(x, raw.off),
			.reason = reasons[raw.reason % 8],
			.len = raw.len < 128 ? raw.len : 1u << raw.len % 32,
			.target = raw.target == 0xffff ? 0 : place(x, raw.target),
		};
}

/* n numbers of `size` bytes: addresses, or what leads there from the table. */
static void stamp_table(struct made *x, const struct raw_stamp *s, unsigned int size)
{
	size_t at = s->at % x->m.len;

	for (unsigned int i = 0; i < s->n && at + (i + 1) * size <= x->m.len; i++) {
		uint64_t to = place(x, (uint16_t)(s->to + i * (s->n % 16)));

		if (size == 4)
			to -= x->m.base + at;
		memcpy(x->text + at + i * size, &to, size);
	}
}

static void stamp_code(struct made *x, const struct raw_stamp *s)
{
	/* What stands before the last 4 bytes: where they lead, from the end of them. */
	static const char *const heads[] = {
		"\xe8",		    /* call */
		"\xe9",		    /* jmp */
		"\x0f\x84",	    /* je */
		"\x48\x8d\x3d",	    /* lea (%rip), %rdi */
		"\xff\x24\xc5",	    /* jmp *(, %rax, 8); the address itself */
		"\x48\x63\x04\x87", /* movslq (%rdi, %rax, 4), %rax; add; jmp *%rax */
	};
	const char *head = heads[s->kind % 6];
	size_t n = strlen(head), at = s->at % x->m.len;
	uint64_t to = place(x, s->to);
	uint32_t field = (uint32_t)(to - (x->m.base + at + n + 4));

	if (at + n + 5 > x->m.len)
		return;
	memcpy(x->text + at, head, n);
	if (s->kind % 6 == 4)
		field = (uint32_t)to;
	if (s->kind % 6 == 5)
		memcpy(x->text + at + n, "\x48\x01\xf8\xff\xe0", 5);
	else
		memcpy(x->text + at + n, &field, 4);
}

static void stamp(struct made *x, const struct raw_stamp *s)
{
	if (s->kind % 8 < 6)
		stamp_code(x, s);
	else
		stamp_table(x, s, s->kind % 8 == 6 ? 4 : 8);
}

static void run(struct made *x)
{
	struct ki_target *t;

	check(!ki_target_open_memory(&x->m, &t, NULL));
	check_target(t);
	ki_target_free(t);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	static const uint64_t bases[] = {0xffffffff81000000, 0x401000, 0, 0x7fffffffffff0000};
	struct input in = {data, size}, stamps;
	struct made *x;
	uint8_t head[4];
	size_t lists;

	if (!take(&in, head, sizeof(head)))
		return 0;
	lists = head[1] * sizeof(struct raw_symbol) + head[2] * sizeof(struct raw_row) +
		head[3] * sizeof(struct raw_stamp);
	if (in.left <= lists || in.left - lists > MOST_TEXT)
		return 0;
	x = calloc(1, sizeof(*x));
	check(x != NULL);
	x->m.len = in.left - lists;
	x->text = malloc(x->m.len);
	check(x->text != NULL);
	memcpy(x->text, in.p + lists, x->m.len);
	x->m.bytes = x->text;
	x->m.base = bases[head[0] >> 1 & 3];
	x->m.kind = head[0] & 1 ? KI_TARGET_LIVE : KI_TARGET_IMAGE;
	x->m.symbols = x->symbols;
	x->m.rows = x->rows;
	take_symbols(x, &in, head[1]);
	take_rows(x, &in, head[2]);
	stamps = in;
	for (unsigned int i = 0; i < head[3]; i++) {
		struct raw_stamp s;

		if (take(&stamps, &s, sizeof(s)))
			stamp(x, &s);
	}
	run(x);
	free(x->text);
	free(x);
	return 0;
}
