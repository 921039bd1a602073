// SPDX-License-Identifier: LGPL-2.1-only OR BSD-2-Clause
/*
 * Calls: what a function takes; how values travel in records.
 */
#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "dlang/check/check.h"
#include "dlang/print/format.h"
#include "dlang/words/names.h"

#define MOST_FRAMES 127 /* that the driver takes */

#define FAIL(c, n, ...) ki_d_fail((c)->d, (c)->err, (n)->at, __VA_ARGS__)

unsigned int ki_d_count(const struct ki_d_node *list)
{
	unsigned int n = 0;

	for (; list; list = list->next)
		n++;
	return n;
}

bool ki_d_is_constant(const struct ki_d_node *n)
{
	return n->kind == KI_D_NUMBER || n->kind == KI_D_TEXT ||
	       (n->kind == KI_D_NAME && n->is_builtin &&
		(n->sym.builtin->kind == KI_D_B_PROBE || n->sym.builtin->kind == KI_D_B_ID));
}

uint8_t ki_d_form_of(const struct ki_d_node *n)
{
	if (n->type.base == KI_D_STACK && !n->type.stars)
		return KI_D_FORM_STACK;
	if (ki_d_is_place(n->type))
		return n->type.num >= KI_D_USYM ? KI_D_FORM_USER : KI_D_FORM_ADDRESS;
	if (!ki_d_is_string(n->type))
		return KI_D_FORM_WORD;
	if (ki_d_is_constant(n))
		return KI_D_FORM_PROBE;
	return n->kind == KI_D_NAME && n->is_builtin ? KI_D_FORM_COMM : KI_D_FORM_TEXT;
}

unsigned int ki_d_form_words(uint8_t form)
{
	static const uint8_t words[] = {[KI_D_FORM_WORD] = 1,
					[KI_D_FORM_PROBE] = 0,
					[KI_D_FORM_COMM] = KI_D_COMM_WORDS,
					[KI_D_FORM_TEXT] = 1,
					[KI_D_FORM_NUMBERED] = 1,
					[KI_D_FORM_STACK] = 1,
					[KI_D_FORM_SPECULATION] = 1,
					[KI_D_FORM_ADDRESS] = 1,
					[KI_D_FORM_USER] = 2,
					[KI_D_FORM_PACKET] = KI_D_PACKET_WORDS,
					[KI_D_FORM_BYTES] = 0};

	return words[form];
}

unsigned int ki_d_arg_words(const struct ki_dlang *d, const struct ki_d_arg *a)
{
	const uint32_t piece = ki_d_bytes_piece(d);

	return ki_d_form_words(a->form) + (a->size + piece - 1) / piece;
}

/* ---- printf and printa ---- */

/* Of floating point, only variables: they are 0, as nothing can be assigned to them. */
static bool is_there(const struct ki_d_node *n)
{
	return n->type.base != KI_D_FLOAT || n->type.stars || n->kind == KI_D_NAME ||
	       n->kind == KI_D_SELF || n->kind == KI_D_THIS;
}

static int check_format(struct ki_d_checker *c, const struct ki_d_node *n)
{
	const struct ki_d_node *fmt = n->kid[0], *arg = fmt->next;
	const char *p = fmt->text, *why;
	struct ki_d_spec s;
	char name[KI_D_TYPE_NAME];
	int ret;

	if (fmt->kind != KI_D_TEXT)
		return FAIL(c, fmt, ki_d_is_string(fmt->type) ? "D_PRINTF_ARG_FMT" : "D_PROTO_ARG",
			    "%s begins with a format: %s(\"%%d\", pid)", n->text, n->text);
	if (!*p && n->sym.function->kind != KI_D_F_FREOPEN && n == c->statement)
		return FAIL(c, fmt, "D_PRINTF_FMT_EMPTY", "the format is empty");
	if (!strcmp(p, ".") && n->sym.function->kind == KI_D_F_FREOPEN)
		return FAIL(c, fmt, "D_FREOPEN_INVALID", "freopen() wants a file, not a folder");
	while ((ret = ki_d_format_next(&p, &s, &why)) > 0) {
		const unsigned int stars = s.width_arg + s.precision_arg;

		for (unsigned int i = 0; s.conversion && i <= stars; i++) {
			if (s.at)
				return FAIL(c, fmt, "D_PRINTF_AGG_CONV", "%%@ is for printa");
			if (!arg)
				return FAIL(c, fmt,
					    i < stars ? "D_PRINTF_DYN_PROTO" : "D_PRINTF_ARG_PROTO",
					    "the format has more conversions than arguments");
			if (i < stars && !ki_d_is_scalar(arg->type))
				return FAIL(c, arg, "D_PRINTF_DYN_TYPE",
					    "a width or precision is a number");
			if (i == stars && !(ki_d_format_takes(&s, arg->type) && is_there(arg)))
				return FAIL(c, arg, "D_PRINTF_ARG_TYPE",
					    "%%%c cannot print a value of type %s", s.conversion,
					    ki_d_type_name(arg->type, name));
			arg = arg->next;
		}
	}
	if (ret)
		return FAIL(c, fmt, "D_SYNTAX", "%s", why);
	return arg ? FAIL(c, arg, "D_PRINTF_ARG_EXTRA",
			  "the format has fewer conversions than arguments")
		   : 0;
}

