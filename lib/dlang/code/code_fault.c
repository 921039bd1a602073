// SPDX-License-Identifier: LGPL-2.1-only OR BSD-2-Clause
/*
 * What a program computes may lead nowhere: addresses that cannot be read, division by zero.
 *
 * A local, the fault, is 0 until that happens. What is evaluated then is 0, and goes on to be
 * evaluated; but statements from there on to the end of the clause do nothing, the one in which it
 * happened included: its change or record is left out (ki_stmt_unless). Behind the clause ERROR's
 * clauses follow, if it is not 0, and a record that tells the reader. So code goes forward only.
 */
#include <string.h>

#include "dlang/code/locals.h"

struct ki_node *ki_d_gen_no_fault(struct ki_d_gen *g)
{
	return ki_expr_unary(g->s, KI_LNOT, get(g, FAULT));
}

bool ki_d_gen_faulted(const struct ki_d_gen *g)
{
	return g->faults > g->faults_before;
}

struct ki_node *ki_d_gen_effect(struct ki_d_gen *g, struct ki_node *stmt)
{
	const struct ki_var v = local(FAULT);

	return ki_d_gen_faulted(g) ? ki_stmt_unless(g->s, stmt, &v) : stmt;
}

/* fault = condition && !fault ? it : fault */
static struct ki_node *note(struct ki_d_gen *g, struct ki_node *condition, unsigned int kind)
{
	const uint64_t word = ki_d_fault_word(kind, g->behind, ++g->faults);

	return set(g, FAULT,
		   ki_expr_cond(g->s, both(g, ki_d_gen_no_fault(g), condition), number(g, word),
				get(g, FAULT)));
}

struct ki_node *ki_d_gen_set_temp(struct ki_d_gen *g, struct ki_node *x)
{
	return set(g, TEMP, x);
}

struct ki_node *ki_d_gen_temp(struct ki_d_gen *g)
{
	return get(g, TEMP);
}

/* Statements, the last one first, before the value. */
static struct ki_node *behind(struct ki_d_gen *g, struct ki_node *const *stmt, unsigned int n,
			      struct ki_node *value)
{
	while (n--)
		value = ki_expr_behind(g->s, stmt[n], value);
	return value;
}

/* temp = the address; address = temp, unless there is a fault already, whose address stays. */
static void set_address(struct ki_d_gen *g, struct ki_node *at, struct ki_node **stmt)
{
	stmt[0] = set(g, TEMP, ki_expr_cast(g->s, KI_U64, at));
	stmt[1] = set(g, ADDRESS,
		      ki_expr_cond(g->s, ki_d_gen_no_fault(g), get(g, TEMP), get(g, ADDRESS)));
}

/* Of scratch memory, its table knows. */
static struct ki_node *unreadable(struct ki_d_gen *g, unsigned int size)
{
	struct ki_node *args[] = {get(g, ADDRESS), number(g, size)}, *bad;

	if (g->d->scratch_used)
		bad = ki_expr_text(g->s, ki_texts_number(g->d->run->strings), KI_TEXT_UNREADABLE,
				   args, 2);
	else
		bad = ki_expr_helper(g->s, KI_HELPER_UNREADABLE, args, 2);
	return g->site->meter ? ki_expr_behind(g->s, ki_d_gen_meter(g, g->site->meter->asked), bad)
			      : bad;
}

struct ki_node *ki_d_gen_load(struct ki_d_gen *g, enum ki_type type, struct ki_node *at)
{
	struct ki_node *stmt[4], *bad = unreadable(g, ki_d_size(ki_d_int(type)));

	set_address(g, at, stmt);
	stmt[2] =
		set(g, TEMP, ki_expr_cast(g->s, KI_U64, ki_expr_load(g->s, type, get(g, ADDRESS))));
	stmt[3] =
		note(g, both(g, ki_expr_unary(g->s, KI_LNOT, get(g, TEMP)), bad), KI_D_BAD_ADDRESS);
	return behind(g, stmt, 4, ki_expr_cast(g->s, type, get(g, TEMP)));
}

/* temp is one of the values from KI_TEXT_FAULT down that no string and no address has. */
static struct ki_node *is_bad(struct ki_d_gen *g)
{
	return ki_expr_binary(g->s, KI_GE, get(g, TEMP), number(g, KI_TEXT_SECOND));
}

