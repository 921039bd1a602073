// SPDX-License-Identifier: LGPL-2.1-only OR BSD-2-Clause
#include "dlang/parse/options.h"

#include <ctype.h>
#include <errno.h>
#include <stddef.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <strings.h>

#include "dlang/check/attributes.h"
#include "kerninst/target.h"

#define SECOND	     INT64_C(1000000000)
#define STRSIZE_MOST (64 << 10)
#define SCRATCH	     4096
#define REGISTERS    8	  /* that programs need, as the reference counts them */
#define PCAPSIZE     1514 /* of ethernet, with its head */

void ki_d_settings_default(struct ki_d_settings *s)
{
	*s = (struct ki_d_settings){.stackframes = 20,
				    .ustackframes = 100,
				    .stackindent = 14,
				    .maxframes = 127,
				    .strsize = 256,
				    .bufsize = KI_D_BUFSIZE,
				    .nspec = 1,
				    .specsize = KI_D_SPECSIZE,
				    .aggsize = KI_D_AGGSIZE,
				    .dynvarsize = KI_D_DYNVARSIZE,
				    .scratchsize = SCRATCH,
				    .printsize = 8192,
				    .tregs = 8,
				    .pcapsize = PCAPSIZE,
				    .kdefs = 1,
				    .cpu = -1,
				    .switchrate = SECOND,
				    .aggrate = SECOND,
				    .statusrate = SECOND};
}

enum kind { FLAG, NUMBER, SIZE, RATE, WORD /* any text, or none */ };

/* Where it may be set. NOWHERE, as a place: it is taken, and means nothing here. */
enum where { COMMAND, PROGRAM /* and the command line */, ALIVE /* and while the program runs */ };
#define NOWHERE SIZE_MAX
#define AT(x)	offsetof(struct ki_d_settings, x)