struct ki_d_agg *ki_d_agg_find(const struct ki_dlang *d, const char *name)
{
	for (size_t i = 0; i < d->aggs.n; i++)
		if (!strcmp(d->aggs.v[i]->name, name))
			return d->aggs.v[i];
	return NULL;
}

/* An aggregation as an argument: it must be known. */
static int check_agg_arg(struct ki_d_checker *c, struct ki_d_node *n)
{
	if (n->kind != KI_D_AGG || n->kid[0] || n->kid[1])
		return FAIL(c, n, c->tag_aggarg, "an aggregation is expected: @name");
	n->sym.agg = ki_d_agg_find(c->d, n->text);
	return n->sym.agg ? 0
			  : FAIL(c, n, c->tag_aggbad,
				 "no aggregation @%.40s: it is used nowhere before", n->text);
}

/* Aggregations that are printed together have keys of one kind. */
static int check_same_keys(struct ki_d_checker *c, const struct ki_d_agg *a,
			   const struct ki_d_node *n)
{
	const struct ki_d_agg *b = n->sym.agg;

	if (a->nkeys != b->nkeys)
		return FAIL(c, n, "D_PRINTA_AGGKEY", "@%.40s has %u keys, and @%.40s has %u",
			    a->name, a->nkeys, b->name, b->nkeys);
	for (unsigned int i = 0; i < a->nkeys; i++)
		if (ki_d_is_scalar(a->keys[i]) != ki_d_is_scalar(b->keys[i]) ||
		    a->keys[i].base != b->keys[i].base)
			return FAIL(c, n, "D_PRINTA_AGGPROTO",
				    "key %u of @%.40s has another type than that of @%.40s", i + 1,
				    b->name, a->name);
	return 0;
}

/* A conversion of printa() without @ is of the next key. */
static int check_key(struct ki_d_checker *c, const struct ki_d_node *fmt, const struct ki_d_agg *a,
		     unsigned int i, const struct ki_d_spec *s)
{
	char name[KI_D_TYPE_NAME];

	if (i >= a->nkeys)
		return FAIL(c, fmt, "D_PRINTF_ARG_PROTO",
			    "the format has more conversions than @%.40s has keys (%u); its value "
			    "is %%@d",
			    a->name, a->nkeys);
	if (!ki_d_format_takes(s, a->keys[i]))
		return FAIL(c, fmt, "D_PRINTF_ARG_TYPE", "%%%c cannot print key %u of @%.40s: %s",
			    s->conversion, i + 1, a->name, ki_d_type_name(a->keys[i], name));
	return 0;
}

static int check_printa(struct ki_d_checker *c, struct ki_d_node *n)
{
	struct ki_d_node *agg = n->kid[0]->kind == KI_D_TEXT ? n->kid[0]->next : n->kid[0];
	const struct ki_d_node *first;
	const char *p = n->kid[0]->text, *why;
	unsigned int keys = 0;
	struct ki_d_spec s;
	int ret;

	if (!agg)
		return FAIL(c, n, "D_PRINTA_PROTO",
			    "printa takes a format, if any, and aggregations: printa(@a, @b)");
	first = agg;
	for (ret = 0; !ret && agg; agg = agg->next) {
		ret = check_agg_arg(c, agg);
		if (!ret)
			ret = check_same_keys(c, first->sym.agg, agg);
	}
	if (ret || first == n->kid[0])
		return ret;
	if (!*p)
		return FAIL(c, n->kid[0], "D_PRINTF_FMT_EMPTY", "the format is empty");
	while ((ret = ki_d_format_next(&p, &s, &why)) > 0) {
		if (s.conversion && s.width_arg && keys < first->sym.agg->nkeys)
			keys++;
		if (!s.conversion || s.at)
			continue;
		ret = check_key(c, n->kid[0], first->sym.agg, keys++, &s);
		if (ret)
			return ret;
	}
	return ret ? FAIL(c, n->kid[0], "D_SYNTAX", "%s", why) : 0;
}

