// SPDX-License-Identifier: GPL-2.0-only
/*
 * Predicates: the C compiler says what expressions mean; what names mean.
 *
 * promise: P11, F4: Predicates in text mean what the C compiler says, and those that refuse cost
 *   little. [test_predicate_random.c, test_predicate_text.c, fuzz/run.sh]
 */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <cmocka.h>

#include <arpa/inet.h>
#include <endian.h>
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>

#include "common_predicate.h"

/* ---- the C compiler ---- */

typedef int8_t i8;
typedef int16_t i16;
typedef int32_t i32;
typedef int64_t i64;
typedef uint8_t u8;
typedef uint16_t u16;
typedef uint32_t u32;
typedef uint64_t u64;

/*
 * Expressions that mean the same to the compiler, which computes in 32 bits where it can: no int
 * overflows, and no narrow unsigned number meets a negative one.
 */
/* clang-format off */
#define EXPRESSIONS(X) \
	X(1 + 2 * 3) X((1 + 2) * 3) X(7 - 2 - 1) X(7 - (2 - 1)) X(100 / 7 / 2) X(100 / (7 / 2)) \
	X(100 % 7 * 2) X(2 * 100 % 7) X(1 << 2 + 1) X((1 << 2) + 1) X(1 + 2 << 3) X(256 >> 2 >> 1) \
	X(1 << 3 << 1) X(1 < 2 == 1) X(1 < 2 < 2) X(3 > 2 > 1) X(1 == 2 < 3) X(2 != 1 == 1) \
	X(6 & 3 == 3) X((6 & 3) == 3) X(6 ^ 3 & 1) X(6 | 3 ^ 2) X(1 | 6 & 4) X((1 | 6) & 4) \
	X(1 || 0 && 0) X((1 || 0) && 0) X(0 && 1 | 1) X(0 || 2 & 3) X(2 && 4) X(0 || 8) \
	X(1 ? 2 : 3) X(0 ? 2 : 0 ? 4 : 5) X(1 ? 0 ? 1 : 2 : 3) X((1 ? 0 : 1) ? 7 : 8) \
	X(1 || 0 ? 2 : 3) X(0 ? 1 : 2 + 3) X(!0 + 1) X(!(0 + 1)) X(~5 & 15) X(-2 + 3) X(- -2) X(-(2 + 3)) \
	X(!1 == 0) X(!!7) X(~~7) X(-~7) X(~-7) X(+3 - +2) X(-7 / 2) X(-7 % 3) X(7 % -3) X(-8 >> 1) \
	X(-1 < 0) X(-1 < 0u) X(0x10 + 010 + 10) X('a' + '\n' + '\x41' + '\101' + '\'') \
	X(2 - -3) X(2 - - -3) X(5 - !0) X(1 + -1 * 2) \
	X($rax + 1) X($rax - $rbx - $rcx) X($rax - ($rbx - $rcx)) X($rax & 4 == 4) X(($rax & 4) == 4) \
	X($rax >> 3 & 7) X($rax << 3 + 1) X($rax * $rbx + $rcx) X($rax + $rbx * $rcx) X($rax / 3 % 5) \
	X($rax < $rbx) X($rax < -1) X(-1 < $rax) X($rax > -1 == 0) X($rax == $rbx || $rcx > 5 && $rdx) \
	X(!$rax == 0) X(!($rax == 0)) X(~$rax & 0xff) X(-$rax + 1) X($rax ? $rbx : $rcx + 1) \
	X($rax && $rbx || $rcx) X($rax | $rbx ^ $rcx & $rdx) X(($rax | $rbx) ^ ($rcx & $rdx)) \
	X($rax ^ $rbx == $rcx) X($r8 % 10 == 3) X($r9 >= $r10 != $r11 <= $r12) X($r13 + $r14 - $r15) \
	X(arg0 < 0) X(arg0 >> 1) X(arg0 / 2) X(arg1 * -3 < arg0) X(arg0 < $rax) X(arg2 == arg3 + 1) \
	X(retval < 0) X(retval >= -4095 && retval < 0) X(-(long)(int)retval == 22) X((int)retval < 0) \
	X((u8)$rax + $rbx) X((i8)$rax < 0) X((u16)arg0 + $rcx) X((short)arg0 * 3) X((u32)$rax >> 4) \
	X((int)$rax) X((unsigned int)$rax) X((unsigned char)arg1) X((char)$rax) X((long)$rax < 0) \
	X((unsigned long)arg0 < 10) X((long long)$rbx) X((unsigned)$rbx == (u32)$rbx) X((i16)(u8)$rax) \
	X((i64)(int)$rax + 1) X(-(i32)(u16)$rbx) X(!(u8)$rax) X((u8)($rax + 300) == 7) X((u8)$rax + 300u) \
	X(*(u32 *)$rsi) X(*(u8 *)($rsi + 3)) X(*(i16 *)($rsi + 6) < 0) X(*(u32 *)($rsi + 4) & 0x8000) \
	X(*(u64 *)*(u64 *)$rdi) X(*(i8 *)$rsi * 2 + 1) X(*(unsigned short *)($rsi + (*(u8 *)$rsi & 6))) \
	X(-*(short *)$rsi >> 1) X((u8)*(u32 *)$rsi == *(u8 *)$rsi) X($rax ? *(u8 *)$rsi : 0) \
	X(0xffffffffffffffff) X(9223372036854775807) X(0x8000000000000000 >> 63) X(4294967296 + 1) \
	X($rax & ~0xfffull) X(1ul + $rax) X(5lu - 6) X(ntohs(0x102) == 0x201) \
	X(ntohs($rsi)) X(htons((u16)arg1 + 1u)) X(ntohl($rax)) X(htonl($rbx) >> 3 & 0xffff) X(ntohll($rcx)) \
	X(ntohll($rdx) < 0) X(ntohl(*(u32 *)($rsi + 4)) + 1ul) X(ntohs(*(u16 *)$rsi) == 80 || !ntohs($rax)) \
	X(ntohl(htonl(arg1)) == (u32)arg1) X(-(long)ntohs($r8) * 2) X($rax >= 0xffff888000000000 && $rax < 0xffffc90000000000)
