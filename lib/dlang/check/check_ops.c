// SPDX-License-Identifier: LGPL-2.1-only OR BSD-2-Clause
/*
 * Operators: what they take, and the type of what they give.
 */
#include <errno.h>
#include <string.h>

#include "dlang/check/check.h"
#include "dlang/words/names.h"

#define FAIL(c, n, ...) ki_d_fail((c)->d, (c)->err, (n)->at, __VA_ARGS__)

int ki_d_check_operand(struct ki_d_checker *c, struct ki_d_node *n)
{
	int ret = ki_d_check_expr(c, n);

	if (!ret)
		ret = ki_d_to_text(c, n);
	return ret ? ret : ki_d_decay(c, n);
}

bool ki_d_is_action_call(const struct ki_d_node *n)
{
	return n->kind == KI_D_CALL && ki_d_has_no_value(n->sym.function);
}

static int check_no_action(struct ki_d_checker *c, const struct ki_d_node *n)
{
	return ki_d_is_action_call(n)
		       ? FAIL(c, n, "D_OP_ACT", "%s() is a statement of its own", n->text)
		       : 0;
}

static int not_a_number(struct ki_d_checker *c, const struct ki_d_node *n, const char *tag)
{
	char name[KI_D_TYPE_NAME];

	return FAIL(c, n, tag, "a number is expected, not %s", ki_d_type_name(n->type, name));
}

/* ---- assignment ---- */

static bool is_variable(const struct ki_d_node *n)
{
	return n->kind == KI_D_SELF || n->kind == KI_D_THIS || n->kind == KI_D_INDEX ||
	       (n->kind == KI_D_NAME && !ki_d_builtin_find(n->text));
}

bool ki_d_has_no_type(struct ki_d_type t)
{
	return t.base == KI_D_VOID && !t.stars;
}

/* Can a value of that type be kept by a variable? */
static bool can_keep(struct ki_d_type t)
{
	return ki_d_is_scalar(t) || ki_d_is_string(t) || ki_d_is_struct(t) || ki_d_is_array(t) ||
	       t.base == KI_D_STACK;
}

static bool can_store(const struct ki_d_node *n)
{
	if (ki_d_in_variable(n))
		return (n->kind == KI_D_MEMBER || n->kind == KI_D_ELEMENT) && can_keep(n->type);
	return ki_d_in_scratch(n) && ki_d_is_scalar(n->type) && !(n->kind == KI_D_MEMBER && n->op);
}

/* The variable of what is assigned to, whose type may be known only now; NULL: it is memory. */
static int target_var(struct ki_d_checker *c, struct ki_d_node *n, struct ki_d_var **out)
{
	int ret = n->kind == KI_D_NAME ? ki_d_known(c->d, n->text, c->err) : 0;

	if (ret)
		return ret;
	if (n->kind == KI_D_NAME && ki_d_inline_find(c->d, n->text))
		return FAIL(c, n, "D_OP_WRITE", "%.40s is no variable", n->text);
	if (n->kind == KI_D_DEREF || n->kind == KI_D_MEMBER) {
		ret = ki_d_check_expr(c, n);
		if (ret || can_store(n))
			return ret;
	}
	if (!is_variable(n))
		return FAIL(c, n,
			    n->kind == KI_D_NAME || n->kind == KI_D_SYMBOL ||
					    n->kind == KI_D_MEMBER || n->kind == KI_D_DEREF
				    ? "D_OP_WRITE"
				    : "D_OP_LVAL",
			    "only variables can be assigned to");
	if (n->kind == KI_D_INDEX) {
		ret = ki_d_check_index(c, n, true);
		if (!ret && n->kind != KI_D_INDEX && can_store(n))
			return 0;
		if (!ret && n->kind != KI_D_INDEX)
			return FAIL(c, n, "D_OP_WRITE", "memory of the kernel is not written");
		*out = n->sym.var;
		return ret;
	}
	*out = ki_d_var_find(c->d, n);
	return *out ? 0 : ki_d_var_new(c, n, out);
}

bool ki_d_is_nothing(const struct ki_d_node *n)
{
	while (n->kind == KI_D_CAST && n->type.stars)
		n = n->kid[0];
	return n->kind == KI_D_NUMBER && !n->value;
}

