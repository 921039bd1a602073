/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * Real code: this program's and the C library's instruction boundaries, as objdump sees them; flags
 * at their functions' entries, as the whole analysis has them.
 */
#include "common_code.h"

#include <dlfcn.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "util/vec.h"

struct listing {
	ki_vec(uint64_t) addrs; /* where objdump says that instructions begin, in order */
};

static int compare(const void *a, const void *b)
{
	uint64_t x = *(const uint64_t *)a, y = *(const uint64_t *)b;

	return x < y ? -1 : x > y;
}

/* A line of `objdump -d`: "   1234:\tcall   5678 <f>" */
static void take_line(struct listing *l, const char *s)
{
	char *end;
	uint64_t addr = strtoull(s, &end, 16);

	if (*s != ' ' || end == s || end[0] != ':' || end[1] != '\t')
		return;
	assert_int_equal(ki_vec_push(&l->addrs, addr), 0);
}

static bool disassemble(const char *path, struct listing *l)
{
	char cmd[512], line[512];
	FILE *p;

	if (system("objdump --version > /dev/null 2>&1"))
		return false;
	snprintf(cmd, sizeof(cmd), "objdump -dzw --no-show-raw-insn '%s'", path);
	p = popen(cmd, "r");
	assert_non_null(p);
	while (fgets(line, sizeof(line), p))
		take_line(l, line);
	assert_int_equal(pclose(p), 0);
	for (size_t i = 1; i < l->addrs.n; i++)
		assert_true(l->addrs.v[i - 1] < l->addrs.v[i]);
	return l->addrs.n > 1000;
}

static bool listed(const struct listing *l, uint64_t addr)
{
	return bsearch(&addr, l->addrs.v, l->addrs.n, sizeof(addr), compare);
}

/* Number of the first listed address at or above addr. */
static size_t from(const struct listing *l, uint64_t addr)
{
	size_t lo = 0, hi = l->addrs.n;

	while (lo < hi) {
		size_t mid = lo + (hi - lo) / 2;

		if (l->addrs.v[mid] < addr)
			lo = mid + 1;
		else
			hi = mid;
	}
	return lo;
}

static void tell(const struct ki_function *fn, uint64_t addr, const char *what)
{
	print_message("%s+0x%llx: %s\n", fn->symbol->name, (unsigned long long)(addr - fn->start),
		      what);
}

/* fwait is an instruction; objdump writes it and the x87 instruction after it as one. */
static bool after_fwait(const struct ki_function *fn, uint32_t i)
{
	const uint8_t *p = fn->bytes + (fn->insns[i].addr - fn->start);

	return i && p[-1] == 0x9b && (*p & 0xf8) == 0xd8;
}

static size_t compare_function(const struct ki_function *fn, const struct listing *l)
{
	size_t wrong = 0;

	for (uint32_t i = 0; i < fn->ninsns; i++) {
		const struct ki_insn *in = &fn->insns[i];

		if (in->kind != KI_INSN_BAD && !listed(l, in->addr) && !after_fwait(fn, i)) {
			tell(fn, in->addr, "not an instruction, says objdump");
			wrong++;
		}
	}
	for (size_t i = from(l, fn->start); i < l->addrs.n && l->addrs.v[i] < fn->end; i++) {
		if (!ki_function_insn_at(fn, l->addrs.v[i])) {
			tell(fn, l->addrs.v[i], "an instruction, says objdump");
			wrong++;
		}
	}
	return wrong;
}

static void compare_file(const char *path, size_t least)
{
	struct listing l = {0};
	const struct ki_symbol *s;
	struct ki_err err = {0};
	struct ki_target *t;
	size_t n, insns = 0, wrong = 0, bad = 0;

	if (!disassemble(path, &l)) {
		print_message("no objdump here: not compared\n");
		skip();
	}
	if (ki_target_new_image(path, &t, &err))
		fail_msg("%s", err.msg);
	s = ki_target_symbols(t, &n);
	for (size_t i = 0; i < n; i++) {
		struct ki_function *fn;

		assert_int_equal(ki_function_analyze(t, &s[i], &fn, &err), 0);
		check_function(fn);
		wrong += compare_function(fn, &l);
		insns += fn->ninsns;
		for (uint32_t k = 0; k < fn->ninsns; k++)
			bad += fn->insns[k].kind == KI_INSN_BAD;
		ki_function_free(fn);
	}
	print_message("%s: %zu symbols, %zu instructions, %zu bad, %zu differ\n", path, n, insns,
		      bad, wrong);
	assert_true(insns >= least);
	assert_int_equal(wrong, 0);
	ki_target_free(t);
	ki_vec_free(&l.addrs);
}

static void this_program(void **state)
{
	char path[400];
	ssize_t n = readlink("/proc/self/exe", path, sizeof(path) - 1);

	(void)state;
	assert_true(n > 0);
	path[n] = 0;
	compare_file(path, 3000);
}

static void the_c_library(void **state)
{
	Dl_info info;

	(void)state;
	if (!dladdr((void *)(uintptr_t)&qsort, &info) || !info.dli_fname)
		skip();
	compare_file(info.dli_fname, 100000);
}

/* ---- flags, of functions that are asked at their entries alone ---- */

struct entries {
	const struct ki_symbol **syms;
	struct ki_target *t;
	size_t dead,
		more; /* entries without live flags; instructions where they are said to live */
};

/* At the entry the same as ever; elsewhere never dead where they live. */
static int compare_flags(void *arg, size_t i, const struct ki_function *fn)
{
	struct entries *e = arg;
	struct ki_function *whole;

	assert_int_equal(ki_function_analyze(e->t, e->syms[i], &whole, NULL), 0);
	assert_int_equal(fn->ninsns, whole->ninsns);
	for (uint32_t k = 0; k < fn->ninsns; k++) {
		const bool ours = fn->insns[k].flags & KI_INSN_FLAGS_LIVE,
			   live = whole->insns[k].flags & KI_INSN_FLAGS_LIVE;

		assert_true(ours || !live);
		e->more += ours && !live;
		if (fn->nblocks && k == fn->blocks[0].first) {
			assert_int_equal(ours, live);
			e->dead += !ours;
		}
	}
	ki_function_free(whole);
	return 0;
}

static void flags_at_entries(void **state)
{
	struct entries e = {0};
	struct ki_err err = {0};
	const struct ki_symbol *all;
	size_t n;

	(void)state;
	if (ki_target_new_image("/proc/self/exe", &e.t, &err))
		fail_msg("%s", err.msg);
	all = ki_target_symbols(e.t, &n);
	e.syms = calloc(n + 1, sizeof(*e.syms));
	assert_non_null(e.syms);
	for (size_t i = 0; i < n; i++)
		e.syms[i] = &all[i];
	assert_int_equal(ki_functions_analyze(e.t,
					      &(struct ki_functions_job){.syms = e.syms,
									 .n = n,
									 .threads = 1,
									 .take = compare_flags,
									 .arg = &e,
									 .at_entries = true},
					      &err),
			 0);
	assert_true(e.dead > n / 2 && e.more > 0);
	free(e.syms);
	ki_target_free(e.t);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(this_program),
		cmocka_unit_test(the_c_library),
		cmocka_unit_test(flags_at_entries),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