/* clang-format on */

#define ntohll(x) be64toh(x)

static uint64_t $rax, $rcx, $rdx, $rbx, $rdi, $rsi, $r8, $r9, $r10, $r11, $r12, $r13, $r14, $r15;
static int64_t arg0, arg1, arg2, arg3, retval;

static struct ki_machine machine;

#pragma GCC diagnostic ignored "-Wparentheses"
#pragma GCC diagnostic ignored "-Wsign-compare"
#pragma GCC diagnostic ignored "-Wtype-limits"
#pragma GCC diagnostic ignored "-Wbool-compare"
#pragma GCC diagnostic ignored "-Wlogical-not-parentheses"
#pragma GCC diagnostic ignored "-Wint-in-bool-context"
#pragma GCC diagnostic ignored "-Wlogical-op"
#pragma GCC diagnostic ignored "-Wduplicated-branches"

#define NUMBER_ONE(...) +1
#define COUNT		(0 EXPRESSIONS(NUMBER_ONE))

static const char *const texts[] = {
#define TEXT_OF(...) #__VA_ARGS__,
	EXPRESSIONS(TEXT_OF)
#undef TEXT_OF
};

static void compute(uint64_t want[COUNT])
{
	unsigned int i = 0;

#define VALUE_OF(...) want[i++] = (uint64_t)(__VA_ARGS__);
	EXPRESSIONS(VALUE_OF)
#undef VALUE_OF
}

static uint64_t load(void *arg, uint64_t addr, unsigned int size)
{
	uint64_t v = 0;

	(void)arg;
	memcpy(&v, (const void *)(uintptr_t)addr, size);
	return v;
}

static uint64_t seed = 88172645463325252;

static uint64_t number(void)
{
	static const uint64_t some[] = {0,    1,      4,	  7,	      22, 255, 4096,
					0x80, 0x8000, 0x80000000, 1ull << 63, -1, -22, -4095};

	seed ^= seed << 13;
	seed ^= seed >> 7;
	seed ^= seed << 17;
	return seed & 0x300 ? some[(seed >> 20) % (sizeof(some) / sizeof(*some))] : seed;
}