/* A helper's operation at an address; temp: what it gives, 0 if there is a fault already. */
static void operate(struct ki_d_gen *g, enum ki_text_op op, struct ki_node **args, unsigned int n,
		    struct ki_node **stmt)
{
	struct ki_node *x;

	set_address(g, args[0], stmt);
	args[0] = get(g, ADDRESS);
	x = ki_expr_text(g->s, ki_texts_number(g->d->run->strings), op, args, n);
	stmt[2] = set(g, TEMP,
		      ki_expr_cond(g->s, ki_d_gen_no_fault(g), ki_expr_cast(g->s, KI_U64, x),
				   number(g, 0)));
}

static struct ki_node *good(struct ki_d_gen *g)
{
	return ki_expr_cond(g->s, is_bad(g), number(g, 0), get(g, TEMP));
}

struct ki_node *ki_d_gen_text_at(struct ki_d_gen *g, enum ki_text_op op, struct ki_node **args,
				 unsigned int n)
{
	struct ki_node *stmt[4];

	operate(g, op, args, n, stmt);
	stmt[3] = note(g, is_bad(g), KI_D_BAD_ADDRESS);
	return behind(g, stmt, 4, good(g));
}

struct ki_node *ki_d_gen_divisor(struct ki_d_gen *g, enum ki_type type, struct ki_node *x)
{
	struct ki_node *stmt[2];

	stmt[0] = set(g, TEMP, ki_expr_cast(g->s, KI_U64, x));
	stmt[1] = note(g, ki_expr_unary(g->s, KI_LNOT, get(g, TEMP)), KI_D_DIVISION);
	return behind(g, stmt, 2, ki_expr_cast(g->s, type, get(g, TEMP)));
}

struct ki_node *ki_d_gen_base(struct ki_d_gen *g, struct ki_node *x)
{
	struct ki_node *stmt[2], *bad[2];

	stmt[0] = set(g, TEMP, ki_expr_cast(g->s, KI_U64, x));
	for (int i = 0; i < 2; i++)
		bad[i] = ki_expr_binary(
			g->s, KI_GT,
			ki_expr_binary(g->s, KI_SUB, get(g, TEMP), number(g, KI_D_BASE_LEAST)),
			number(g, KI_D_BASE_MOST - KI_D_BASE_LEAST));
	stmt[1] = note(g, bad[0], KI_D_ILLEGAL);
	return behind(g, stmt, 2,
		      ki_expr_cond(g->s, bad[1], number(g, KI_D_BASE_LEAST), get(g, TEMP)));
}

struct ki_node *ki_d_gen_some(struct ki_d_gen *g, struct ki_node *x)
{
	struct ki_node *stmt[3];

	set_address(g, x, stmt);
	stmt[2] = note(g, ki_expr_unary(g->s, KI_LNOT, get(g, TEMP)), KI_D_BAD_ADDRESS);
	return behind(g, stmt, 3, get(g, TEMP));
}

struct ki_node *ki_d_gen_in_bounds(struct ki_d_gen *g, struct ki_node *x, uint64_t n)
{
	struct ki_node *stmt[3], *bad;

	set_address(g, x, stmt);
	bad = ki_expr_binary(g->s, KI_GE, get(g, TEMP), number(g, n));
	stmt[2] = note(g, bad, KI_D_BAD_INDEX);
	bad = ki_expr_binary(g->s, KI_GE, get(g, TEMP), number(g, n));
	return behind(g, stmt, 3, ki_expr_cond(g->s, bad, number(g, 0), get(g, TEMP)));
}

struct ki_node *ki_d_gen_let(struct ki_d_gen *g, const struct ki_d_node *n)
{
	struct ki_node *keep = set(g, (enum local)(LET + n->value),
				   ki_expr_cast(g->s, KI_U64, ki_d_gen_expr(g, n->kid[0])));

	return ki_expr_behind(g->s, keep, ki_d_gen_expr(g, n->kid[1]));
}

struct ki_node *ki_d_gen_held(struct ki_d_gen *g, const struct ki_d_node *n)
{
	return ki_expr_cast(g->s, ki_d_num(n->type), get(g, (enum local)(LET + n->value)));
}

struct ki_node *ki_d_gen_offset(struct ki_d_gen *g, bool second)
{
	return get(g, second ? DESTINATION : OFFSET);
}

struct ki_node *ki_d_gen_set_offset(struct ki_d_gen *g, bool second, struct ki_node *x)
{
	return set(g, second ? DESTINATION : OFFSET, x);
}