static bool goes_into(struct ki_d_type to, struct ki_d_type from)
{
	if (ki_d_is_scalar(to))
		return ki_d_is_scalar(from);
	if (ki_d_is_struct(to))
		return ki_d_is_struct(from) && ki_d_same_type(to, from) && !from.xlator;
	return (ki_d_is_string(to) && ki_d_is_string(from)) ||
	       (to.base == KI_D_STACK && from.base == KI_D_STACK);
}

static int check_value(struct ki_d_checker *c, const struct ki_d_node *to,
		       const struct ki_d_node *from)
{
	const struct ki_d_type value = from ? from->type : ki_d_int(KI_I64);
	const bool zero = from && ki_d_is_nothing(from) &&
			  (ki_d_is_string(to->type) || ki_d_is_struct(to->type) ||
			   to->type.base == KI_D_STACK);
	char a[KI_D_TYPE_NAME], b[KI_D_TYPE_NAME];

	if (goes_into(to->type, value) || zero)
		return 0;
	if (ki_d_is_array(to->type))
		return FAIL(c, to, "D_OP_ARRFUN", "an array is assigned to by its elements");
	return FAIL(c, to, "D_OP_INCOMPAT", "a value of type %s is assigned to one of type %s",
		    ki_d_type_name(value, a), ki_d_type_name(to->type, b));
}

int ki_d_check_defined(struct ki_d_checker *c, const struct ki_d_node *n, struct ki_d_type type)
{
	char a[KI_D_TYPE_NAME], b[KI_D_TYPE_NAME];

	if (ki_d_is_struct(type) ? ki_d_same_type(type, n->type)
				 : goes_into(type, n->type) || ki_d_is_nothing(n))
		return 0;
	return FAIL(c, n, "D_OP_INCOMPAT", "an inline of type %s is defined as one of type %s",
		    ki_d_type_name(type, a), ki_d_type_name(n->type, b));
}

/* A pointer of alloca() or another one: where it leads is not known when code runs. */
static bool is_mixed(const struct ki_d_node *n)
{
	const struct ki_d_node *a, *b;

	if (!n || n->kind != KI_D_COND)
		return false;
	a = n->kid[1];
	b = n->kid[2];
	return a->type.stars && b->type.stars && a->type.scratch != b->type.scratch &&
	       !ki_d_is_nothing(a->type.scratch ? b : a);
}

static const struct ki_d_node *without_casts(const struct ki_d_node *n)
{
	return n && n->kind == KI_D_CAST ? without_casts(n->kid[0]) : n;
}

/* An address of the kernel, a variable that has been one, or a sum of one. */
static bool is_kernel_address(const struct ki_d_node *n)
{
	n = without_casts(n);
	if (!n || n->type.scratch)
		return false;
	if (n->kind == KI_D_BINARY && n->type.stars)
		return is_kernel_address(n->kid[n->kid[0]->type.stars ? 0 : 1]);
	if (n->kind == KI_D_SELF || n->kind == KI_D_THIS ||
	    (n->kind == KI_D_NAME && !n->is_builtin))
		return n->type.stars && n->sym.var && n->sym.var->of_kernel;
	return n->kind == KI_D_ADDRESS;
}

/* A pointer that is a number of the program: whether it leads anywhere is seen when code runs. */
static bool is_made_up(const struct ki_d_node *n)
{
	if (!n || n->kind != KI_D_CAST)
		return false;
	n = without_casts(n);
	if (n->kind == KI_D_UNARY)
		n = n->kid[0];
	return n->kind == KI_D_NUMBER && n->value;
}