/* The same numbers for the machine and for the compiler's variables. */
static void fill(void)
{
	static uint64_t memory[4], pointer;
	uint64_t *const variables[16] = {
		[KI_RAX] = &$rax, [KI_RCX] = &$rcx, [KI_RDX] = &$rdx, [KI_RBX] = &$rbx,
		[KI_RSI] = &$rsi, [KI_RDI] = &$rdi, [KI_R8] = &$r8,   [KI_R9] = &$r9,
		[KI_R10] = &$r10, [KI_R11] = &$r11, [KI_R12] = &$r12, [KI_R13] = &$r13,
		[KI_R14] = &$r14, [KI_R15] = &$r15,
	};

	for (int i = 0; i < 4; i++)
		memory[i] = number();
	pointer = (uintptr_t)&memory[1];
	machine = (struct ki_machine){.load = load};
	for (int r = 0; r < 16; r++)
		machine.regs[r] = number();
	machine.regs[KI_RSI] = (uintptr_t)memory;
	machine.regs[KI_RDI] = (uintptr_t)&pointer;
	for (int r = 0; r < 16; r++)
		if (variables[r])
			*variables[r] = machine.regs[r];
	arg0 = (int64_t)$rdi;
	arg1 = (int64_t)$rsi;
	arg2 = (int64_t)$rdx;
	arg3 = (int64_t)$rcx;
	retval = (int64_t)$rax;
}

static void means_what_the_compiler_says(void **state)
{
	struct ki_predicate *p[COUNT];
	uint64_t want[COUNT];

	(void)state;
	for (int i = 0; i < COUNT; i++)
		p[i] = pred_parse(texts[i]);
	for (int round = 0; round < 200; round++) {
		fill();
		compute(want);
		for (int i = 0; i < COUNT; i++)
			if (pred_value(p[i], &machine) != want[i])
				fail_msg("%s: 0x%lx, to the compiler 0x%lx", texts[i],
					 pred_value(p[i], &machine), want[i]);
	}
	for (int i = 0; i < COUNT; i++)
		ki_predicate_free(p[i]);
}

static void is_read_as_it_is_written(void **state)
{
	(void)state;
	for (int i = 0; i < COUNT; i++) {
		struct ki_predicate *p = pred_parse(texts[i]), *again;
		char *text = pred_format(p);

		again = pred_parse(text);
		if (!pred_is_same(p->root, again->root))
			fail_msg("%s: written as %s", texts[i], text);
		free(text);
		ki_predicate_free(p);
		ki_predicate_free(again);
	}
}

/* ---- names ---- */

static uint64_t value_of(const char *text)
{
	struct ki_predicate *p = pred_parse(text);
	uint64_t value = pred_value(p, &machine);

	ki_predicate_free(p);
	return value;
}

/* 77, 78, ... above the return address at 4096. */
static uint64_t stack(void *arg, uint64_t addr, unsigned int size)
{
	(void)arg;
	(void)size;
	return 77 + (addr - 4104) / 8;
}

static void names(void **state)
{
	static uint64_t words[] = {0, 7};
	static const char *const hold[] = {
		"pid == 10 && tid == 11",
		"comm == \"kworker/u8:12\"",
		"execname != \"kworker/u8:1\" && \"kworker/u8:12\" == comm",
		"comm in (\"a\", \"kworker/u8:12\")",
		"!(comm in (\"a\", \"b\"))",
		"uid == \"root\"",
		"uid == 0",
		"\"root\" == uid",
		"!(uid != \"root\")",
		"uid in (5, \"root\")",
		"cpu in (1, 2, 3)",
		"!(cpu in (1, 2, 4))",
		"cpu + 1 in (4)",
		"cpu in (tid - 8, 99)",
		"retval == -2 && (int)retval < 0",
		"arg0 == 100 && arg1 == 101 && arg2 == 102",
		"arg6 == 77 && arg7 == 78",
		"$rsp == 4096",
		"!inside(f) && inside(mod:g.isra.0@0xffffffff81000000)",
		"!inside(8021q:vlan_do_receive)",
		"inside( f ) == inside(f)",
		"comm == \"\\x6bworker\\057u8:12\"",
		"  pid\t==\n10  ",
	};

	(void)state;
	machine =
		(struct ki_machine){.pid = 11, .tgid = 10, .cpu = 3, .thread = words, .nthread = 2};
	strcpy(machine.comm, "kworker/u8:12");
	machine.regs[KI_RAX] = (uint64_t)-2;
	machine.regs[KI_RDI] = 100;
	machine.regs[KI_RSI] = 101;
	machine.regs[KI_RDX] = 102;
	machine.regs[KI_RSP] = 4096;
	machine.load = stack;
	for (size_t i = 0; i < sizeof(hold) / sizeof(*hold); i++)
		if (value_of(hold[i]) != 1)
			fail_msg("%s does not hold", hold[i]);
}