/* ---- the others ---- */

int ki_d_check_numbers(struct ki_d_checker *c, struct ki_d_node *list, const char *tag)
{
	int ret = 0;

	for (struct ki_d_node *k = list; !ret && k; k = k->next) {
		const bool no_value = k->kind == KI_D_AGG;

		ret = no_value ? 0 : ki_d_check_expr(c, k);
		if (!ret && !no_value)
			ret = ki_d_decay(c, k);
		if (!ret && (no_value || !ki_d_is_scalar(k->type)))
			ret = FAIL(c, k, tag, "a number is expected");
	}
	return ret;
}

/* What it has been cannot be taken away from what it is. */
static bool is_minmax(const struct ki_d_agg *a)
{
	return ki_d_agg_kind(a) == KI_D_MIN || ki_d_agg_kind(a) == KI_D_MAX;
}

/* clear(@a), trunc(@a, 5), normalize(@a, 1000) */
static int check_about_agg(struct ki_d_checker *c, struct ki_d_node *n)
{
	struct ki_d_node *more = n->kid[0]->next;
	int ret = check_agg_arg(c, n->kid[0]);

	if (!ret && !more && is_minmax(n->kid[0]->sym.agg))
		n->kid[0]->sym.agg->renewed |= n->sym.function->kind == KI_D_F_CLEAR ||
					       n->sym.function->kind == KI_D_F_TRUNC;
	return ret ? ret : ki_d_check_numbers(c, more, "D_PROTO_ARG");
}

static int check_value(struct ki_d_checker *c, struct ki_d_node *n)
{
	int ret = ki_d_check_expr(c, n);

	if (!ret)
		ret = ki_d_to_text(c, n);
	return ret ? ret : ki_d_decay(c, n);
}

int ki_d_check_all(struct ki_d_checker *c, struct ki_d_node *list)
{
	int ret = 0;

	for (struct ki_d_node *k = list; !ret && k; k = k->next)
		ret = check_value(c, k);
	return ret;
}

static int check_trace(struct ki_d_checker *c, struct ki_d_node *n)
{
	struct ki_d_node *of = n->kid[0];
	int ret;

	if (of->kind == KI_D_AGG)
		return FAIL(c, of, "D_TRACE_DYN", "an aggregation has no value: printa(@%.40s)",
			    of->text);
	ret = ki_d_check_expr(c, of);
	if (!ret && of->type.base == KI_D_VOID && !of->type.stars)
		ret = FAIL(c, of, "D_TRACE_VOID", "trace() wants a value");
	return ret ? ret : ki_d_check_traced(c, of);
}

static int check_stack(struct ki_d_checker *c, struct ki_d_node *n)
{
	const bool user = n->sym.function->kind == KI_D_F_USTACK;
	const char *tag = user ? "D_USTACK_FRAMES" : "D_STACK_SIZE";
	struct ki_d_node *k = n->kid[0], *bytes = k ? k->next : NULL;
	int ret = ki_d_check_numbers(c, k, "D_PROTO_ARG");

	if (!ret && k && (!ki_d_fold_checked(k) || (int64_t)k->value < 1))
		ret = FAIL(c, k, tag, "a constant number of frames is expected, 1 or more");
	if (!ret && k && k->value > MOST_FRAMES)
		k->value = MOST_FRAMES;
	if (!ret && bytes && (!ki_d_fold_checked(bytes) || (int64_t)bytes->value < 0))
		ret = FAIL(c, bytes, "D_USTACK_STRSIZE",
			   "a constant number of bytes is expected, 0 or more");
	n->type = (struct ki_d_type){
		.base = KI_D_STACK, .user = user, .num = k && !ret ? (uint8_t)k->value : 0};
	c->d->stacks_used = true;
	c->d->users_used |= user;
	return ret;
}