/* What is assigned to: a variable that may be new, whose type then is that of the value. */
static int check_target(struct ki_d_checker *c, struct ki_d_node *n, struct ki_d_node *from)
{
	struct ki_d_type value;
	const char *why;
	char a[KI_D_TYPE_NAME];
	struct ki_d_var *v = NULL;
	int ret = target_var(c, n, &v);

	if (!ret && from)
		ret = ki_d_match_text(c, v ? v->type : n->type, from);
	if (ret || !v)
		return ret ? ret : check_value(c, n, from);
	value = from ? from->type : ki_d_int(KI_I64);
	if (n->kind != KI_D_INDEX && v->nkeys)
		return FAIL(c, n, "D_IDENT_BADREF", "%s is an array: %s[...]", n->text, n->text);
	if (ki_d_has_no_type(v->type))
		v->type = value;
	if ((v->type.scratch && is_kernel_address(from)) || (v->of_kernel && value.scratch) ||
	    is_mixed(from))
		return FAIL(c, n, "D_ALLOCA_INCOMPAT", "%.40s is of alloca()", v->name);
	if (v->type.stars && is_made_up(from))
		v->type.scratch = c->d->scratch_used = c->d->texts_used = true;
	v->type.scratch |= v->type.stars && value.scratch;
	v->of_kernel |= v->type.stars && is_kernel_address(from);
	if (value.xlator && ki_d_same_type(v->type, value))
		v->type.xlator = value.xlator;
	n->sym.var = v;
	n->type = v->type;
	if (ki_d_has_no_type(value))
		return FAIL(c, n, "D_OP_INCOMPAT", "what has no value is assigned");
	if (!can_keep(v->type))
		return FAIL(c, n, "D_OP_INCOMPAT", "a variable of type %s is not supported yet",
			    ki_d_type_name(v->type, a));
	c->d->texts_used |= ki_d_is_string(v->type);
	ret = check_value(c, n, from);
	why = ret ? NULL : ki_d_no_parts(&c->d->types, v->type);
	return why ? FAIL(c, n, "D_UNKNOWN", "%.40s: %s", v->name, why) : ret;
}

/* What is assigned in one instruction can be assigned anywhere, and an index may change. */
static int check_parts(struct ki_d_checker *c, const struct ki_d_node *n)
{
	const struct ki_d_node *to = n->kid[0];
	const bool whole = n == c->statement && n->kind == KI_D_ASSIGN && n->op == KI_BINARIES;

	if (!ki_d_in_variable(to) || whole)
		return 0;
	if (ki_d_is_struct(to->type))
		return FAIL(c, n, "D_OP_INCOMPAT",
			    "a struct is assigned in a statement of its own");
	for (; to->kind == KI_D_MEMBER || to->kind == KI_D_ELEMENT; to = to->kid[0])
		if (to->kind == KI_D_ELEMENT && ki_d_steps(to->kid[1]))
			return FAIL(c, to, "D_UNKNOWN",
				    "the index changes a variable: do that in a statement before");
	return 0;
}

static bool has_turn(const struct ki_d_node *list)
{
	bool has = false;

	for (const struct ki_d_node *n = list; !has && n; n = n->next) {
		has = n->is_turn;
		for (unsigned int i = 0; !has && i < 3; i++)
			has = has_turn(n->kid[i]);
	}
	return has;
}

/* By what is computed from constants, too; what one turn of a loop divides by is seen when it runs.
 */
static int check_division(struct ki_d_checker *c, const struct ki_d_node *n)
{
	const struct ki_d_node *by = n->kid[1];
	struct ki_d_node *constant;

	if ((n->op != KI_DIV && n->op != KI_MOD) || !ki_d_is_scalar(by->type) || has_turn(by))
		return 0;
	constant = ki_d_copy(c->d, by, NULL, NULL, UINT32_MAX);
	if (!constant)
		return ki_d_no_memory(c->err);
	return ki_d_fold_checked(constant) && !constant->value
		       ? FAIL(c, by, "D_DIV_ZERO", "division by zero")
		       : 0;
}

/* += wants what = wants; *= a number; %= and the others an integer. */
static const char *computing_tag(uint8_t op)
{
	return op == KI_ADD || op == KI_SUB   ? "D_OP_INCOMPAT"
	       : op == KI_MUL || op == KI_DIV ? "D_OP_ARITH"
					      : "D_OP_INT";
}

static bool is_void_pointer(struct ki_d_type t)
{
	return t.stars == 1 && t.base == KI_D_VOID;
}

/* 0 is a pointer, too. */
static int check_pointer(struct ki_d_checker *c, struct ki_d_type to, const struct ki_d_node *from)
{
	if (!to.stars || from->type.stars || !ki_d_is_scalar(from->type) || ki_d_is_nothing(from))
		return 0;
	return FAIL(c, from, "D_OP_INCOMPAT", "a number is no pointer: a cast makes it one");
}

