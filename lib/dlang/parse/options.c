// SPDX-License-Identifier: LGPL-2.1-only OR BSD-2-Clause
#include "dlang/parse/options.h"

#include <ctype.h>
#include <errno.h>
#include <stddef.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <strings.h>

#include "kerninst/target.h"

#define SECOND	     INT64_C(1000000000)
#define STRSIZE_MOST (64 << 10)
#define SCRATCH	     4096

void ki_d_settings_default(struct ki_d_settings *s)
{
	*s = (struct ki_d_settings){.stackframes = 20,
				    .ustackframes = 100,
				    .stackindent = 14,
				    .maxframes = 127,
				    .strsize = 256,
				    .bufsize = 4 << 20,
				    .nspec = 1,
				    .specsize = 4 << 20,
				    .scratchsize = SCRATCH,
				    .printsize = 8192,
				    .cpu = -1,
				    .switchrate = SECOND,
				    .aggrate = SECOND};
}

enum kind { FLAG, NUMBER, SIZE, RATE, WORD /* any text, or none */ };

/* alive: it may be set while the program runs. NOWHERE: it is taken, and means nothing here. */
#define NOWHERE SIZE_MAX
#define AT(x)	offsetof(struct ki_d_settings, x)

static const struct {
	const char *name;
	uint8_t kind;
	bool alive;
	size_t at;
	int64_t least, most;
} options[] = {
	{"aggpercpu", FLAG, false, NOWHERE, 0, 1},
	{"aggrate", RATE, true, AT(aggrate), 0, INT64_MAX},
	{"aggsize", SIZE, false, NOWHERE, 0, INT64_MAX},
	{"aggsortkey", FLAG, true, AT(aggsortkey), 0, 1},
	{"aggsortkeypos", NUMBER, true, AT(aggsortkeypos), 0, INT32_MAX},
	{"aggsortpos", NUMBER, true, AT(aggsortpos), 0, INT32_MAX},
	{"aggsortrev", FLAG, true, AT(aggsortrev), 0, 1},
	{"amin", WORD, false, NOWHERE, 0, 0},
	{"argref", FLAG, false, AT(argref), 0, 1},
	{"bpflog", FLAG, false, NOWHERE, 0, 1},
	{"bpflogsize", SIZE, false, NOWHERE, 0, INT64_MAX},
	{"btfpath", WORD, false, NOWHERE, 0, 0},
	{"bufpolicy", WORD, false, NOWHERE, 0, 0},
	{"bufresize", WORD, false, NOWHERE, 0, 0},
	{"bufsize", SIZE, false, AT(bufsize), 0, INT64_MAX},
	{"cleanrate", RATE, false, NOWHERE, 0, INT64_MAX},
	{"core", FLAG, false, NOWHERE, 0, 1},
	{"cpp", FLAG, false, NOWHERE, 0, 1},
	{"cppargs", WORD, false, NOWHERE, 0, 0},
	{"cpphdrs", FLAG, false, NOWHERE, 0, 1},
	{"cpppath", WORD, false, NOWHERE, 0, 0},
	{"cpu", NUMBER, false, AT(cpu), 0, INT32_MAX},
	{"ctfpath", WORD, false, NOWHERE, 0, 0},
	{"ctypes", WORD, false, NOWHERE, 0, 0},
	{"debug", FLAG, false, NOWHERE, 0, 1},
	{"defaultargs", FLAG, false, AT(defaultargs), 0, 1},
	{"debugassert", WORD, false, NOWHERE, 0, 0},
	{"define", WORD, false, NOWHERE, 0, 0},
	{"destructive", FLAG, false, AT(destructive), 0, 1},
	{"droptags", FLAG, false, AT(droptags), 0, 1},
	{"dtypes", WORD, false, NOWHERE, 0, 0},
	{"dynvarsize", SIZE, false, NOWHERE, 0, INT64_MAX},
	{"empty", FLAG, false, AT(empty), 0, 1},
	{"errtags", FLAG, false, AT(errtags), 0, 1},
	{"evaltime", WORD, false, NOWHERE, 0, 0},
	{"flowindent", FLAG, true, AT(flowindent), 0, 1},
	{"incdir", WORD, false, NOWHERE, 0, 0},
	{"grabanon", FLAG, false, NOWHERE, 0, 1},
	{"iregs", NUMBER, false, NOWHERE, 0, INT32_MAX},
	{"jstackframes", NUMBER, false, NOWHERE, 0, INT32_MAX},
	{"jstackstrsize", SIZE, false, NOWHERE, 0, INT64_MAX},
	{"kdefs", FLAG, false, NOWHERE, 0, 1},
	{"knodefs", FLAG, false, NOWHERE, 0, 1},
	{"late", WORD, false, NOWHERE, 0, 0},
	{"lazyload", FLAG, false, NOWHERE, 0, 1},
	{"ldpath", WORD, false, NOWHERE, 0, 0},
	{"libdir", WORD, false, NOWHERE, 0, 0},
	{"linkmode", WORD, false, NOWHERE, 0, 0},
	{"linktype", WORD, false, NOWHERE, 0, 0},
	{"lockmem", WORD, false, NOWHERE, 0, 0},
	{"maxframes", NUMBER, false, AT(maxframes), 1, 127},
	{"modpath", WORD, false, NOWHERE, 0, 0},
	{"nolibs", FLAG, false, NOWHERE, 0, 1},
	{"noresolve", FLAG, true, NOWHERE, 0, 1},
	{"nspec", NUMBER, false, AT(nspec), 0, 1024},
	{"pcapsize", SIZE, false, NOWHERE, 0, INT64_MAX},
	{"pgmax", NUMBER, false, NOWHERE, 0, INT32_MAX},
	{"preallocate", SIZE, false, NOWHERE, 0, INT64_MAX},
	{"printsize", SIZE, true, AT(printsize), 0, INT64_MAX},
	{"procfspath", WORD, false, NOWHERE, 0, 0},
	{"pspec", FLAG, false, NOWHERE, 0, 1},
	{"quiet", FLAG, true, AT(quiet), 0, 1},
	{"quietresize", FLAG, true, NOWHERE, 0, 1},
	{"rawbytes", FLAG, true, AT(rawbytes), 0, 1},
	{"scratchsize", SIZE, false, AT(scratchsize), 1, KI_TEXTS_PIECE},
	{"setenv", WORD, false, NOWHERE, 0, 0},
	{"specsize", SIZE, false, AT(specsize), 0, INT64_MAX},
	{"stackframes", NUMBER, false, AT(stackframes), 0, 127},
	{"stackindent", NUMBER, true, AT(stackindent), 0, 1000},
	{"statusrate", RATE, false, NOWHERE, 0, INT64_MAX},
	{"stdc", WORD, false, NOWHERE, 0, 0},
	{"strip", FLAG, false, NOWHERE, 0, 1},
	{"strsize", SIZE, false, AT(strsize), 1, STRSIZE_MOST},
	{"switchrate", RATE, true, AT(switchrate), 0, INT64_MAX},
	{"syslibdir", WORD, false, NOWHERE, 0, 0},
	{"sysslice", FLAG, false, NOWHERE, 0, 1},
	{"tree", NUMBER, false, NOWHERE, 0, INT32_MAX},
	{"tregs", NUMBER, false, NOWHERE, 0, INT32_MAX},
	{"udefs", FLAG, false, NOWHERE, 0, 1},
	{"undef", WORD, false, NOWHERE, 0, 0},
	{"unodefs", FLAG, false, NOWHERE, 0, 1},
	{"unsetenv", WORD, false, NOWHERE, 0, 0},
	{"uprobes", FLAG, false, AT(uprobes), 0, 1},
	{"ustackframes", NUMBER, false, AT(ustackframes), 0, 127},
	{"verbose", FLAG, false, NOWHERE, 0, 1},
	{"version", WORD, false, NOWHERE, 0, 0},
	{"zdefs", FLAG, false, AT(zdefs), 0, 1},
};