static const struct {
	const char *name;
	uint8_t kind, where;
	size_t at;
	int64_t least, most;
} options[] = {
	{"aggpercpu", FLAG, PROGRAM, AT(aggpercpu), 0, 1},
	{"aggrate", RATE, ALIVE, AT(aggrate), 0, INT64_MAX},
	{"aggsize", SIZE, PROGRAM, AT(aggsize), 0, INT64_MAX},
	{"aggsortkey", FLAG, ALIVE, AT(aggsortkey), 0, 1},
	{"aggsortkeypos", NUMBER, ALIVE, AT(aggsortkeypos), 0, INT32_MAX},
	{"aggsortpos", NUMBER, ALIVE, AT(aggsortpos), 0, INT32_MAX},
	{"aggsortrev", FLAG, ALIVE, AT(aggsortrev), 0, 1},
	{"amin", WORD, PROGRAM, AT(amin), 0, 0},
	{"argref", FLAG, PROGRAM, AT(argref), 0, 1},
	{"bpflog", FLAG, PROGRAM, NOWHERE, 0, 1},
	{"bpflogsize", SIZE, PROGRAM, NOWHERE, 0, INT64_MAX},
	{"btfpath", WORD, COMMAND, NOWHERE, 0, 0},
	{"bufpolicy", WORD, PROGRAM, AT(bufpolicy), 0, 0},
	{"bufresize", WORD, PROGRAM, NOWHERE, 0, 0},
	{"bufsize", SIZE, PROGRAM, AT(bufsize), 0, INT64_MAX},
	{"cleanrate", RATE, PROGRAM, NOWHERE, 0, INT64_MAX},
	{"core", FLAG, PROGRAM, NOWHERE, 0, 1},
	{"cpp", FLAG, PROGRAM, NOWHERE, 0, 1},
	{"cppargs", WORD, COMMAND, NOWHERE, 0, 0},
	{"cpphdrs", FLAG, COMMAND, NOWHERE, 0, 1},
	{"cpppath", WORD, COMMAND, NOWHERE, 0, 0},
	{"cpu", NUMBER, PROGRAM, AT(cpu), 0, INT32_MAX},
	{"ctfpath", WORD, COMMAND, NOWHERE, 0, 0},
	{"ctypes", WORD, COMMAND, NOWHERE, 0, 0},
	{"debug", FLAG, PROGRAM, NOWHERE, 0, 1},
	{"defaultargs", FLAG, PROGRAM, AT(defaultargs), 0, 1},
	{"debugassert", WORD, PROGRAM, NOWHERE, 0, 0},
	{"define", WORD, COMMAND, NOWHERE, 0, 0},
	{"destructive", FLAG, PROGRAM, AT(destructive), 0, 1},
	{"droptags", FLAG, PROGRAM, AT(droptags), 0, 1},
	{"disasm", NUMBER, PROGRAM, NOWHERE, 0, 15},
	{"dtypes", WORD, COMMAND, NOWHERE, 0, 0},
	{"dynvarsize", SIZE, PROGRAM, AT(dynvarsize), 0, INT64_MAX},
	{"empty", FLAG, PROGRAM, AT(empty), 0, 1},
	{"errtags", FLAG, PROGRAM, AT(errtags), 0, 1},
	{"evaltime", WORD, PROGRAM, AT(evaltime), 0, 0},
	{"flowindent", FLAG, ALIVE, AT(flowindent), 0, 1},
	{"incdir", WORD, COMMAND, NOWHERE, 0, 0},
	{"grabanon", FLAG, PROGRAM, NOWHERE, 0, 1},
	{"iregs", NUMBER, PROGRAM, NOWHERE, 0, REGISTERS},
	{"jstackframes", NUMBER, PROGRAM, NOWHERE, 0, 127},
	{"jstackstrsize", SIZE, PROGRAM, NOWHERE, 0, INT64_MAX},
	{"kdefs", FLAG, PROGRAM, AT(kdefs), 0, 1},
	{"knodefs", FLAG, PROGRAM, AT(kdefs), 0, 1},
	{"late", WORD, PROGRAM, NOWHERE, 0, 0},
	{"lazyload", FLAG, PROGRAM, NOWHERE, 0, 1},
	{"ldpath", WORD, COMMAND, NOWHERE, 0, 0},
	{"libdir", WORD, COMMAND, NOWHERE, 0, 0},
	{"linkmode", WORD, PROGRAM, AT(late), 0, 0},
	{"linktype", WORD, PROGRAM, NOWHERE, 0, 0},
	{"lockmem", WORD, COMMAND, NOWHERE, 0, 0},
	{"maxframes", NUMBER, PROGRAM, AT(maxframes), 1, 127},
	{"modpath", WORD, COMMAND, NOWHERE, 0, 0},
	{"nolibs", FLAG, PROGRAM, NOWHERE, 0, 1},
	{"noresolve", FLAG, ALIVE, AT(noresolve), 0, 1},
	{"nspec", NUMBER, PROGRAM, AT(nspec), 0, 1024},
	{"pcapsize", SIZE, PROGRAM, AT(pcapsize), 0, INT64_MAX},
	{"pgmax", NUMBER, PROGRAM, NOWHERE, 0, INT32_MAX},
	{"preallocate", SIZE, PROGRAM, NOWHERE, 0, INT64_MAX},
	{"plain", FLAG, PROGRAM, AT(plain), 0, 1},
	{"printsize", SIZE, ALIVE, AT(printsize), 0, INT64_MAX},
	{"procfspath", WORD, COMMAND, NOWHERE, 0, 0},
	{"pspec", FLAG, PROGRAM, AT(pspec), 0, 1},
	{"quiet", FLAG, ALIVE, AT(quiet), 0, 1},
	{"quietresize", FLAG, ALIVE, NOWHERE, 0, 1},
	{"rawbytes", FLAG, ALIVE, AT(rawbytes), 0, 1},
	{"scratchsize", SIZE, PROGRAM, AT(scratchsize), 1, KI_TEXTS_PIECE},
	{"setenv", WORD, PROGRAM, NOWHERE, 0, 0},
	{"specsize", SIZE, PROGRAM, AT(specsize), 0, INT64_MAX},
	{"stackframes", NUMBER, PROGRAM, AT(stackframes), 0, 127},
	{"stackindent", NUMBER, ALIVE, AT(stackindent), 0, 1000},
	{"statusrate", RATE, PROGRAM, AT(statusrate), 0, INT64_MAX},
	{"stdc", WORD, PROGRAM, NOWHERE, 0, 0},
	{"strip", FLAG, PROGRAM, NOWHERE, 0, 1},
	{"strsize", SIZE, PROGRAM, AT(strsize), 2, STRSIZE_MOST},
	{"switchrate", RATE, ALIVE, AT(switchrate), 0, INT64_MAX},
	{"syslibdir", WORD, COMMAND, NOWHERE, 0, 0},
	{"sysslice", FLAG, PROGRAM, NOWHERE, 0, 1},
	{"tree", NUMBER, PROGRAM, AT(tree), 0, INT32_MAX},
	{"tregs", NUMBER, PROGRAM, AT(tregs), 0, INT32_MAX},
	{"udefs", FLAG, PROGRAM, NOWHERE, 0, 1},
	{"undef", WORD, COMMAND, NOWHERE, 0, 0},
	{"unodefs", FLAG, PROGRAM, NOWHERE, 0, 1},
	{"unsetenv", WORD, PROGRAM, NOWHERE, 0, 0},
	{"uprobes", FLAG, PROGRAM, AT(uprobes), 0, 1},
	{"ustackframes", NUMBER, PROGRAM, AT(ustackframes), 0, 127},
	{"verbose", FLAG, PROGRAM, NOWHERE, 0, 1},
	{"version", WORD, PROGRAM, NOWHERE, 0, 0},
	{"zdefs", FLAG, PROGRAM, AT(zdefs), 0, 1},
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

/* 0 and 1 in words, in letters of any case; -1: none of them. */
static int flag_word(const char *value)
{
	static const char *const words[][2] = {{"no", "yes"},	      {"false", "true"},
					       {"disable", "enable"}, {"disabled", "enabled"},
					       {"off", "on"},	      {"unset", "set"}};

	for (size_t i = 0; i < sizeof(words) / sizeof(*words); i++)
		for (int n = 0; n < 2; n++)
			if (!strcasecmp(value, words[i][n]))
				return n;
	return -1;
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
	if (kind == FLAG && flag_word(value) >= 0) {
		*out = flag_word(value);
		return 0;
	}
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
	static const char *const choices[][6] = {
		{"bufpolicy", "fill", "ring", "switch"},
		{"bufresize", "auto", "manual"},
		{"evaltime", "exec", "main", "postinit", "preinit"},
		{"linkmode", "kernel", "primary", "dynamic", "static"},
		{"linktype", "dof", "elf"},
		{"stdc", "a", "c", "s", "t"}};

	for (size_t i = 0; i < sizeof(choices) / sizeof(*choices); i++) {
		const char *const *c = choices[i];

		if (strcmp(name, c[0]) != 0)
			continue;
		while (value && *++c)
			if (!strcmp(value, *c))
				return false;
		return true;
	}
	return false;
}

static int not_here(uint8_t where, enum ki_d_when when)
{
	if (when == KI_D_RUNNING)
		return where == ALIVE ? 0 : -EBUSY;
	return when == KI_D_IN_PROGRAM && where == COMMAND ? -EPERM : 0;
}

static bool stability(const char *value, int64_t *out)
{
	struct ki_d_attributes a;
	char text[64];

	snprintf(text, sizeof(text), "%s", value ? value : "");
	if (!ki_d_attributes_of(text, &a))
		return false;
	*out = ki_d_attributes_packed(a);
	return true;
}

/* What options mean whose value is a word, or the opposite of another one's. */
static int meant(const char *name, const char *value, int64_t *n)
{
	if (!strcmp(name, "version") && !is_version(value))
		return value && isdigit((unsigned char)*value) ? -EOPNOTSUPP : -EINVAL;
	if (!strcmp(name, "iregs") && *n < REGISTERS)
		return -ENOSPC;
	if (!strcmp(name, "amin"))
		return stability(value, n) ? 0 : -EINVAL;
	if (!strcmp(name, "bufpolicy"))
		*n = !strcmp(value, "ring")   ? KI_D_RING
		     : !strcmp(value, "fill") ? KI_D_FILL
					      : KI_D_SWITCH;
	if (!strcmp(name, "evaltime"))
		*n = !strcmp(value, "exec")   ? KI_D_AT_EXEC
		     : !strcmp(value, "main") ? KI_D_AT_MAIN
					      : KI_D_AT_ENTRY;
	if (!strcmp(name, "linkmode"))
		*n = !strcmp(value, "dynamic");
	if (!strcmp(name, "knodefs"))
		*n = !*n;
	return 0;
}

int ki_d_option(struct ki_d_settings *s, const char *name, const char *value, enum ki_d_when when)
{
	int64_t n;
	int ret;

	if (!strcmp(name, "oformat"))
		return when == KI_D_RUNNING ? -EBUSY : set_format(s, value);
	for (size_t i = 0; i < sizeof(options) / sizeof(*options); i++) {
		if (strcmp(name, options[i].name) != 0)
			continue;
		ret = not_here(options[i].where, when);
		if (ret)
			return ret;
		if (is_nonsense(name, value) || value_of(options[i].kind, value, &n))
			return -EINVAL;
		if (options[i].kind != WORD && (n < options[i].least || n > options[i].most))
			return -EINVAL;
		ret = meant(name, value, &n);
		if (ret)
			return ret;
		if (options[i].at != NOWHERE)
			*(int64_t *)((char *)s + options[i].at) = n;
		return 0;
	}
	return -ENOENT;
}

const char *ki_d_option_why(int code)
{
	return code == -ENOENT	     ? "Invalid option name"
	       : code == -EPERM	     ? "It may be set on the command line only, by -x"
	       : code == -EBUSY	     ? "Operation illegal when tracing is active"
	       : code == -EOPNOTSUPP ? "Operation not supported"
	       : code == -ENOSPC     ? "Insufficient registers to generate code"
				     : "Invalid value for specified option";
}