/* A pointer: what it leads to; a struct or an array: it. */
static int check_print(struct ki_d_checker *c, struct ki_d_node *n)
{
	struct ki_d_node *of = n->kid[0];
	struct ki_d_type t;
	int ret;

	if (of->kind == KI_D_AGG)
		return FAIL(c, of, "D_PRINT_AGG", "an aggregation has no value: printa(@%.40s)",
			    of->text);
	ret = ki_d_check_expr(c, of);
	t = of->type;
	if (!ret && !t.stars && (t.base == KI_D_VOID || t.base == KI_D_FUNCTION))
		ret = FAIL(c, of, "D_PRINT_VOID", "print() wants a value");
	if (!ret && !t.stars && (t.base == KI_D_INT || t.base == KI_D_FLOAT || ki_d_is_string(t)))
		ret = FAIL(c, of, "D_PROTO_ARG",
			   "print() wants a pointer to what it prints, or a struct");
	if (!ret && !ki_d_sizeof(&c->d->types, ki_d_print_type(c->d, of)))
		ret = FAIL(c, of, "D_PRINT_SIZE", "what print() prints has no size");
	if (!ret && (t.base == KI_D_STACK || ki_d_is_place(t)))
		ret = FAIL(c, of, "D_PRINT_DYN", "print() wants a value that has a type of C");
	if (!ret && t.xlator)
		ret = FAIL(c, of, "D_PRINT_DYN",
			   "what is translated stands nowhere: print its "
			   "members");
	c->d->texts_used = true;
	return ret || t.stars ? ret : ki_d_check_copy(c, of);
}

/* sym(), umod() ... */
static int check_place(struct ki_d_checker *c, struct ki_d_node *n)
{
	n->type = (struct ki_d_type){.base = KI_D_PLACE, .num = n->sym.function->number};
	c->d->users_used |= n->type.num >= KI_D_USYM;
	return ki_d_check_numbers(c, n->kid[0], "D_PROTO_ARG");
}

/* raise(), stop(), chill(), panic() ... */
static int check_destructive(struct ki_d_checker *c, struct ki_d_node *n)
{
	const struct ki_d_function *f = n->sym.function;

	c->d->destroys = true;
	c->d->raises |= f->kind == KI_D_F_RAISE;
	if (f->kind == KI_D_F_NEVER && !c->d->never)
		c->d->never = f->name;
	return ki_d_check_numbers(c, n->kid[0], "D_PROTO_ARG");
}

/* rand(), progenyof() */
static int check_integer(struct ki_d_checker *c, struct ki_d_node *n)
{
	n->type = ki_d_int(KI_I32);
	return ki_d_check_numbers(c, n->kid[0], "D_PROTO_ARG");
}

static int check_setopt(struct ki_d_checker *c, struct ki_d_node *n)
{
	int ret = 0;

	for (struct ki_d_node *k = n->kid[0]; !ret && k; k = k->next)
		ret = ki_d_check_string(c, k, "setopt");
	return ret;
}

static int check_printf(struct ki_d_checker *c, struct ki_d_node *n)
{
	const enum ki_d_function_kind kind = n->sym.function->kind;
	int ret = 0;

	for (struct ki_d_node *k = n->kid[0]; !ret && k; k = k->next)
		if (k->kind != KI_D_AGG) /* its type is void */
			ret = check_value(c, k);
	c->d->destroys |= kind == KI_D_F_SYSTEM || kind == KI_D_F_FREOPEN;
	return ret ? ret : check_format(c, n);
}

static int check_exit(struct ki_d_checker *c, struct ki_d_node *n)
{
	c->d->exits = true;
	return ki_d_check_numbers(c, n->kid[0], "D_PROTO_ARG");
}

/* speculation(), which has no argument, and those that have its number. */
static int check_speculation(struct ki_d_checker *c, struct ki_d_node *n)
{
	c->d->texts_used = true;
	n->type = n->kid[0] ? n->type : ki_d_int(KI_I32);
	return ki_d_check_numbers(c, n->kid[0], "D_PROTO_ARG");
}

static int check_nothing(struct ki_d_checker *c, struct ki_d_node *n)
{
	(void)c;
	(void)n;
	return 0;
}

