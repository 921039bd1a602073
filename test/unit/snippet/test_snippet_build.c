// SPDX-License-Identifier: GPL-2.0-only
/*
 * What each mistake in building is called; text and listing; what the code of common ones costs.
 */
#include "snippet_fixture.h"

/* ---- mistakes ---- */

static struct ki_node *body(struct ki_node *e)
{
	struct ki_node *n = ki_stmt_eval(s, e);

	ki_snippet_body(s, n);
	return n;
}

static const struct ki_var wide = {.name = "w", .kind = KI_VAR_GLOBAL, .type = KI_U64, .count = 4};
static const struct ki_var narrow = {.name = "n", .type = KI_U8, .count = 4};
static const struct ki_var odd = {.name = "o", .kind = 9};
static const struct ki_var ninth = {.kind = KI_VAR_LOCAL, .type = KI_U64, .first = KI_LOCALS};
static const struct ki_var same_local = {.kind = KI_VAR_LOCAL, .type = KI_U64};
static const struct ki_var locals = {.kind = KI_VAR_LOCAL, .type = KI_U64, .count = 2};
static const struct ki_table_var rows = {.name = "rows", .keys = 1, .values = 2, .shared = true};
static const struct ki_linear empty = {.low = 5, .high = 5, .step = 1};
static const struct ki_linear negative = {.low = -5, .high = 5, .step = 5};

#define MISTAKES(X)                                                                                \
	X(body(ki_expr_const(s, 77, 0)), "no such type")                                           \
	X(body(ki_expr_cast(s, 77, C(1))), "no such type")                                         \
	X(body(ki_expr_load(s, 77, C(1))), "no such type")                                         \
	X(body(ki_expr_call(s, 77, 1, NULL, NULL, 0)), "no such type")                             \
	X(body(ki_expr_fact(s, 77)), "no such fact")                                               \
	X(body(ki_expr_reg(s, 16)), "no such register")                                            \
	X(body(ki_expr_param(s, 32)), "no parameter 32")                                           \
	X(body(ki_expr_unary(s, 77, C(1))), "no such operator")                                    \
	X(body(ki_expr_binary(s, 77, C(1), C(2))), "no such operator")                             \
	X(body(ki_expr_binary(s, KI_ADD, C(1), NULL)), "a child is missing")                       \
	X(body(ki_expr_comm_is(s, "sixteen-letters!")), "more than 15 bytes")                      \
	X(body(ki_expr_comm_is(s, NULL)), "more than 15 bytes")                                    \
	X(body(ki_expr_helper(s, 77, NULL, 0)), "no such helper")                                  \
	X(body(ki_expr_helper(s, KI_HELPER_ENTER, NULL, 0)), "for calls only")                     \
	X(body(ki_expr_helper(s, KI_HELPER_RECORD, NULL, 2)), "for records only")                  \
	X(body(ki_expr_helper(s, KI_HELPER_LEAVE, NULL, 0)), "for calls only")                     \
	X(body(ki_expr_helper(s, KI_HELPER_TABLE, NULL, 2)), "for tables only")                    \
	X(body(ki_expr_helper(s, KI_HELPER_USTACK, NULL, 1)), "for stacks only")                   \
	X(body(ki_expr_helper(s, KI_HELPER_STRING, NULL, 2)), "for strings only")                  \
	X(body(ki_expr_helper(s, KI_HELPER_MINMAX, NULL, 2)), "for updates only")                  \
	X(ki_stmt_table(s, KI_TABLE_DELETE,                                                        \
			&(struct ki_row_value){&rows, 1, (struct ki_node *[]){C(1)}, 1}, NULL),    \
	  "rows: DELETE has index 0")                                                              \
	X(ki_stmt_record(s, 1u << 24, 0, NULL, 0), "no ring has the number 16777216")              \
	X(ki_stmt_record(s, 0, 0, NULL, 33), "with 33 values: at most 32")                         \
	X(ki_stmt_record(s, 0, 0, (struct ki_node *[]){NULL}, 1), "a child is missing")            \
	X(body(ki_expr_helper(s, KI_HELPER_SIGNAL, (struct ki_node *[]){REG(RSI), C(0)}, 2)),      \
	  "is a constant, 0 to 64")                                                                \
	X(body(ki_expr_helper(s, KI_HELPER_SIGNAL, (struct ki_node *[]){C(65), C(0)}, 2)),         \
	  "is a constant, 0 to 64")                                                                \
	X(body(ki_expr_helper(s, KI_HELPER_DIV, NULL, 1)), "takes 2 arguments, not 1")             \
	X(body(ki_expr_call(s, KI_U64, 1, NULL, NULL, 7)), "with 7 arguments")                     \
	X(body(ki_expr_var(s, &vec)), "vec: a vector needs an index")                              \
	X(body(ki_expr_var(s, &odd)), "no such kind")                                              \
	X(body(ki_expr_var(s, NULL)), "no such kind")                                              \
	X(body(ki_expr_var(s, &ninth)), "not that many locals")                                    \
	X(body(B(KI_ADD, V(local), V(same_local))), "a local has one type")                        \
	X(body(ki_expr_index(s, &locals, C(0))), "vectors are per CPU")                            \
	X(body(ki_expr_index(s, &out, C(0))), "a scalar has no index")                             \
	X(body(ki_expr_index(s, &wide, C(0))), "vectors are per CPU")                              \
	X(body(ki_expr_index(s, &narrow, C(0))), "of u64 or i64")                                  \
	X(ki_stmt_update(s, 77, &out, NULL, C(0)), "no such update")                               \
	X(ki_stmt_update(s, KI_SET, &vec, NULL, C(0)), "needs an index")                           \
	X(ki_stmt_log2(s, &vec, C(0)), "5 buckets, not 65")                                        \
	X(ki_stmt_linear(s, &vec, &empty, C(0)), "bounds or step")                                 \
	X(ki_stmt_linear(s, &vec, &negative, U(0)), "bounds or step")                              \
	X(ki_stmt_linear(s, &vec, &negative, C(0)), "5 buckets, not 4")                            \
	X(ki_stmt_if(s, C(1), C(2), NULL), "where a statement must be")                            \
	X(ki_stmt_eval(s, ki_stmt_eval(s, C(1))), "where an expression must be")                   \
	X(ki_stmt_append(s, NULL, NULL), "a child is missing")                                     \
	X(ki_stmt_append(s, C(1), ki_stmt_eval(s, C(1))), "no list")                               \
	X(twice(), "used twice")                                                                   \
	X(foreign(), "of another snippet")                                                         \
	X(deep(), "nested too deep")                                                               \
	X(many(), "more than 65536 nodes")                                                         \
	X(two_bodies(), "one body")                                                                \
	X(NULL, "it has no body")

