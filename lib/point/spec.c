// SPDX-License-Identifier: LGPL-2.1-only OR BSD-2-Clause
#include "kerninst/pointspec.h"

#include <errno.h>
#include <fnmatch.h>
#include <limits.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "kerninst/splice.h"

#define LONGEST 64 /* names compared for nearness */

pid_t ki_pointspec_process(const char *text, const char **rest)
{
	unsigned long n;
	char *end;

	*rest = text;
	if (*text < '1' || *text > '9')
		return 0;
	n = strtoul(text, &end, 10);
	if (*end != '/' || n > INT_MAX)
		return 0;
	*rest = end + 1;
	return (pid_t)n;
}

bool ki_pointspec_is_glob(const char *s)
{
	return strpbrk(s, "*?[") != NULL;
}

/* A whole number to the end of the text; hexadecimal with 0x if that is required. */
static int parse_number(const char *s, bool hex_only, uint64_t *out)
{
	bool hex = s[0] == '0' && (s[1] == 'x' || s[1] == 'X');
	const char *digits = hex ? s + 2 : s;
	char *end;

	if (hex_only && !hex)
		return -EINVAL;
	if (!*digits ||
	    strspn(digits, hex ? "0123456789abcdefABCDEF" : "0123456789") != strlen(digits))
		return -EINVAL;
	errno = 0;
	*out = strtoull(digits, &end, hex ? 16 : 10);
	return errno ? -EINVAL : 0;
}

static enum ki_pointspec_suffix suffix_of(enum ki_point_kind kind)
{
	static const uint8_t suffixes[KI_POINT_KINDS] = {
		[KI_POINT_ENTRY] = KI_POINTSPEC_ENTRY,
		[KI_POINT_EXIT] = KI_POINTSPEC_EXIT,
		[KI_POINT_BLOCK] = KI_POINTSPEC_BLOCK,
		[KI_POINT_INSN] = KI_POINTSPEC_OFFSET,
		[KI_POINT_AFTER] = KI_POINTSPEC_AFTER,
		[KI_POINT_BLOCK_END] = KI_POINTSPEC_BLOCK_END,
		[KI_POINT_EDGE] = KI_POINTSPEC_EDGE,
		[KI_POINT_CALLS] = KI_POINTSPEC_CALLS,
		[KI_POINT_RETURNS] = KI_POINTSPEC_RETURNS,
		[KI_POINT_EXIT_AFTER] = KI_POINTSPEC_EXIT_AFTER,
	};

	return (enum ki_pointspec_suffix)suffixes[kind];
}

static bool take_point(const char *text, struct ki_pointspec *out)
{
	struct ki_point pt;

	if (ki_point_parse(text, 0, &pt, &out->order))
		return false;
	out->suffix = suffix_of(pt.kind);
	out->number = pt.kind == KI_POINT_EDGE ? pt.edge : pt.block + pt.addr;
	return true;
}

/* "FROM-TO": numbers of blocks. */
static bool take_between(char *text, struct ki_pointspec *out)
{
	char *dash = strchr(text, '-');

	if (!dash)
		return false;
	*dash = '\0';
	return !parse_number(text, false, &out->number) && out->number <= UINT32_MAX &&
	       !parse_number(dash + 1, false, &out->to) && out->to <= UINT32_MAX;
}

static bool take_callee(char *text, struct ki_pointspec *out)
{
	strcpy(out->callee, text); /* no longer than what it is a part of */
	return *text && !strpbrk(text, ":+/@");
}

/* What names several points. */
static const struct {
	const char *word;
	enum ki_pointspec_suffix suffix;
	bool (*take)(char *rest, struct ki_pointspec *out); /* NULL: there is no rest */
} sets[] = {
	{":blocks", KI_POINTSPEC_BLOCKS, NULL},
	{":edges", KI_POINTSPEC_EDGES, NULL},
	{":insns", KI_POINTSPEC_INSNS, NULL},
	{":blocks:post", KI_POINTSPEC_BLOCK_ENDS, NULL},
	{":insns:after", KI_POINTSPEC_AFTERS, NULL},
	{":edge/", KI_POINTSPEC_EDGE_BETWEEN, take_between},
	{":call/", KI_POINTSPEC_CALL_TO, take_callee},
};

static bool take_set_word(const char *text, size_t i, struct ki_pointspec *out)
{
	size_t len = strlen(sets[i].word);
	char rest[sizeof(out->callee)], *slash;
	uint64_t order = 0;

	if (strncmp(text, sets[i].word, len) || strlen(text + len) >= sizeof(rest))
		return false;
	strcpy(rest, text + len);
	slash = strchr(rest, '/');
	if (slash && (parse_number(slash + 1, false, &order) || order > UINT16_MAX))
		return false;
	if (slash)
		*slash = '\0';
	out->suffix = sets[i].suffix;
	out->order = (uint16_t)order;
	return sets[i].take ? sets[i].take(rest, out) : !*rest;
}