static int check_arguments(struct ki_d_checker *c, struct ki_d_node *n)
{
	static int (*const checks[])(struct ki_d_checker *, struct ki_d_node *) = {
		[KI_D_F_SYSTEM] = check_printf,
		[KI_D_F_FREOPEN] = check_printf,
		[KI_D_F_PRINTF] = check_printf,
		[KI_D_F_PRINTA] = check_printa,
		[KI_D_F_RAISE] = check_destructive,
		[KI_D_F_NEVER] = check_destructive,
		[KI_D_F_RANDOM] = check_integer,
		[KI_D_F_PROGENY] = check_integer,
		[KI_D_F_SWAP] = ki_d_check_swap,
		[KI_D_F_FTRUNCATE] = check_nothing,
		[KI_D_F_SETOPT] = check_setopt,
		[KI_D_F_STACK] = check_stack,
		[KI_D_F_USTACK] = check_stack,
		[KI_D_F_PLACE] = check_place,
		[KI_D_F_PRINT] = check_print,
		[KI_D_F_CLEAR] = check_about_agg,
		[KI_D_F_TRUNC] = check_about_agg,
		[KI_D_F_NORMALIZE] = check_about_agg,
		[KI_D_F_DENORMALIZE] = check_about_agg,
		[KI_D_F_TRACE] = check_trace,
		[KI_D_F_EXIT] = check_exit,
		[KI_D_F_TRACEMEM] = ki_d_check_tracemem,
		[KI_D_F_PCAP] = ki_d_check_pcap,
		[KI_D_F_MEMORY] = ki_d_check_memory,
		[KI_D_F_SPECULATION] = check_speculation,
		[KI_D_F_SPECULATE] = check_speculation,
		[KI_D_F_COMMIT] = check_speculation,
		[KI_D_F_DISCARD] = check_speculation,
	};
	const size_t kind = n->sym.function->kind;

	if (kind < sizeof(checks) / sizeof(*checks) && checks[kind])
		return checks[kind](c, n);
	return ki_d_check_text_call(c, n);
}

/* The tags of what is said of a function's aggregation. */
static void set_tags(struct ki_d_checker *c, const struct ki_d_function *f)
{
	static const char *const tags[][2] = {
		[KI_D_F_PRINTA] = {"D_PRINTA_AGGARG", "D_PRINTA_AGGBAD"},
		[KI_D_F_CLEAR] = {"D_CLEAR_AGGARG", "D_CLEAR_AGGBAD"},
		[KI_D_F_TRUNC] = {"D_TRUNC_AGGARG", "D_TRUNC_AGGBAD"},
		[KI_D_F_NORMALIZE] = {"D_NORMALIZE_AGGARG", "D_NORMALIZE_AGGBAD"},
		[KI_D_F_DENORMALIZE] = {"D_NORMALIZE_AGGARG", "D_NORMALIZE_AGGBAD"},
	};
	const bool known = f->kind < sizeof(tags) / sizeof(*tags) && tags[f->kind][0];

	c->tag_aggarg = known ? tags[f->kind][0] : "D_PROTO_ARG";
	c->tag_aggbad = known ? tags[f->kind][1] : "D_PROTO_ARG";
}

int ki_d_check_call(struct ki_d_checker *c, struct ki_d_node *n)
{
	/* What has been checked already may be called by another name. */
	const struct ki_d_function *f =
		n->sym.function ? n->sym.function : ki_d_function_find(n->text);
	const bool statement = c->statement == n;
	unsigned int nargs = ki_d_count(n->kid[0]);
	int ret = f ? 0 : ki_d_known(c->d, n->text, c->err);

	if (ret)
		return ret;
	if (!f && ki_d_inline_find(c->d, n->text))
		return ki_d_inline_call(c, n, ki_d_inline_find(c->d, n->text));
	if (!f)
		return FAIL(c, n, "D_FUNC_UNDEF", "no function '%.40s'", n->text);
	if (f->kind == KI_D_F_AGG)
		return FAIL(c, n, statement ? "D_CG_EXPR" : "D_FUNC_IDKIND",
			    "%s() aggregates: @name = %s(...)", f->name, f->name);
	if (!statement && ki_d_has_no_value(f)) {
		if (!c->statement)
			return FAIL(c, n, "D_OP_ACT", "%s() is a statement of its own", f->name);
		if (!c->misplaced)
			c->misplaced = n;
	}
	if (nargs < f->least || nargs > f->most)
		return FAIL(c, n, "D_PROTO_LEN", "%s() takes %s%u argument%s, not %u", f->name,
			    f->least == f->most ? ""
			    : nargs < f->least	? "at least "
						: "at most ",
			    nargs < f->least ? f->least : f->most,
			    (nargs < f->least ? f->least : f->most) == 1 ? "" : "s", nargs);
	n->sym.function = f;
	set_tags(c, f);
	return check_arguments(c, n);
}