static struct ki_node *twice(void)
{
	struct ki_node *n = C(1);

	return B(KI_ADD, n, n);
}

static struct ki_node *foreign(void)
{
	static struct ki_snippet *other;

	if (!other)
		assert_int_equal(ki_snippet_new(&other), 0);
	body(B(KI_ADD, C(1), ki_expr_const(other, KI_I64, 1)));
	ki_snippet_free(other);
	other = NULL;
	return NULL;
}

static struct ki_node *deep(void)
{
	struct ki_node *n = REG(RAX);

	for (int i = 0; i < 300; i++)
		n = ki_expr_unary(s, KI_NOT, n);
	return n;
}

static struct ki_node *many(void)
{
	for (int i = 0; i < 70000; i++)
		C(i);
	return NULL;
}

static struct ki_node *two_bodies(void)
{
	body(C(1));
	return body(C(2));
}

static void is_refused(const char *what, const char *part, const struct ki_site_regs *site)
{
	struct ki_long_code code = {.len = 1};
	struct ki_err err = {0};
	char *text;

	assert_true(ki_snippet_check(s, site, &err) < 0);
	if (!strstr(err.msg, part))
		fail_msg("%s: '%s', not '%s'", what, err.msg, part);
	assert_true(ki_snippet_compile(s, site, &code, NULL) < 0);
	assert_int_equal(code.len, 0);
	assert_true(ki_snippet_run(s, site, &c.m, NULL) < 0);
	if (!site)
		assert_true(ki_snippet_format(s, &text, NULL) < 0);
}