static bool take_suffix(const char *text, struct ki_pointspec *out)
{
	if (take_point(text, out))
		return true;
	for (size_t i = 0; i < sizeof(sets) / sizeof(*sets); i++)
		if (take_set_word(text, i, out))
			return true;
	*out = (struct ki_pointspec){0};
	return false;
}

/* Cut off what stands after the function, if it is something that is known. */
static void cut_suffix(char *text, struct ki_pointspec *out)
{
	for (char *p = strpbrk(text, ":+"); p; p = strpbrk(p + 1, ":+")) {
		if (take_suffix(p, out)) {
			*p = '\0';
			return;
		}
	}
}

static int cut_picked(char *text, struct ki_pointspec *out, const char **why)
{
	char *at = strstr(text, "@0x");

	if (!at)
		return 0;
	*why = "an address behind '@' is hexadecimal: FUNCTION@0xffffffff81000000";
	if (parse_number(at + 1, true, &out->picked) || !out->picked)
		return -EINVAL;
	*at = '\0';
	return 0;
}

/* A file may be called so, libstdc++.so.6; what has no dot is no file, but a misspelt offset. */
static bool is_offset_in_module(const char *text, const char *colon)
{
	return colon && memchr(text, '+', (size_t)(colon - text)) &&
	       !memchr(text, '.', (size_t)(colon - text));
}

static int take_names(const char *text, struct ki_pointspec *out, const char **why)
{
	const char *colon = strchr(text, ':');
	const char *function = colon ? colon + 1 : text;

	*why = "behind FUNCTION may stand :entry, :exit[:after], :calls, :returns, "
	       ":block/N[:pre|:post], "
	       ":edge/N, :blocks, :edges, :insns, :edge/FROM-TO, :call/CALLEE or "
	       "+OFFSET[:before|:after], and /ORDER behind that";
	if (strpbrk(function, "+/:") || strchr(text, '/') || is_offset_in_module(text, colon))
		return -EINVAL;
	*why = "a module is no point; MODULE:* means all of its functions, kernel:* the kernel's";
	if (colon && colon > text && !*function)
		return -EINVAL;
	*why = "a name is empty or too long";
	if (!*function || colon == text || strlen(function) >= sizeof(out->function) ||
	    (colon && (size_t)(colon - text) >= sizeof(out->module)))
		return -EINVAL;
	if (colon)
		memcpy(out->module, text, (size_t)(colon - text));
	strcpy(out->function, function);
	return 0;
}

int ki_pointspec_parse(const char *text, struct ki_pointspec *out, const char **why)
{
	char buf[sizeof(out->module) + sizeof(out->function) + sizeof(out->callee)];
	int n = snprintf(buf, sizeof(buf), "%s", text);

	*out = (struct ki_pointspec){0};
	*why = "a name is empty or too long";
	if (n <= 0 || (size_t)n >= sizeof(buf))
		return -EINVAL;
	if (!strncmp(text, "0x", 2) || !strncmp(text, "0X", 2)) {
		out->suffix = KI_POINTSPEC_ADDRESS;
		*why = "an address is hexadecimal: 0xffffffff81000000";
		return parse_number(text, true, &out->number);
	}
	cut_suffix(buf, out);
	if (cut_picked(buf, out, why))
		return -EINVAL;
	return take_names(buf, out, why);
}

bool ki_pointspec_matches(const struct ki_pointspec *p, const char *module, const char *function,
			  uint64_t addr)
{
	if (p->picked && p->picked != addr)
		return false;
	if (*p->module && fnmatch(p->module, *module ? module : KI_POINTSPEC_KERNEL, 0))
		return false;
	return !fnmatch(p->function, function, 0);
}

unsigned int ki_pointspec_distance(const char *a, const char *b, unsigned int max)
{
	size_t la = strlen(a), lb = strlen(b);
	unsigned int row[LONGEST + 1];

	if (la > LONGEST || lb > LONGEST || (la > lb ? la - lb : lb - la) > max)
		return max + 1;
	for (unsigned int j = 0; j <= lb; j++)
		row[j] = j;
	for (size_t i = 1; i <= la; i++) {
		unsigned int diagonal = row[0];

		row[0] = (unsigned int)i;
		for (size_t j = 1; j <= lb; j++) {
			unsigned int best = diagonal + (a[i - 1] != b[j - 1]);

			diagonal = row[j];
			if (row[j] + 1 < best)
				best = row[j] + 1;
			if (row[j - 1] + 1 < best)
				best = row[j - 1] + 1;
			row[j] = best;
		}
	}
	return row[lb] > max ? max + 1 : row[lb];
}