/* ---- values ---- */

static int64_t number_of(const char *text, char **end)
{
	int64_t n;

	errno = 0;
	n = strtoll(text, end, 0);
	return *end == text || errno ? -1 : n;
}

int ki_d_size_of(const char *text, int64_t *out)
{
	static const char units[] = "kmgt";
	char *end;
	int64_t n = number_of(text, &end);
	const char *unit = *end ? strchr(units, tolower((unsigned char)*end)) : NULL;
	const int shift = unit ? 10 * (int)(unit - units + 1) : 0;

	if (n < 0 || n > INT64_MAX >> shift || end[unit ? 1 : 0])
		return -EINVAL;
	*out = n << shift;
	return 0;
}

static const struct {
	const char *name;
	int64_t ns; /* 0: so many in a second */
} units[] = {
	{"ns", 1},
	{"nsec", 1},
	{"us", 1000},
	{"usec", 1000},
	{"ms", 1000000},
	{"msec", 1000000},
	{"s", SECOND},
	{"sec", SECOND},
	{"m", 60 * SECOND},
	{"min", 60 * SECOND},
	{"h", 3600 * SECOND},
	{"hour", 3600 * SECOND},
	{"d", 86400 * SECOND},
	{"day", 86400 * SECOND},
	{"hz", 0},
	{"", 0},
};