static void functions_have_numbers(void **state)
{
	struct ki_predicate *p =
		pred_parse("inside(b) && inside(a) || inside(b) || inside( m:c.cold )");
	struct ki_snippet *s;
	struct ki_node *n;
	struct ki_err err = {0};
	char *text = pred_format(p);

	(void)state;
	assert_string_equal(ki_predicate_inside(p, 0), "b");
	assert_string_equal(ki_predicate_inside(p, 1), "a");
	assert_string_equal(ki_predicate_inside(p, 2), "m:c.cold");
	assert_null(ki_predicate_inside(p, 3));
	assert_string_equal(text, "inside(b) && inside(a) || inside(b) || inside(m:c.cold)");
	free(text);
	assert_int_equal(ki_snippet_new(&s), 0);
	assert_int_equal(ki_predicate_build(p, s, NULL, &n, &err), -EINVAL);
	assert_string_equal(err.msg, "predicate: nobody counts inside(b)");
	ki_snippet_free(s);
	ki_predicate_free(p);
}

/* The directory says it; there may be no unified hierarchy here. */
static void control_groups(void **state)
{
	static const char *const roots[] = {"/sys/fs/cgroup/unified", "/sys/fs/cgroup"};
	struct ki_err err = {0};
	struct ki_predicate *p;
	struct stat st;

	(void)state;
	machine = (struct ki_machine){0};
	if (ki_predicate_new("cgroup == \"/\"", &p, &err)) {
		assert_non_null(strstr(err.msg, "column 11: no directory of that name below"));
		return;
	}
	ki_predicate_free(p);
	for (int i = 0; i < 2; i++) {
		if (stat(roots[i], &st))
			continue;
		machine.cgroup = st.st_ino;
		assert_int_equal(value_of("cgroup == \"/\""), 1);
		machine.cgroup++;
		assert_int_equal(value_of("cgroup == \"/\""), 0);
		return;
	}
}

static unsigned int loads;

static uint64_t counted(void *arg, uint64_t addr, unsigned int size)
{
	(void)arg;
	(void)size;
	loads++;
	return addr;
}

/* What stands before `in` is evaluated once, and only if it is asked for. */
static void lists_have_one_left_side(void **state)
{
	static const struct {
		const char *text;
		uint64_t value;
		unsigned int loads;
	} cases[] = {
		{"*(u32 *)7 in (1, 2, 7, 9)", 1, 1},
		{"*(u32 *)7 in (1, 2, 3)", 0, 1},
		{"pid == 1 && *(u32 *)7 in (7, 8)", 0, 0},
		{"pid == 0 && *(u32 *)7 in (7, 8) && *(u32 *)8 in (7, 8)", 1, 2},
		{"pid == 0 && *(u32 *)7 in (5, 8) && *(u32 *)8 in (7, 8)", 0, 1},
		{"(*(u32 *)5 in (5, 6)) + *(u8 *)3 in (4, 9)", 1, 2},
		{"*(u32 *)7 in (*(u32 *)1 in (1, 2), *(u32 *)7)", 1, 3},
	};
	struct ki_snippet *s;
	struct ki_node *n;
	struct ki_err err = {0};

	(void)state;
	machine = (struct ki_machine){.load = counted};
	for (size_t i = 0; i < sizeof(cases) / sizeof(*cases); i++) {
		struct ki_predicate *p = pred_parse(cases[i].text);

		loads = 0;
		assert_int_equal(pred_value(p, &machine), cases[i].value);
		assert_int_equal(loads, cases[i].loads);
		assert_int_equal(ki_snippet_new(&s), 0);
		assert_int_equal(ki_predicate_build(p, s, NULL, &n, &err), -EOPNOTSUPP);
		assert_non_null(strstr(err.msg, "would be loaded or called twice here"));
		ki_snippet_free(s);
		ki_predicate_free(p);
	}
}

