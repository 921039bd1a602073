// SPDX-License-Identifier: GPL-2.0-only
#include "pointspec.h"

#include <errno.h>
#include <fnmatch.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define LONGEST 64 /* names compared for nearness */

bool pointspec_is_glob(const char *s)
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

static int cut_colon_suffix(char *text, struct pointspec *out, const char **why)
{
	char *colon = strrchr(text, ':');

	if (!colon)
		return 0;
	if (!strcmp(colon + 1, "entry")) {
		out->suffix = POINTSPEC_ENTRY;
	} else if (!strcmp(colon + 1, "exit")) {
		out->suffix = POINTSPEC_EXIT;
	} else if (!strncmp(colon + 1, "block/", 6)) {
		out->suffix = POINTSPEC_BLOCK;
		*why = "a block is a number: FUNCTION:block/3";
		if (parse_number(colon + 7, false, &out->number) || out->number > UINT32_MAX)
			return -EINVAL;
	} else {
		return 0;
	}
	*colon = '\0';
	return 0;
}

static int cut_offset(char *text, struct pointspec *out, const char **why)
{
	char *plus = strrchr(text, '+');

	if (!plus)
		return 0;
	if (out->suffix != POINTSPEC_NONE) {
		*why = "either an offset or :entry, :exit, :block/N";
		return -EINVAL;
	}
	out->suffix = POINTSPEC_OFFSET;
	*why = "an offset is decimal or 0x and hexadecimal: FUNCTION+0x1c";
	if (parse_number(plus + 1, false, &out->number))
		return -EINVAL;
	*plus = '\0';
	return 0;
}

static int cut_picked(char *text, struct pointspec *out, const char **why)
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

static int take_names(const char *text, struct pointspec *out, const char **why)
{
	const char *colon = strchr(text, ':');
	const char *function = colon ? colon + 1 : text;

	*why = "too many colons: [MODULE:]FUNCTION[:entry|:exit|:block/N]";
	if (strchr(function, ':'))
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

int pointspec_parse(const char *text, struct pointspec *out, const char **why)
{
	char buf[sizeof(out->module) + sizeof(out->function) + 64];
	int n = snprintf(buf, sizeof(buf), "%s", text);

	*out = (struct pointspec){0};
	*why = "a name is empty or too long";
	if (n <= 0 || (size_t)n >= sizeof(buf))
		return -EINVAL;
	if (!strncmp(text, "0x", 2) || !strncmp(text, "0X", 2)) {
		out->suffix = POINTSPEC_ADDRESS;
		*why = "an address is hexadecimal: 0xffffffff81000000";
		return parse_number(text, true, &out->number);
	}
	if (cut_colon_suffix(buf, out, why) || cut_offset(buf, out, why) ||
	    cut_picked(buf, out, why))
		return -EINVAL;
	return take_names(buf, out, why);
}

bool pointspec_matches(const struct pointspec *p, const char *module, const char *function,
		       uint64_t addr)
{
	if (p->picked && p->picked != addr)
		return false;
	if (*p->module && fnmatch(p->module, *module ? module : POINTSPEC_KERNEL, 0))
		return false;
	return !fnmatch(p->function, function, 0);
}

unsigned int pointspec_distance(const char *a, const char *b, unsigned int max)
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
