// SPDX-License-Identifier: GPL-2.0-only
/*
 * usage: oracles [-v] [-m SYSTEM_MAP] NAME FILE...
 *	  oracles -t FILE
 *
 * All checks over all files, then one KTAP line for each check, called by NAME. Or, for
 * switches.sh, where the tables of each function lead.
 */
#include <stdarg.h>
#include <string.h>
#include <unistd.h>

#include "oracles.h"

#define SHOWN 40 /* differences of each cause */

static const struct {
	const char *title;
	void (*run)(struct oracles *o);
	bool kernel; /* only where there is something of the kernel's */
} checks[CHECKS] = {
	[CHECK_BOUNDS] = {"boundaries are objdump's", check_bounds, false},
	[CHECK_UNWIND] = {"the unwind table's addresses are boundaries", check_unwind, true},
	[CHECK_FUNCTIONS] = {"functions are where the symbols say", check_functions, false},
	[CHECK_PARSED] = {"functions are parsed", check_parsed, false},
	[CHECK_GRAPH] = {"calls and jumps are objdump's", check_graph, false},
	[CHECK_TABLES] = {"no jump by a table is taken for a tail call", check_tables, false},
	[CHECK_NORETURN] = {"functions that do not return", check_noreturn, true},
	[CHECK_PARENTS] = {"cold parts have the parent that branches to them", check_parents, true},
	[CHECK_THREADS] = {"1, 2 and 7 threads: the same", check_threads, false},
};

static const char *const causes[CAUSES] = {
	[CAUSE_FWAIT] = "fwait is one instruction with the next one, to objdump",
	[CAUSE_LOCK] = "jumps over a lock prefix",
	[CAUSE_OVERLAP] = "instructions that lie in each other",
	[CAUSE_ALTERNATIVE] = "the boundary is one of a replacement",
	[CAUSE_BEHIND_NORETURN] = "behind a call that does not return",
	[CAUSE_STATIC_BRANCH] = "static branches: a nop, to objdump",
	[CAUSE_NO_SYMBOL] = "code without a symbol",
	[CAUSE_INNER_SYMBOL] = "other symbols inside of the function's",
	[CAUSE_UNPARSED] = "in functions that are not parsed",
	[CAUSE_POINTERS] = "arrays of functions",
	[CAUSE_LOST_PARENT] = "cold parts that nothing of their name branches to",
	[CAUSE_BELIEVED] = "callers that go on, as far as the compiler knew",
	[CAUSE_BOUNDARY] = "a boundary of objdump's alone",
	[CAUSE_COUNT] = "a boundary of ours alone",
	[CAUSE_CODE_OUTSIDE] = "code outside of blocks",
	[CAUSE_UNWIND] = "unwind table",
	[CAUSE_START] = "start of a function",
	[CAUSE_SIZE] = "end of a function",
	[CAUSE_PARSED] = "too few are parsed",
	[CAUSE_TARGET] = "target",
	[CAUSE_MISSING] = "missing",
	[CAUSE_SURPLUS] = "surplus",
	[CAUSE_TABLE] = "table",
	[CAUSE_NORETURN] = "noreturn",
	[CAUSE_PARENT] = "parent",
	[CAUSE_THREADS] = "threads",
};

void differ(struct oracles *o, enum cause cause, uint64_t addr, const char *fmt, ...)
{
	uint64_t n = o->checks[o->check].by_cause[cause]++;
	const struct ki_symbol *s = ki_target_symbol_at(o->t, addr);
	const char *base = strrchr(o->image.path, '/');
	va_list ap;

	if (n >= SHOWN || (cause <= CAUSE_EXPLAINED && !o->verbose && o->check != CHECK_PARSED))
		return;
	printf("# %s %s+0x%llx: ", base ? base + 1 : o->image.path, s ? s->name : "?",
	       (unsigned long long)(addr - (s ? s->addr : 0)));
	va_start(ap, fmt);
	vprintf(fmt, ap);
	va_end(ap);
	printf(" (%s)\n", causes[cause]);
}

/*
 * The return thunks of some processors: what the first instruction has as its immediate is the
 * thunk itself. And xen_cpuid, where three letters stand after a ud2.
 */
bool overlaps(const struct oracles *o, uint64_t addr)
{
	static const char *const names[] = {"retbleed_", "srso_", "xen_cpuid"};
	const struct ki_symbol *s = ki_target_symbol_at(o->t, addr);

	for (size_t i = 0; s && i < sizeof(names) / sizeof(*names); i++)
		if (strncmp(s->name, names[i], strlen(names[i])) == 0)
			return true;
	return false;
}

static int find_thunks(struct oracles *o)
{
	size_t n;
	const struct ki_symbol *s = ki_target_symbols(o->t, &n);

	for (size_t i = 0; i < n; i++) {
		size_t len = strlen(s[i].name);
		int ret = 0;

		if (strstr(s[i].name, "__x86_indirect_") && strstr(s[i].name, "thunk_"))
			ret = ki_vec_push(&o->indirect_thunks, s[i].addr);
		else if (len >= 12 && strcmp(s[i].name + len - 12, "return_thunk") == 0)
			ret = ki_vec_push(&o->return_thunks, s[i].addr);
		if (ret)
			return ret;
	}
	return 0;
}