struct ki_node *ki_d_gen_value_kept(struct ki_d_gen *g)
{
	return get(g, DESTINATION);
}

struct ki_node *ki_d_gen_set_value(struct ki_d_gen *g, struct ki_node *x)
{
	return set(g, DESTINATION, ki_expr_cast(g->s, KI_U64, x));
}

/* ---- scratch memory ---- */

/* KI_TEXT_SECOND: there is no such piece. */
static void ask(struct ki_d_gen *g, enum ki_text_op op, struct ki_node **args, unsigned int nargs,
		struct ki_node **stmt)
{
	struct ki_node *none;

	operate(g, op, args, nargs, stmt);
	none = ki_expr_binary(g->s, KI_EQ, get(g, TEMP), number(g, KI_TEXT_SECOND));
	stmt[3] = note(g, none, KI_D_NO_SCRATCH);
	stmt[4] = note(g, is_bad(g), KI_D_BAD_ADDRESS);
}

/* Of the code's own. */
static struct ki_node *piece(struct ki_d_gen *g, enum ki_text_op op, struct ki_node **args,
			     unsigned int n)
{
	struct ki_node *stmt[5];

	ask(g, op, args, n, stmt);
	return behind(g, stmt, 5, good(g));
}

/* alloca() and copyin(): of the room that the clause has, or has from now on. */
static struct ki_node *taken(struct ki_d_gen *g, enum ki_text_op op, struct ki_node **args,
			     unsigned int n)
{
	struct ki_node *stmt[6];

	args[n++] = get(g, ROOM);
	ask(g, op, args, n, stmt);
	stmt[5] =
		set(g, ROOM, ki_expr_cond(g->s, ki_d_gen_no_fault(g), get(g, TEMP), get(g, ROOM)));
	g->takes = true;
	return behind(g, stmt, 6, good(g));
}

struct ki_node *ki_d_gen_give_room(struct ki_d_gen *g)
{
	struct ki_node *args[] = {get(g, ROOM)}, *give, *list;

	if (!g->takes)
		return NULL;
	give = ki_expr_text(g->s, ki_texts_number(g->d->run->strings), KI_TEXT_GIVE_ROOM, args, 1);
	list = ki_stmt_append(g->s, NULL, ki_stmt_eval(g->s, give));
	list = ki_stmt_append(g->s, list, set(g, ROOM, number(g, 0)));
	return ki_stmt_if(g->s, get(g, ROOM), list, NULL);
}

/* What is held is there again; all else, in a local that what is copied does not need. */
static struct ki_node *destination(struct ki_d_gen *g, const struct ki_d_node *to)
{
	return to->kind == KI_D_HELD ? ki_expr_cast(g->s, KI_U64, ki_d_gen_expr(g, to))
				     : get(g, DESTINATION);
}

/* bcopy(), copyinto(), copyout() ...: KI_TEXT_SECOND if it is the destination. */
static struct ki_node *copy(struct ki_d_gen *g, enum ki_text_op op, struct ki_node **args,
			    const struct ki_d_node *to)
{
	struct ki_node *stmt[6], *second, *where;

	stmt[0] = set(g, DESTINATION, ki_expr_cast(g->s, KI_U64, args[1]));
	args[1] = destination(g, to);
	operate(g, op, args, 3, stmt + 1);
	second = ki_expr_binary(g->s, KI_EQ, get(g, TEMP), number(g, KI_TEXT_SECOND));
	where = ki_expr_cond(g->s, both(g, ki_d_gen_no_fault(g), second), destination(g, to),
			     get(g, ADDRESS));
	stmt[4] = set(g, ADDRESS, where);
	stmt[5] = note(g, is_bad(g), KI_D_BAD_ADDRESS);
	return behind(g, stmt, 6, good(g));
}

/*
 * A size of bcopy() or copyinto() that may be more than there ever is is a fault by itself. *size:
 * it, and then what is instead; the statement before, or NULL.
 */
static struct ki_node *size_kept(struct ki_d_gen *g, const struct ki_d_node *call,
				 struct ki_node **size)
{
	const uint64_t most = (uint64_t)g->d->set.scratchsize;
	const struct ki_d_node *n = call->kid[0]->next;
	struct ki_node *stmt[3], *bad;