int ki_d_rate_of(const char *text, int64_t *nanoseconds)
{
	char *end;
	int64_t n = number_of(text, &end);

	for (size_t i = 0; n >= 0 && i < sizeof(units) / sizeof(*units); i++) {
		if (strcasecmp(end, units[i].name) != 0)
			continue;
		if (units[i].ns && n > INT64_MAX / units[i].ns)
			return -EINVAL;
		*nanoseconds = units[i].ns ? n * units[i].ns : n ? SECOND / n : 0;
		return 0;
	}
	return -EINVAL;
}

static int value_of(uint8_t kind, const char *value, int64_t *out)
{
	char *end;

	*out = 1;
	if (kind == WORD || (kind == FLAG && (!value || !*value)))
		return 0;
	if (!value || !*value)
		return -EINVAL;
	if (kind == SIZE)
		return ki_d_size_of(value, out);
	if (kind == RATE)
		return ki_d_rate_of(value, out);
	*out = number_of(value, &end);
	if (*out < 0 || *end)
		return -EINVAL;
	if (kind == FLAG)
		*out = !!*out;
	return 0;
}

static int set_format(struct ki_d_settings *s, const char *value)
{
	if (!value || (strcmp(value, "json") != 0 && strcmp(value, "text") != 0))
		return -EINVAL;
	s->json = !strcmp(value, "json");
	return 0;
}

/* A version of the language, MAJOR.MINOR[.MICRO], that the reference has: none is later than this.
 */
static bool is_version(const char *text)
{
	static const unsigned int latest[] = {2, 0, 7};
	unsigned int n[3] = {0};
	int len = 0, more = 0;

	if (!text || sscanf(text, "%3u.%3u%n", &n[0], &n[1], &len) != 2)
		return false;
	if (text[len] && sscanf(text + len, ".%3u%n", &n[2], &more) != 1)
		return false;
	for (int i = 0; i < 3; i++)
		if (n[i] != latest[i])
			return n[0] && n[i] < latest[i] && !text[len + more];
	return !text[len + more];
}

/* Of words that mean nothing here, those that no program could mean are refused all the same. */
static bool is_nonsense(const char *name, const char *value)
{
	static const char *const choices[][4] = {{"bufpolicy", "fill", "ring", "switch"},
						 {"bufresize", "auto", "manual", "manual"}};

	if (!strcmp(name, "version"))
		return !is_version(value);
	for (size_t i = 0; i < sizeof(choices) / sizeof(*choices); i++) {
		const char *const *c = choices[i];

		if (!strcmp(name, c[0]))
			return !value || (strcmp(value, c[1]) != 0 && strcmp(value, c[2]) != 0 &&
					  strcmp(value, c[3]) != 0);
	}
	return false;
}

int ki_d_option(struct ki_d_settings *s, const char *name, const char *value, bool running)
{
	int64_t n;

	if (!strcmp(name, "oformat"))
		return running ? -EBUSY : set_format(s, value);
	for (size_t i = 0; i < sizeof(options) / sizeof(*options); i++) {
		if (strcmp(name, options[i].name) != 0)
			continue;
		if (running && !options[i].alive)
			return -EBUSY;
		if (is_nonsense(name, value) || value_of(options[i].kind, value, &n))
			return -EINVAL;
		if (options[i].kind != WORD && (n < options[i].least || n > options[i].most))
			return -EINVAL;
		if (options[i].at != NOWHERE)
			*(int64_t *)((char *)s + options[i].at) = n;
		return 0;
	}
	return -ENOENT;
}

const char *ki_d_option_why(int code)
{
	return code == -ENOENT	? "Invalid option name"
	       : code == -EBUSY ? "Operation illegal when tracing is active"
				: "Invalid value for specified option";
}
