// SPDX-License-Identifier: LGPL-2.1-only OR BSD-2-Clause
#include <ctype.h>
#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <strings.h>

#include "dlang/probe/probe.h"
#include "dlang/probe/user.h"

#define SYSCALL	 "__x64_sys_"
#define NSYSCALL (sizeof(SYSCALL) - 1)

static const char *const sides[] = {"entry", "return"};

static bool any_side(const struct ki_d_match *m)
{
	return ki_d_field_matches(m->pattern->field[3], sides[0]) ||
	       ki_d_field_matches(m->pattern->field[3], sides[1]);
}

/* What the symbol is called as a probe; NULL: it is none. */
typedef const char *name_of(const struct ki_symbol *sym);

static const char *any_function(const struct ki_symbol *sym)
{
	return !sym->alias && strncmp(sym->name, "__pfx_", 6) ? sym->name : NULL;
}

/* One without arguments is an alias of what 32-bit processes call. */
static const char *system_call(const struct ki_symbol *sym)
{
	if (strncmp(sym->name, SYSCALL, NSYSCALL) != 0 || *sym->module ||
	    !strcmp(sym->name + NSYSCALL, "ni_syscall"))
		return NULL;
	return sym->name + NSYSCALL;
}

static int find_functions(struct ki_d_match *m, const struct ki_d_provider *self, name_of *name)
{
	const struct ki_symbol *all;
	size_t n;
	int ret = 0;

	all = ki_target_symbols(m->t, &n);
	for (size_t i = 0; any_side(m) && !ret && i < n; i++) {
		const char *function = name(&all[i]),
			   *module = *all[i].module ? all[i].module : KI_D_KERNEL;

		if (!function || !ki_d_field_matches(m->pattern->field[1], module) ||
		    !ki_d_field_matches(m->pattern->field[2], function))
			continue;
		for (unsigned int side = 0; !ret && side < 2; side++)
			if (ki_d_field_matches(m->pattern->field[3], sides[side]))
				ret = ki_d_found(m, self, &all[i], function, side);
	}
	return ret;
}

static int find_fbt(struct ki_d_match *m, const struct ki_d_provider *self)
{
	return find_functions(m, self, any_function);
}

static int find_syscall(struct ki_d_match *m, const struct ki_d_provider *self)
{
	return find_functions(m, self, system_call);
}

static bool has_no_place(const struct ki_d_match *m)
{
	return ki_d_field_matches(m->pattern->field[1], "") &&
	       ki_d_field_matches(m->pattern->field[2], "");
}

static int find_dtrace(struct ki_d_match *m, const struct ki_d_provider *self)
{
	static const char *const names[] = {"BEGIN", "END", "ERROR"};
	int ret = 0;

	for (size_t i = 0; !ret && has_no_place(m) && i < sizeof(names) / sizeof(*names); i++)
		if (ki_d_field_matches(m->pattern->field[3], names[i]))
			ret = ki_d_found_named(m, self, names[i], 0);
	return ret;
}

/* tick-N[UNIT]; a number alone is a rate. */
static const struct {
	const char *name;
	double seconds; /* of one; 0: so many in a second */
} units[] = {
	{"ns", 1e-9}, {"nsec", 1e-9}, {"us", 1e-6}, {"usec", 1e-6}, {"ms", 1e-3}, {"msec", 1e-3},
	{"s", 1},     {"sec", 1},     {"m", 60},    {"min", 60},    {"h", 3600},  {"hour", 3600},
	{"d", 86400}, {"day", 86400}, {"hz", 0},    {"", 0},
};

#define SHORTEST 200000 /* nanoseconds */

static uint64_t period(const char *text)
{
	char *end;
	double n = (double)strtoull(text, &end, 10), seconds = -1;

	for (size_t i = 0;
	     isdigit((unsigned char)*text) && n > 0 && i < sizeof(units) / sizeof(*units); i++)
		if (!strcasecmp(end, units[i].name))
			seconds = units[i].seconds > 0 ? n * units[i].seconds : 1 / n;
	return seconds > 0 && seconds < 1e9 ? (uint64_t)(seconds * 1e9 + 0.5) : 0;
}

/* What a name with globs, or none, may mean: there are as many others as numbers. */
static int find_listed(struct ki_d_match *m, const struct ki_d_provider *self)
{
	static const char *const names[] = {
		"profile-97",	"profile-199",	"profile-499", "profile-997", "profile-1999",
		"profile-4001", "profile-4999", "tick-1",      "tick-10",     "tick-100",
		"tick-500",	"tick-1000",	"tick-5000"};
	int ret = 0;

	for (size_t i = 0; !ret && i < sizeof(names) / sizeof(*names); i++)
		if (ki_d_field_matches(m->pattern->field[3], names[i]))
			ret = ki_d_found_named(m, self, names[i],
					       period(strchr(names[i], '-') + 1));
	return ret;
}

static int find_profile(struct ki_d_match *m, const struct ki_d_provider *self)
{
	const char *name = m->pattern->field[3];
	uint64_t ns;

	if (!has_no_place(m))
		return 0;
	if (!*name || strpbrk(name, "*?["))
		return find_listed(m, self);
	if (strncmp(name, "tick-", 5) != 0 && strncmp(name, "profile-", 8) != 0)
		return 0;
	ns = period(strchr(name, '-') + 1);
	if (ns < SHORTEST && m->d->set.zdefs)
		return 0;
	if (ns < SHORTEST)
		return ki_d_fail(
			m->d, m->err, m->pattern->at, "D_PDESC_ZERO",
			"'%.32s': tick-N or profile-N, with ns, us, ms, s, m, h, d or hz behind N, and "
			"at least 200 us",
			name);
	return ki_d_found_named(m, self, name, ns);
}

/* Those of functions first, numbered from 0. */
const struct ki_d_provider ki_d_providers[] = {
	{"fbt", find_fbt, 0, false},
	{"syscall", find_syscall, 1, false},
	{"rawfbt", find_fbt, 2,
	 false}, /* functions whose name the compiler has changed are fbt's, too */
	{"dtrace", find_dtrace, 2, false},
	{"profile", find_profile, 3, false},
	{"cpc", ki_d_find_cpc, 0, false},
	{"rawtp", ki_d_find_events, 1, false},
	{"sdt", ki_d_find_events, 2, false},
	{"insn", ki_d_find_points, 1, false},
	{"block", ki_d_find_points, 0, false},
	{"edge", ki_d_find_points, 0, false},
	{"call", ki_d_find_points, 0, false},
	{"proc", ki_d_find_stable, 0, false},
	{"sched", ki_d_find_stable, 0, false},
	{"io", ki_d_find_stable, 0, false},
	{"vfs", ki_d_find_stable, 0, false},
	{"lockstat", ki_d_find_stable, 0, false},
	{"kmem", ki_d_find_stable, 0, false},
	{"ip", ki_d_find_stable, 0, false},
	{"tcp", ki_d_find_stable, 0, false},
	{"udp", ki_d_find_stable, 0, false},
	{"callout", ki_d_find_stable, 0, false},
	{"vminfo", ki_d_find_stable, 0, false},
	{"sysinfo", ki_d_find_stable, 0, false},
	{"pid", ki_d_find_pid, 0, true},
	{"", ki_d_find_usdt, 0, true}, /* any other name with a number */
	{NULL, NULL, 0, false},
};