static int look_into(struct oracles *o, const char *path, const char *map)
{
	struct ki_err err = {0};
	int ret = image_open(&o->image, path);

	if (!ret && image_is_empty(&o->image)) {
		printf("# %s: no code in it\n", path);
		image_close(&o->image);
		return 0;
	}
	if (!ret)
		ret = listing_read(&o->listing, &o->image);
	if (!ret)
		ret = map ? ki_target_new_with_map(path, map, &o->t, &err)
			  : ki_target_new_image(path, &o->t, &err);
	if (!ret)
		ret = find_thunks(o);
	if (!ret)
		ret = ki_program_new(o->t, NULL, &o->p, &err);
	if (!ret) {
		o->functions = ki_program_functions(o->p, &o->nfunctions);
		for (o->check = 0; o->check < CHECKS; o->check++)
			checks[o->check].run(o);
	} else {
		printf("# %s: %s\n", path, err.msg[0] ? err.msg : strerror(-ret));
	}
	ki_program_free(o->p);
	ki_target_free(o->t);
	image_close(&o->image);
	o->p = NULL;
	o->t = NULL;
	o->indirect_thunks.n = o->return_thunks.n = 0;
	return ret;
}

static bool report_check(const struct check *c, const char *name, const char *title, int number)
{
	bool good = c->looked_at;

	for (int i = CAUSE_EXPLAINED + 1; i < CAUSES; i++)
		good &= !c->by_cause[i];
	printf("%s %d %s: %s: %llu looked at\n", good ? "ok" : "not ok", number, name, title,
	       (unsigned long long)c->looked_at);
	for (int i = 0; i < CAUSES; i++)
		if (c->by_cause[i])
			printf("#   %llu %s\n", (unsigned long long)c->by_cause[i], causes[i]);
	return good;
}

static int report(struct oracles *o, const char *name)
{
	bool good = true;
	int number = 1;

	o->check = CHECK_PARSED;
	printf("# %s: %llu of %llu functions parsed, %.3f %%\n", name,
	       (unsigned long long)o->nparsed, (unsigned long long)o->nall,
	       100.0 * (double)o->nparsed / (double)(o->nall ? o->nall : 1));
	if ((double)o->nparsed < 0.995 * (double)o->nall)
		o->checks[CHECK_PARSED].by_cause[CAUSE_PARSED]++;
	for (int i = 0; i < CHECKS; i++) {
		const struct check *c = &o->checks[i];

		if (checks[i].kernel && !c->looked_at)
			continue;
		good &= report_check(c, name, checks[i].title, number++);
	}
	return good ? 0 : 1;
}

/* "function NAME parsed", "table NAME ADDRESS", "tail NAME ADDRESS" */
static int print_tables(const char *path)
{
	struct ki_err err = {0};
	const struct ki_program_function *f;
	struct ki_program_edge e;
	struct ki_program_call c;
	struct ki_program *p;
	struct ki_target *t;
	uint32_t n;

	if (ki_target_new_image(path, &t, &err) || ki_program_new(t, NULL, &p, &err)) {
		fprintf(stderr, "oracles: %s\n", err.msg);
		return 1;
	}
	f = ki_program_functions(p, &n);
	for (uint32_t i = 0; i < n; i++)
		printf("function %s %s\n", f[i].symbol->name,
		       f[i].flags & KI_FUNCTION_PARSED ? "parsed" : ki_reason_tag(f[i].unparsed));
	for (uint32_t i = 0; !ki_program_edge(p, i, &e); i++)
		if (e.kind == KI_EDGE_TABLE)
			printf("table %s %llx\n", f[ki_program_function_at(p, e.from)].symbol->name,
			       (unsigned long long)e.to);
	for (uint32_t i = 0; !ki_program_call(p, i, &c); i++)
		if (c.kind == KI_EDGE_TAIL_INDIRECT)
			printf("tail %s %llx\n", f[c.caller].symbol->name,
			       (unsigned long long)c.from);
	ki_program_free(p);
	ki_target_free(t);
	return 0;
}

static int usage(void)
{
	fputs("usage: oracles [-v] [-m SYSTEM_MAP] NAME FILE...\n       oracles -t FILE\n", stderr);
	return 2;
}

int main(int argc, char **argv)
{
	static struct oracles o;
	const char *map = NULL, *name;
	int c;

	while ((c = getopt(argc, argv, "vm:t:")) != -1) {
		if (c == 'v')
			o.verbose = true;
		else if (c == 'm')
			map = optarg;
		else if (c == 't')
			return print_tables(optarg);
		else
			return usage();
	}
	if (argc - optind < 2)
		return usage();
	o.map = map;
	name = argv[optind];
	for (int i = optind + 1; i < argc; i++) {
		if (look_into(&o, argv[i], map)) {
			printf("not ok 1 %s\n", argv[i]);
			return 1;
		}
	}
	return report(&o, name);
}
