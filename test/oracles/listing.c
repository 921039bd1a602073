// SPDX-License-Identifier: GPL-2.0-only
/*
 * A line of objdump -d is "  1234:<tab>call   5678 <f+0x10>"; prefixes stand before the
 * mnemonic as words of their own.
 */
#include <ctype.h>
#include <string.h>

#include "oracles.h"

static const char *const prefixes[] = {"bnd",	 "notrack", "lock",	"rep",	   "repz", "repnz",
				       "cs",	 "ds",	    "es",	"ss",	   "fs",   "gs",
				       "data16", "addr32",  "xacquire", "xrelease"};

static bool is_prefix(const char *word, size_t len)
{
	if (len >= 3 && strncmp(word, "rex", 3) == 0)
		return true;
	for (size_t i = 0; i < sizeof(prefixes) / sizeof(*prefixes); i++)
		if (strlen(prefixes[i]) == len && strncmp(word, prefixes[i], len) == 0)
			return true;
	return false;
}

static const struct {
	const char *word; /* "xxx*": begins with xxx */
	uint8_t kind;
} words[] = {
	{"call*", LINE_CALL}, {"lcall*", LINE_CALL}, {"jmp*", LINE_JMP},    {"ljmp*", LINE_JMP},
	{"j*", LINE_JCC},     {"loop*", LINE_JCC},   {"xbegin*", LINE_JCC}, {"ret*", LINE_RET},
	{"lret*", LINE_RET},  {"iret*", LINE_RET},   {"sysret*", LINE_RET}, {"nop*", LINE_PAD},
	{"int3", LINE_PAD},   {"ud*", LINE_TRAP},    {"(bad)", LINE_BAD},   {".byte", LINE_BAD},
};

static uint8_t kind_of(const char *word, size_t len)
{
	for (size_t i = 0; i < sizeof(words) / sizeof(*words); i++) {
		size_t n = strlen(words[i].word);
		bool begins = words[i].word[n - 1] == '*';

		n -= begins;
		if (len >= n && strncmp(word, words[i].word, n) == 0 && (begins || len == n))
			return words[i].kind;
	}
	return LINE_PLAIN;
}

/* "cmp    $0x5,%eax"; "lea    0x10(%rip),%rax        # 1234 <x>"; "jmp    *0x20(,%rax,8)" */
static void take_value(struct line *l, const char *word, const char *p)
{
	const char *comment = strchr(p, '#');

	if (strncmp(word, "cmp", 3) == 0 && *p == '$')
		l->target = strtoull(p + 1, NULL, 0);
	else if (strncmp(word, "lea", 3) == 0 && comment)
		l->target = strtoull(comment + 1, NULL, 16);
	else if (l->flags & LINE_MEMORY && l->flags & LINE_INDEXED)
		l->target = strtoull(p + 1, NULL, 0);
	else if (l->flags & LINE_LOAD)
		l->target = strtoull(p, NULL, 0);
	else
		return;
	l->flags |= LINE_VALUE;
}

/* The last operand, or what is jumped to, if it is a register. */
static void take_register(struct line *l, const char *p)
{
	const char *at = strrchr(p, '%');
	size_t len = at ? strcspn(at + 1, " \n") : 0;

	if (len && len < sizeof(l->reg) && !memchr(at, ')', len + 1))
		memcpy(l->reg, at + 1, len);
}

static void take_operands(struct line *l, const char *word, const char *p)
{
	const char *index = strchr(p, '(');

	if (index && (strstr(index, ",8)") || strstr(index, ",4)")))
		l->flags |= LINE_INDEXED;
	if (strncmp(word, "mov ", 4) == 0 && *p != '%' && *p != '$' && l->flags & LINE_INDEXED) {
		l->flags |= LINE_LOAD;
		take_register(l, p);
	}

	if (strncmp(word, "movslq", 6) == 0)
		l->flags |= LINE_MOVSLQ;
	if (strncmp(word, "add", 3) == 0)
		l->flags |= LINE_ADD;
	if (strncmp(word, "xchg", 4) == 0 && strncmp(p, "%ax,%ax", 7) == 0)
		l->kind = LINE_PAD;
	if (l->kind != LINE_CALL && l->kind != LINE_JMP && l->kind != LINE_JCC) {
		take_value(l, word, p);
		return;
	}
	if (*p == '*') {
		take_register(l, p);
		l->flags |= LINE_INDIRECT | (p[1] == '%' && !strchr(p, '(') ? 0 : LINE_MEMORY);
		take_value(l, word, p);
		return;
	}
	l->target = strtoull(p, NULL, 16);
}