int ki_d_check_assign(struct ki_d_checker *c, struct ki_d_node *n)
{
	int ret = ki_d_check_depth_store(c, n);
	struct ki_d_node *to = n->kid[0];
	const bool appears = n->op != KI_BINARIES && is_variable(to) && to->kind != KI_D_INDEX &&
			     !ki_d_var_find(c->d, to);
	bool is_one = false, computes;

	if (!ret && n->op != KI_BINARIES && !appears)
		ret = ki_d_spread_assign(c, n);
	computes = n->op != KI_BINARIES;
	if (!ret && to->kind == KI_D_AGG)
		ret = FAIL(c, to, "D_OP_LVAL", "an aggregation is assigned to with = alone");
	if (!ret)
		ret = ki_d_check_string_store(c, n, &is_one);
	if (ret || is_one)
		return ret;
	ret = ki_d_check_operand(c, n->kid[1]);
	if (!ret && appears && ki_d_is_action_call(n->kid[1]))
		ret = FAIL(c, to, "D_VAR_UNDEF", "%.40s has no value", to->text);
	if (!ret)
		ret = check_no_action(c, n->kid[1]);
	if (!ret && computes && !ki_d_is_scalar(n->kid[1]->type))
		ret = not_a_number(c, n->kid[1], computing_tag(n->op));
	if (!ret && computes && is_void_pointer(n->kid[1]->type))
		ret = FAIL(c, n, "D_OP_VFPTR", "what a void * leads to has no size");
	if (!ret)
		ret = check_target(c, to, appears ? NULL : n->kid[1]);
	if (!ret && !computes)
		ret = check_pointer(c, to->type, n->kid[1]);
	if (!ret && computes && !ki_d_is_scalar(to->type))
		ret = not_a_number(c, to, computing_tag(n->op));
	if (!ret)
		ret = check_division(c, n);
	n->type = to->type;
	c->d->nulls |= !ret && ki_d_is_string(to->type) && ki_d_may_be_none(n->kid[1]);
	return ret ? ret : check_parts(c, n);
}

int ki_d_check_step(struct ki_d_checker *c, struct ki_d_node *n)
{
	struct ki_d_node *of = n->kid[0];
	const struct ki_d_var *v =
		is_variable(of) && of->kind != KI_D_INDEX ? ki_d_var_find(c->d, of) : NULL;
	int ret;

	if (v && ki_d_is_string(v->type))
		return FAIL(c, of, "D_OP_SCALAR", "%.40s is a string, no number", v->name);
	ret = check_target(c, of, NULL);
	if (!ret && !ki_d_is_scalar(of->type))
		ret = not_a_number(c, of, "D_OP_SCALAR");
	if (!ret && is_void_pointer(of->type))
		ret = FAIL(c, of, "D_OP_VFPTR", "what a void * leads to has no size");
	n->type = n->kid[0]->type;
	return ret ? ret : check_parts(c, n);
}

/* ---- two operands ---- */

static bool is_comparison(uint8_t op)
{
	return op >= KI_EQ && op <= KI_GE;
}

static bool is_logic(uint8_t op)
{
	return op == KI_LAND || op == KI_LOR || op == KI_D_XOR_LOGIC;
}

/* Of what an operator wants that takes no strings. */
static const char *number_tag(uint8_t op)
{
	if (is_logic(op))
		return "D_OP_SCALAR";
	return op == KI_ADD || op == KI_SUB || op == KI_MUL || op == KI_DIV ? "D_OP_ARITH"
									    : "D_OP_INT";
}

static int check_strings(struct ki_d_checker *c, struct ki_d_node *n)
{
	int ret;

	c->d->texts_used = true;
	if (ki_d_becomes_rest(n))
		return 0;
	ret = ki_d_match_texts(c, n->kid[0], n->kid[1]);
	if (ret)
		return ret;
	if (!is_comparison(n->op))
		return FAIL(c, n, number_tag(n->op), "a string is no number");
	for (unsigned int i = 0; i < 2; i++)
		if (!ki_d_is_string(n->kid[i]->type) && !ki_d_is_nothing(n->kid[i]))
			return FAIL(c, n, "D_OP_INCOMPAT", "a string is compared with a number");
	c->d->texts_used = true;
	n->type = ki_d_int(KI_I32);
	return 0;
}

/* Two pointers, or one and a number. */
static int check_pointers(struct ki_d_checker *c, struct ki_d_node *n)
{
	const struct ki_d_type a = n->kid[0]->type, b = n->kid[1]->type;
	const struct ki_d_type p = a.stars ? a : b;

	if (n->op != KI_ADD && n->op != KI_SUB)
		return FAIL(c, n, "D_OP_INT", "an integer is expected, not a pointer");
	if (n->op == KI_ADD && a.stars && b.stars)
		return FAIL(c, n, "D_OP_INCOMPAT", "two pointers are added");
	if (n->op == KI_SUB && !a.stars)
		return FAIL(c, n, "D_OP_INCOMPAT", "a pointer is subtracted from a number");
	if (p.stars == 1 && p.base == KI_D_VOID)
		return FAIL(c, n, "D_OP_INCOMPAT",
			    "a void * is no number: (uintptr_t) makes it one");
	n->type = a.stars && b.stars ? ki_d_int(KI_I64) : p;
	return 0;
}