	if (call->sym.function->number == KI_TEXT_COPY)
		n = n->next;
	else if (call->sym.function->number != KI_TEXT_COPY_USER)
		return NULL;
	if (n->kind == KI_D_NUMBER && n->value <= most)
		return NULL;
	set_address(g, ki_expr_cast(g->s, KI_I64, *size), stmt);
	bad = ki_expr_binary(g->s, KI_GT, get(g, TEMP), number(g, most));
	stmt[2] = note(g, bad, KI_D_BAD_SIZE);
	*size = ki_expr_cast(g->s, KI_U64, get(g, HOLD));
	return set(g, HOLD, ki_expr_cast(g->s, KI_I64, behind(g, stmt, 3, get(g, TEMP))));
}

struct ki_node *ki_d_gen_memory_call(struct ki_d_gen *g, const struct ki_d_node *n)
{
	enum ki_text_op op = (enum ki_text_op)n->sym.function->number;
	const struct ki_d_node *to = n->kid[0]->next;
	struct ki_node *args[3], *keep, *x;
	unsigned int count = 0;

	if (ki_d_is_string(n->kid[0]->type))
		op = op == KI_TEXT_COPY ? KI_TEXT_COPY_TEXT : KI_TEXT_COPY_OUT_TEXT;
	for (const struct ki_d_node *k = n->kid[0]; k; k = k->next)
		args[count++] = ki_d_gen_expr(g, k);
	if (op == KI_TEXT_ALLOCA || op == KI_TEXT_ALLOCA_USER)
		return taken(g, op, args, count);
	keep = size_kept(g, n, &args[op == KI_TEXT_COPY_USER ? 1 : 2]);
	if (op == KI_TEXT_COPY_USER) { /* from, how many, to */
		struct ki_node *many = args[1];

		args[1] = args[2];
		args[2] = many;
		to = to->next;
	}
	x = copy(g, op, args, to);
	x = keep ? ki_expr_behind(g->s, keep, x) : x;
	return n->kid[1] ? ki_d_gen_put_back(g, n->kid[1], n->kid[2], x) : x;
}

struct ki_node *ki_d_gen_user_load(struct ki_d_gen *g, enum ki_type type, struct ki_node *at)
{
	struct ki_node *args[] = {at, number(g, ki_d_size(ki_d_int(type)))};

	return ki_d_gen_load(g, type, piece(g, KI_TEXT_COPYIN, args, 2));
}

struct ki_node *ki_d_gen_user_store(struct ki_d_gen *g, enum ki_type type, struct ki_node *at,
				    struct ki_node *value)
{
	const unsigned int size = ki_d_size(ki_d_int(type));
	struct ki_node *args[3], *list;

	list = ki_stmt_append(g->s, NULL, set(g, DESTINATION, ki_expr_cast(g->s, KI_U64, at)));
	list = ki_stmt_append(g->s, list, set(g, HOLD, ki_d_gen_piece(g, size)));
	list = ki_stmt_append(g->s, list, ki_d_gen_put(g, get(g, HOLD), value, size));
	args[0] = get(g, HOLD);
	args[1] = get(g, DESTINATION);
	args[2] = number(g, size);
	return ki_stmt_append(g->s, list,
			      ki_stmt_eval(g->s, ki_d_gen_text_at(g, KI_TEXT_COPY_OUT, args, 3)));
}

struct ki_node *ki_d_gen_piece(struct ki_d_gen *g, uint64_t size)
{
	struct ki_node *args[] = {number(g, size)};

	return piece(g, KI_TEXT_SCRATCH, args, 1);
}

struct ki_node *ki_d_gen_put(struct ki_d_gen *g, struct ki_node *at, struct ki_node *value,
			     unsigned int bytes)
{
	struct ki_node *args[] = {at, value, number(g, bytes)};

	return ki_stmt_eval(g->s, ki_d_gen_text_at(g, KI_TEXT_STORE, args, 3));
}

struct ki_node *ki_d_gen_store(struct ki_d_gen *g, enum ki_type type, struct ki_node *at,
			       struct ki_node *value)
{
	struct ki_node *args[] = {at, get(g, DESTINATION), number(g, ki_d_size(ki_d_int(type)))},
		       *keep = set(g, DESTINATION, ki_expr_cast(g->s, KI_U64, value)), *store;

	store = ki_d_gen_text_at(g, KI_TEXT_STORE, args, 3);
	return ki_stmt_eval(g->s, ki_expr_behind(g->s, keep, store));
}

unsigned int ki_d_gen_bytes(struct ki_d_gen *g, const struct ki_d_node *at, uint64_t size,
			    struct ki_node **nodes)
{
	const uint64_t piece = ki_d_bytes_piece(g->d);
	unsigned int n = 0;