static unsigned int calls;

static uint64_t called(void *arg, uint64_t addr, const uint64_t *args, unsigned int nargs)
{
	(void)arg;
	(void)args;
	assert_true(addr == 7 && !nargs);
	calls++;
	return 2;
}

/* No module is loaded here: each inside() becomes a call of an instrument. */
static void make_instruments(struct ki_ast *e)
{
	for (unsigned int i = 0; i < 3; i++)
		for (struct ki_ast *k = e->kid[i]; k; k = k->next)
			make_instruments(k);
	if (e->kind != KI_AST_CALL)
		return;
	e->meaning = KI_MEANS_INSTRUMENT;
	e->value = 7;
	e->kid[0] = NULL;
}

/* An instrument before `in` is called once, and never for nothing: or it is refused. */
static void instruments_are_called_if_needed(void **state)
{
	static const struct {
		const char *text;
		int calls; /* -1: refused */
	} cases[] = {
		{"inside(f) in (1, 2)", 1},
		{"pid == 5 && inside(f) in (1, 2)", 0},
		{"pid == 0 && !(inside(f) in (1, 2))", 1},
		{"inside(f) in (1, 2) || pid == 0", 1},
		{"inside(f) in (1, 2) ? 3 : 4", 1},
		{"pid in (inside(f) in (3, 4), 5)", 1},
		{"pid == 0 || inside(f) in (2)", 0},
		{"pid == 0 || inside(f) == 1 || inside(f) == 2", 0},
		{"pid == 0 || pid in (1, 2)", 0},
		{"pid == 0 || inside(f) in (1, 2)", -1},
		{"pid == 0 || 1 + inside(f) in (1, 2) && pid == 3", -1},
		{"pid == 5 ? inside(f) in (1, 2) : 0", -1},
		{"pid == 0 ? 1 : inside(f) in (1, 2)", -1},
		{"!(pid == 5 && inside(f) in (1, 2))", -1},
		{"pid in (0, inside(f) in (1, 2))", -1},
		{"(pid == 0 || inside(f) in (1, 2)) in (1, 2)", -1},
	};
	const struct ki_site_regs site = {.at_entry = true};
	struct ki_snippet *s;
	struct ki_node *n;

	(void)state;
	for (size_t i = 0; i < sizeof(cases) / sizeof(*cases); i++) {
		struct ki_predicate *p = pred_parse(cases[i].text);
		struct ki_err err = {0};
		int ret;

		make_instruments(p->root);
		p->inside.n = 0;
		machine = (struct ki_machine){.call = called, .may_call = true};
		calls = 0;
		assert_int_equal(ki_snippet_new(&s), 0);
		ret = ki_predicate_guard(p, s, NULL, ki_stmt_eval(s, ki_expr_const(s, KI_I64, 1)),
					 &n, &err);
		if (ret != (cases[i].calls < 0 ? -EOPNOTSUPP : 0))
			fail_msg("%s: %d %s", cases[i].text, ret, err.msg);
		ki_snippet_body(s, n);
		if (!ret)
			assert_int_equal(ki_snippet_run(s, &site, &machine, &err), 0);
		if (!ret && calls != (unsigned int)cases[i].calls)
			fail_msg("%s: %u calls", cases[i].text, calls);
		ki_snippet_free(s);
		ki_predicate_free(p);
	}
}

/* What is not nested may be long. */
static void lists_are_long(void **state)
{
	char *text = malloc(100000), *p = stpcpy(text, "pid in (1");

	(void)state;
	for (int i = 2; i <= 5000; i++)
		p += sprintf(p, ", %d", i);
	stpcpy(p, ")");
	machine = (struct ki_machine){.tgid = 5000};
	assert_int_equal(value_of(text), 1);
	machine.tgid = 5001;
	assert_int_equal(value_of(text), 0);
	free(text);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(means_what_the_compiler_says),
		cmocka_unit_test(is_read_as_it_is_written),
		cmocka_unit_test(names),
		cmocka_unit_test(functions_have_numbers),
		cmocka_unit_test(control_groups),
		cmocka_unit_test(lists_have_one_left_side),
		cmocka_unit_test(instruments_are_called_if_needed),
		cmocka_unit_test(lists_are_long),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