int ki_d_check_binary(struct ki_d_checker *c, struct ki_d_node *n)
{
	int ret = ki_d_check_operand(c, n->kid[0]);
	struct ki_d_type a, b;

	if (!ret)
		ret = ki_d_check_operand(c, n->kid[1]);
	if (ret)
		return ret;
	a = n->kid[0]->type;
	b = n->kid[1]->type;
	if (ki_d_is_string(a) || ki_d_is_string(b))
		return check_strings(c, n);
	if (!ki_d_is_scalar(a) || !ki_d_is_scalar(b))
		return not_a_number(c, ki_d_is_scalar(a) ? n->kid[1] : n->kid[0],
				    is_comparison(n->op) ? "D_OP_INCOMPAT" : number_tag(n->op));
	if (is_comparison(n->op) || is_logic(n->op))
		n->type = ki_d_int(KI_I32);
	else if (a.stars || b.stars)
		return check_pointers(c, n);
	else if (n->op == KI_SHL || n->op == KI_SHR)
		n->type = ki_d_usual(a, ki_d_int(KI_I32));
	else
		n->type = ki_d_larger(a, b);
	if (n->op == KI_ADD || n->op == KI_SUB)
		n->type.scratch = a.scratch || b.scratch;
	return check_division(c, n);
}

/* ---- three, and one ---- */

static int check_arms(struct ki_d_checker *c, struct ki_d_node *n)
{
	struct ki_d_node *a = n->kid[1], *b = n->kid[2];
	const int ret = ki_d_match_texts(c, a, b);

	if (ret)
		return ret;
	if (ki_d_is_string(a->type) || ki_d_is_string(b->type)) {
		if (!ki_d_is_string(a->type) && !ki_d_is_nothing(a))
			return FAIL(c, a, "D_OP_INCOMPAT", "a number here, a string behind :");
		if (!ki_d_is_string(b->type) && !ki_d_is_nothing(b))
			return FAIL(c, b, "D_OP_INCOMPAT", "a string before :, a number here");
		c->d->texts_used = true;
		n->type = (struct ki_d_type){.base = KI_D_STRING};
		return 0;
	}
	if (!ki_d_is_scalar(a->type) || !ki_d_is_scalar(b->type))
		return FAIL(c, n, "D_OP_INCOMPAT", "numbers or strings are expected around :");
	n->type = a->type.stars ? a->type : b->type.stars ? b->type : ki_d_usual(a->type, b->type);
	return 0;
}

int ki_d_check_cond(struct ki_d_checker *c, struct ki_d_node *n)
{
	int ret = 0;

	for (unsigned int i = 0; !ret && i < 3; i++)
		ret = ki_d_check_operand(c, n->kid[i]);
	if (!ret && !ki_d_is_scalar(n->kid[0]->type))
		ret = not_a_number(c, n->kid[0], "D_OP_SCALAR");
	for (unsigned int i = 1; !ret && i < 3; i++)
		ret = check_no_action(c, n->kid[i]);
	return ret ? ret : check_arms(c, n);
}

int ki_d_check_unary(struct ki_d_checker *c, struct ki_d_node *n)
{
	int ret = ki_d_check_operand(c, n->kid[0]);

	if (ret)
		return ret;
	if (!ki_d_is_scalar(n->kid[0]->type))
		return not_a_number(c, n->kid[0],
				    n->op == KI_LNOT  ? "D_OP_SCALAR"
				    : n->op == KI_NOT ? "D_OP_INT"
						      : "D_OP_ARITH");
	if (n->op != KI_LNOT && n->kid[0]->type.stars)
		return not_a_number(c, n->kid[0], n->op == KI_NOT ? "D_OP_INT" : "D_OP_ARITH");
	n->type =
		n->op == KI_LNOT ? ki_d_int(KI_I32) : ki_d_usual(n->kid[0]->type, ki_d_int(KI_I32));
	return 0;
}