/* What stands after the tab. */
static void take_text(struct line *l, const char *p)
{
	for (;;) {
		size_t len = strcspn(p, " \t\n");
		const char *next = p + len;

		while (*next == ' ' || *next == '\t')
			next++;
		if (!is_prefix(p, len)) {
			l->kind = kind_of(p, len);
			take_operands(l, p, next);
			if (!len)
				l->kind = LINE_BAD;
			return;
		}
		if (len == 7 && strncmp(p, "notrack", 7) == 0)
			l->flags |= LINE_NOTRACK;
		if (len == 4 && strncmp(p, "lock", 4) == 0)
			l->flags |= LINE_LOCK;
		p = next;
	}
}

static int take_line(struct listing *l, uint64_t base, const char *s)
{
	struct line line = {0};
	char *end;
	uint64_t addr = strtoull(s, &end, 16);

	if (end == s || end[0] != ':' || end[1] != '\t')
		return 0;
	line.addr = base + addr;
	take_text(&line, end + 2);
	if (line.target && !(line.flags & LINE_VALUE))
		line.target += base;
	return ki_vec_push(&l->lines, line);
}

/* What the linker would write into a jump or call. */
static void relocate_branch(struct line *x, const struct reloc *r)
{
	const char *reg;

	if (x->flags & LINE_INDIRECT)
		return;
	x->target = r->target;
	if (r->external && strstr(r->external, "x86_indirect_thunk")) {
		x->flags |= LINE_INDIRECT;
		reg = strrchr(r->external, '_') + 1;
		if (strlen(reg) < sizeof(x->reg))
			strcpy(x->reg, reg);
	}
	if (r->external && strstr(r->external, "return_thunk"))
		x->kind = LINE_RET;
}

static void relocate(struct listing *l, const struct image *im)
{
	for (size_t i = 0; i < l->lines.n; i++) {
		struct line *x = &l->lines.v[i];
		const struct reloc *r;

		r = image_reloc(im, x->addr,
				i + 1 < l->lines.n ? l->lines.v[i + 1].addr : x->addr + 16);
		if (!r)
			continue;
		if (x->kind == LINE_CALL || x->kind == LINE_JMP || x->kind == LINE_JCC)
			relocate_branch(x, r);
		else if (x->flags & LINE_LOAD && x->flags & LINE_VALUE)
			x->target = r->target - 4; /* not relative to what is after */
	}
}

static int by_addr(const void *a, const void *b)
{
	const struct line *x = a, *y = b;

	return x->addr < y->addr ? -1 : x->addr > y->addr;
}

int listing_read(struct listing *l, const struct image *im)
{
	char command[4300], *line = NULL;
	uint64_t base = 0;
	size_t room = 0;
	int ret = 0;
	FILE *f;

	l->lines.n = 0;
	snprintf(command, sizeof(command), "exec objdump -dzw --no-show-raw-insn '%s'", im->path);
	f = popen(command, "r");
	if (!f)
		return -errno;
	while (!ret && getline(&line, &room, f) > 0) {
		static const char title[] = "Disassembly of section ";

		if (strncmp(line, title, sizeof(title) - 1) == 0) {
			line[strcspn(line, "\n") - 1] = '\0';
			base = image_base(im, line + sizeof(title) - 1);
		} else if (base != UINT64_MAX) {
			ret = take_line(l, base, line);
		}
	}
	free(line);
	if (pclose(f) && !ret)
		ret = -EIO;
	qsort(l->lines.v, l->lines.n, sizeof(*l->lines.v), by_addr);
	if (im->relocatable)
		relocate(l, im);
	return ret;
}

size_t listing_from(const struct listing *l, uint64_t addr)
{
	size_t lo = 0, hi = l->lines.n;

	while (lo < hi) {
		size_t mid = lo + (hi - lo) / 2;

		if (l->lines.v[mid].addr < addr)
			lo = mid + 1;
		else
			hi = mid;
	}
	return lo;
}

const struct line *listing_at(const struct listing *l, uint64_t addr)
{
	size_t i = listing_from(l, addr);

	return i < l->lines.n && l->lines.v[i].addr == addr ? &l->lines.v[i] : NULL;
}