	for (uint64_t from = 0; from < size; from += piece, n++) {
		const uint64_t len = size - from < piece ? size - from : piece;
		struct ki_node *args[2];

		args[0] =
			ki_expr_binary(g->s, KI_ADD, n ? get(g, DESTINATION) : ki_d_gen_expr(g, at),
				       number(g, from));
		if (!n)
			args[0] = ki_expr_behind(
				g->s, set(g, DESTINATION, ki_expr_cast(g->s, KI_U64, args[0])),
				get(g, DESTINATION));
		args[1] = number(g, len);
		nodes[n] = ki_d_gen_text_at(g, KI_TEXT_BYTES, args, 2);
	}
	return n;
}

/* ---- processes ---- */

#define GENERATIONS 16

/* Where a task has that number or pointer. */
static struct ki_node *of_task(struct ki_d_gen *g, enum ki_type type, const char *member)
{
	struct ki_d_type task;
	uint64_t bit;

	if (ki_d_type_written(g->d, "struct task_struct", &task) ||
	    !ki_d_member_find(&g->d->types, task, member, &bit))
		return number(g, 0);
	return ki_expr_load(g->s, type,
			    ki_expr_binary(g->s, KI_ADD, get(g, TEMP), number(g, bit / 8)));
}

/* The first process is its own parent. */
struct ki_node *ki_d_gen_progeny(struct ki_d_gen *g, const struct ki_d_node *pid)
{
	struct ki_node *stmt[3 + 2 * GENERATIONS], *is;
	unsigned int n = 0;

	stmt[n++] = set(g, DESTINATION, ki_expr_cast(g->s, KI_U32, ki_d_gen_expr(g, pid)));
	stmt[n++] = set(g, TEMP, ki_expr_fact(g->s, KI_FACT_TASK));
	stmt[n++] = set(g, HOLD, number(g, 0));
	for (int i = 0; i < GENERATIONS; i++) {
		is = ki_expr_binary(g->s, KI_EQ, of_task(g, KI_U32, "tgid"), get(g, DESTINATION));
		stmt[n++] = set(g, HOLD, ki_expr_binary(g->s, KI_OR, get(g, HOLD), is));
		stmt[n++] = set(g, TEMP, of_task(g, KI_U64, "real_parent"));
	}
	return behind(g, stmt, n, ki_expr_cast(g->s, KI_I32, get(g, HOLD)));
}

/* ---- speculation ---- */

static struct ki_node *numbers(struct ki_d_gen *g, enum ki_text_op op, struct ki_node *x)
{
	return ki_expr_text(g->s, ki_texts_number(g->d->run->strings), op, &x, 1);
}

struct ki_node *ki_d_gen_speculation(struct ki_d_gen *g)
{
	return numbers(g, KI_TEXT_TAKE, number(g, (uint64_t)g->d->set.nspec));
}

struct ki_node *ki_d_gen_speculate(struct ki_d_gen *g, const struct ki_d_node *which, bool ends)
{
	struct ki_node *stmt[2], *x = ki_expr_cast(g->s, KI_U64, ki_d_gen_expr(g, which));

	if (ends) {
		stmt[0] = set(g, TEMP, x);
		x = number(g, (uint64_t)g->d->set.nspec);
		stmt[1] = note(g, ki_expr_binary(g->s, KI_GT, get(g, TEMP), x), KI_D_ILLEGAL);
		x = behind(g, stmt, 2, get(g, TEMP));
	}
	return ki_d_gen_effect(g, set(g, SPECULATION, numbers(g, KI_TEXT_TAKEN, x)));
}

struct ki_node *ki_d_gen_speculation_now(struct ki_d_gen *g)
{
	return get(g, SPECULATION);
}

struct ki_node *ki_d_gen_no_speculation(struct ki_d_gen *g)
{
	return set(g, SPECULATION, number(g, 0));
}

struct ki_node *ki_d_gen_speculated(struct ki_d_gen *g, struct ki_node *list)
{
	return list ? ki_stmt_if(g->s, both(g, get(g, SPECULATION), ki_d_gen_no_fault(g)), list,
				 NULL)
		    : NULL;
}

struct ki_node *ki_d_gen_speculation_end(struct ki_d_gen *g)
{
	return ki_stmt_eval(g->s, numbers(g, KI_TEXT_GIVE, get(g, SPECULATION)));
}