static void mistakes_stick(void **state)
{
	(void)state;
	known();
#define ONE(what, part)                                                                            \
	begin();                                                                                   \
	(void)(what);                                                                              \
	is_refused(#what, part, NULL);
	MISTAKES(ONE)
#undef ONE
	/* and nothing can be built after one */
	begin();
	ki_expr_reg(s, 99);
	assert_null(C(1));
	assert_null(ki_expr_comm_is(s, "a"));
	assert_null(ki_stmt_append(s, NULL, ki_stmt_eval(s, C(1))));
}

static void places_that_do_not_fit(void **state)
{
	static const struct ki_site_regs nowhere;

	(void)state;
	begin();
	body(B(KI_ADD, C(1), ki_expr_param(s, 2)));
	is_refused("parameter", "parameter 2: the place is not at the function's entry", &nowhere);
	begin();
	body(ki_expr_fact(s, KI_FACT_RETVAL));
	is_refused("retval", "not at the function's exit", &nowhere);
}

/* Calls in calls, evaluated from left to right, hold more than there is room for. */
static void too_complex(void **state)
{
	struct ki_err err = {0};
	struct ki_long_code code;
	struct ki_node *n, *list = NULL;

	(void)state;
	begin();
	n = ki_expr_call(s, KI_U64, 64, NULL, NULL, 0);
	for (int i = 0; i < 120; i++)
		n = B(KI_ADD, ki_expr_call(s, KI_U64, 64, NULL, NULL, 0), n);
	ki_snippet_body(s, ki_stmt_update(s, KI_SET, &out, NULL, n));
	assert_int_equal(ki_snippet_compile(s, NULL, &code, &err), -E2BIG);
	assert_non_null(strstr(err.msg, "too many"));
	ki_err_clear(&err);
	begin();
	for (int i = 0; i < 20000; i++)
		list = ki_stmt_append(s, list, ki_stmt_update(s, KI_UPDATE_ADD, &out, NULL, C(1)));
	ki_snippet_body(s, list);
	assert_int_equal(ki_snippet_compile(s, NULL, &code, &err), -E2BIG);
	assert_non_null(strstr(err.msg, "too long"));
}

/* What would be too long with the words' absence made a second time looks for each by itself. */
static void too_long_twice(void **state)
{
	struct ki_long_code code;
	struct ki_node *list = NULL;
	unsigned int looks = 0;

	(void)state;
	begin();
	for (int i = 0; i < 9600; i++)
		list = ki_stmt_append(s, list, ki_stmt_update(s, KI_UPDATE_ADD, &out, NULL, C(5)));
	list = ki_stmt_append(s, list, ki_stmt_update(s, KI_UPDATE_ADD, &word, NULL, C(1)));
	ki_snippet_body(s, ki_stmt_if(s, B(KI_LOR, V(word), REG(RBX)), list, NULL));
	assert_int_equal(ki_snippet_compile(s, NULL, &code, NULL), 0);
	assert_null(vet_long(&code, SNIP_COUNTERS, SNIP_GLOBALS, SNIP_THREAD));
	for (uint32_t i = 0; i < code.nfix; i++)
		looks += code.fix[i].kind == KI_FIX_SELF;
	assert_int_equal(looks, 2);
	ki_long_code_free(&code);
}

/* ---- text and cost ---- */

static const struct ki_var nameless = {.kind = KI_VAR_LOCAL, .type = KI_U32, .first = 3};

static struct ki_node *source(void)
{
	struct ki_node *args[2], *yes, *no, *when, *all;

	when = B(KI_LAND, B(KI_EQ, ki_expr_fact(s, KI_FACT_PID), C(1234)),
		 B(KI_LOR, B(KI_GT, ki_expr_param(s, 2), C(4096)),
		   ki_expr_unary(s, KI_LNOT, ki_expr_fact(s, KI_FACT_COMM1))));
	yes = ki_stmt_update(
		s, KI_UPDATE_ADD, &out, NULL,
		B(KI_SUB, B(KI_MUL, ki_expr_cast(s, KI_U32, ki_expr_param(s, 2)), C(3)), C(-1)));
	yes = ki_stmt_append(s, NULL, yes);
	yes = ki_stmt_append(
		s, yes,
		ki_stmt_log2(s, &hist,
			     ki_expr_load(s, KI_I32, B(KI_ADD, ki_expr_param(s, 0), C(16)))));
	args[0] = C(1);
	args[1] = V(glob);
	no = ki_stmt_update(
		s, KI_UPDATE_MAX, &vec, ki_expr_fact(s, KI_FACT_CPU),
		ki_expr_cond(s, ki_expr_call(s, KI_U64, 64, "f", args, 2), V(thread), U(7)));
	all = ki_stmt_append(s, NULL, ki_stmt_if(s, when, yes, no));
	all = ki_stmt_append(s, all,
			     ki_stmt_update(s, KI_SET, &min32, NULL, B(KI_SHR, REG(RAX), C(2))));
	all = ki_stmt_append(
		s, all, ki_stmt_update(s, KI_SET, &local, NULL, ki_expr_fact(s, KI_FACT_CLOCK)));
	all = ki_stmt_append(s, all,
			     ki_stmt_update(s, KI_UPDATE_SUB, &word, NULL,
					    B(KI_ADD, V(local), ki_expr_fact(s, KI_FACT_NIVCSW))));
	return ki_stmt_append(s, all,
			      ki_stmt_update(s, KI_UPDATE_OR, &nameless, NULL,
					     B(KI_MUL, ki_expr_fact(s, KI_FACT_UID),
					       ki_expr_fact(s, KI_FACT_CGROUP))));
}

static void text(void **state)
{
	static const char want[] = "if (pid == 1234 && (arg2 > 4096 || !comm1)) {\n"
				   "\tout += (u32)arg2 * 3 - -1;\n"
				   "\thist[log2(*(i32 *)(arg0 + 16))] += 1;\n"
				   "} else {\n"
				   "\tvec[cpu] max= f(1, g) ? t : 7u;\n"
				   "}\n"
				   "m = %rax >> 2;\n"
				   "x = clock;\n"
				   "w -= x + nivcsw;\n"
				   "local3 |= uid * cgroup;\n";
	struct ki_long_code code;
	char *got;

	(void)state;
	begin();
	ki_snippet_body(s, source());
	assert_int_equal(ki_snippet_format(s, &got, NULL), 0);
	assert_string_equal(got, want);
	free(got);

	/* each line of the source is in the listing, with code below it */
	c.site = (struct ki_site_regs){.at_entry = true};
	assert_int_equal(ki_snippet_compile(s, &c.site, &code, NULL), 0);
	assert_int_equal(ki_snippet_listing(s, &code, &got, NULL), 0);
	assert_non_null(strstr(got, "}\nm = %rax >> 2;\n  "));
	assert_non_null(strstr(got, "; LOAD32\n"));
	assert_non_null(strstr(got, "; current task\n"));
	assert_non_null(strstr(got, "; the thread's clock\n"));
	assert_non_null(strstr(got, "; the thread's words\n"));
	assert_non_null(strstr(got, "; word 5\n"));
	assert_non_null(strstr(got, "; nivcsw\n"));
	assert_non_null(strstr(got, "; UID\n"));
	assert_non_null(strstr(got, "; CGROUP\n"));
	assert_non_null(strstr(got, "\tvec[cpu] max= f(1, g) ? t : 7u;\n  "));
	free(got);
	ki_long_code_free(&code);
}

static void costs(struct ki_node *stmt, ki_regset dead, uint32_t most)
{
	const struct ki_site_regs site = {.dead = dead, .at_entry = true};
	struct ki_long_code code;

	ki_snippet_body(s, stmt);
	assert_int_equal(ki_snippet_compile(s, &site, &code, NULL), 0);
	assert_true(code.ninsns <= most);
	ki_long_code_free(&code);
	begin();
}

static void prices(void **state)
{
	const ki_regset rax = KI_REGSET_FLAGS | KI_REGSET_REG(KI_RAX);
	const ki_regset both = rax | KI_REGSET_REG(KI_RDX);

	(void)state;
	begin();
	costs(ki_stmt_update(s, KI_UPDATE_SUB, &out, NULL, ki_expr_fact(s, KI_FACT_TSC)), both, 4);
	costs(ki_stmt_if(s, B(KI_EQ, ki_expr_fact(s, KI_FACT_PID), C(1234)),
			 ki_stmt_update(s, KI_UPDATE_ADD, &out, NULL, C(1)), NULL),
	      rax, 5);
	costs(ki_stmt_update(s, KI_UPDATE_ADD, &out, NULL, ki_expr_param(s, 2)), KI_REGSET_FLAGS,
	      1);
	costs(ki_stmt_update(s, KI_UPDATE_ADD, &out, NULL, C(1)), KI_REGSET_FLAGS, 1);
	costs(ki_stmt_update(s, KI_UPDATE_ADD, &out, NULL, C(1)), 0, 7);
	costs(ki_stmt_update(s, KI_SET, &out, NULL, C(1)), 0, 1);
	costs(ki_stmt_log2(s, &hist, ki_expr_param(s, 2)), rax, 6);
	costs(ki_stmt_update(s, KI_UPDATE_ADD, &word, NULL, C(1)), rax, 4);
	costs(ki_stmt_update(s, KI_UPDATE_AND, &thread, NULL, C(1)), rax, 4);
	costs(ki_stmt_update(s, KI_SET, &out, NULL, V(word)), rax, 5);
	costs(ki_stmt_if(s, B(KI_GT, V(word), C(10)),
			 ki_stmt_update(s, KI_UPDATE_ADD, &out, NULL, C(1)), NULL),
	      rax, 6);
	costs(ki_stmt_append(
		      s,
		      ki_stmt_append(s, NULL, ki_stmt_update(s, KI_UPDATE_ADD, &word, NULL, C(1))),
		      ki_stmt_update(s, KI_UPDATE_SUB, &thread, NULL, C(5))),
	      rax, 5);
	/* what comes before a word in a condition is asked before it is looked for */
	costs(ki_stmt_if(s,
			 B(KI_LAND, B(KI_EQ, ki_expr_fact(s, KI_FACT_PID), C(1234)),
			   B(KI_EQ, V(word), C(10))),
			 ki_stmt_update(s, KI_SET, &word, NULL, C(1)), NULL),
	      rax, 10);
	costs(ki_stmt_update(s, KI_UPDATE_ADD, &out, NULL,
			     ki_expr_load(s, KI_U64, ki_expr_param(s, 0))),
	      rax, 2);
}

/* The instructions that are executed when the value changes nothing. */
static uint32_t warm(enum ki_update op, const struct ki_var *v, uint64_t is, uint64_t given)
{
	uint64_t *bank[KI_VAR_KINDS] = {c.start.counters, c.start.globals, c.start.thread};
	const ki_regset dead = KI_REGSET_FLAGS | KI_REGSET_REG(KI_RAX);
	struct ki_long_code code;
	struct step step = {0};

	snip_case_make(&c);
	begin();
	c.site = (struct ki_site_regs){.dead = dead};
	c.m.regs[KI_RBX] = given;
	c.m.nthread = SNIP_THREAD;
	bank[v->kind][v->first] = is;
	ki_snippet_body(s, ki_stmt_update(s, op, v, NULL, ki_expr_reg(s, KI_RBX)));
	assert_int_equal(ki_snippet_compile(s, &c.site, &code, NULL), 0);
	snip_interpret(&c, s);
	assert_null(snip_run_stepped(&c, &code, &step));
	ki_long_code_free(&code);
	return step.n;
}

/* cmp and jcc; of a thread's word also the look for it: mov, test, je. */
static void minmax_that_stay(void **state)
{
	(void)state;
	assert_int_equal(warm(KI_UPDATE_MAX, &out, 9, 4), 2);
	assert_int_equal(warm(KI_UPDATE_MAX, &glob, 9, 4), 2);
	assert_int_equal(warm(KI_UPDATE_MIN, &glob, 4, 9), 2);
	assert_int_equal(warm(KI_UPDATE_MAX, &word, 9, 4), 5);
}

/* What a predicate refuses pays for no pushes but its own. */
static void pushes_are_where_they_are_needed(void **state)
{
	static const struct ki_site_regs site = {.dead = KI_REGSET_FLAGS | KI_REGSET_REG(KI_RAX)};
	struct ki_long_code code;

	(void)state;
	begin();
	ki_snippet_body(s, ki_stmt_if(s, B(KI_EQ, ki_expr_fact(s, KI_FACT_PID), C(1)),
				      ki_stmt_update(s, KI_UPDATE_SUB, &out, NULL,
						     ki_expr_fact(s, KI_FACT_TSC)),
				      NULL));
	assert_int_equal(ki_snippet_compile(s, &site, &code, NULL), 0);
	assert_int_equal(code.code[0], 0x65); /* the task first */
	assert_int_equal(code.ninsns, 3 + 1 + 4 + 1);
	ki_long_code_free(&code);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(mistakes_stick),
		cmocka_unit_test(places_that_do_not_fit),
		cmocka_unit_test(too_complex),
		cmocka_unit_test(too_long_twice),
		cmocka_unit_test(text),
		cmocka_unit_test(prices),
		cmocka_unit_test(minmax_that_stay),
		cmocka_unit_test(pushes_are_where_they_are_needed),
	};

	exec_init();
	snip_init();
	return cmocka_run_group_tests(tests, NULL, end);
}
