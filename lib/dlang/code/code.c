// SPDX-License-Identifier: LGPL-2.1-only OR BSD-2-Clause
/*
 * Clauses to snippets: statements. All clauses of a probe are one snippet, in the order of the
 * program, so they share this->.
 */
#include <errno.h>
#include <string.h>

#include "dlang/code/code.h"
#include "dlang/probe/user.h"

static struct ki_var var_of(const struct ki_d_var *v)
{
	static const uint8_t kinds[] = {[KI_D_GLOBAL_SCOPE] = KI_VAR_GLOBAL,
					[KI_D_SELF_SCOPE] = KI_VAR_THREAD,
					[KI_D_THIS_SCOPE] = KI_VAR_LOCAL};

	return (struct ki_var){.name = v->name,
			       .kind = kinds[v->scope],
			       .type = (uint8_t)ki_d_num(v->type),
			       .first = v->number};
}

/* ---- assignment ---- */

/* What one instruction, or one change of a row, can do by itself. */
static const struct {
	uint8_t op, update, table;
} updates[] = {
	{KI_ADD, KI_UPDATE_ADD, KI_TABLE_ADD},
	{KI_SUB, KI_UPDATE_SUB, KI_TABLE_OPS},
	{KI_OR, KI_UPDATE_OR, KI_TABLE_OPS},
	{KI_AND, KI_UPDATE_AND, KI_TABLE_OPS},
};

static struct ki_node *set_var(struct ki_d_gen *g, const struct ki_d_node *n, uint8_t op,
			       struct ki_node *value)
{
	struct ki_var v = var_of(n->sym.var);
	enum ki_update update = KI_SET;

	for (size_t i = 0; i < sizeof(updates) / sizeof(*updates); i++)
		if (updates[i].op == op)
			update = (enum ki_update)updates[i].update;
	if (op != KI_BINARIES && update == KI_SET)
		value = ki_expr_binary(g->s, (enum ki_binary)op, ki_expr_var(g->s, &v), value);
	return ki_d_gen_effect(g, ki_stmt_update(g->s, update, &v, NULL, value));
}

static bool is_zero(const struct ki_d_node *n)
{
	return n && n->kind == KI_D_NUMBER && !n->value;
}

/* NAME[...] op= value; 0 takes the row away. */
static struct ki_node *set_row(struct ki_d_gen *g, const struct ki_d_node *n, uint8_t op,
			       const struct ki_d_node *right, struct ki_node *value)
{
	struct ki_table_var t = ki_table_var_of(n->sym.var->table, n->sym.var->name);
	struct ki_node *keys[2][KI_TABLE_KEYS];
	unsigned int nkeys = ki_d_gen_array_keys(g, n, keys[0]);

	if (op == KI_BINARIES && is_zero(right))
		return ki_d_gen_effect(
			g, ki_stmt_table(g->s, KI_TABLE_DELETE,
					 &(struct ki_row_value){&t, 0, keys[0], nkeys}, NULL));
	if (op == KI_ADD)
		return ki_d_gen_effect(
			g, ki_stmt_table(g->s, KI_TABLE_ADD,
					 &(struct ki_row_value){&t, 0, keys[0], nkeys}, value));
	if (op != KI_BINARIES) {
		ki_d_gen_array_keys(g, n, keys[1]);
		value = ki_expr_binary(
			g->s, (enum ki_binary)op,
			ki_expr_table(g->s, &(struct ki_row_value){&t, 0, keys[1], nkeys}), value);
	}
	return ki_d_gen_effect(g,
			       ki_stmt_table(g->s, KI_TABLE_SET,
					     &(struct ki_row_value){&t, 0, keys[0], nkeys}, value));
}

/* right: NULL of x++. */
static struct ki_node *assign(struct ki_d_gen *g, const struct ki_d_node *n,
			      const struct ki_d_node *right)
{
	const struct ki_d_node *to = n->kid[0];
	const bool is_part = ki_d_in_variable(to);
	const int64_t stride = n->op == KI_BINARIES ? 1 : ki_d_gen_stride(g, to->type);
	struct ki_node *value;

	if (is_part && ki_d_is_struct(to->type))
		return ki_d_gen_set_struct(g, to, right);
	value = right ? ki_d_gen_to_keep(g, to, right)
		      : ki_expr_const(g->s, KI_I64, (uint64_t)stride);
	if (right && stride > 1)
		value = ki_expr_binary(g->s, KI_MUL, value,
				       ki_expr_const(g->s, KI_I64, (uint64_t)stride));
	if (right && ki_d_divides(n->op) && !ki_d_is_nonzero(right))
		value = ki_d_gen_divisor(g, ki_d_num(right->type), value);
	if (is_part && n->op != KI_BINARIES)
		value = ki_expr_binary(g->s, (enum ki_binary)n->op, ki_d_gen_expr(g, to), value);
	if (is_part)
		return ki_d_gen_set_part(g, to, value);
	if (to->kind == KI_D_INDEX)
		return set_row(g, to, n->op, right, value);
	if (to->kind == KI_D_DEREF || to->kind == KI_D_MEMBER) {
		if (n->op != KI_BINARIES)
			value = ki_expr_binary(g->s, (enum ki_binary)n->op, ki_d_gen_expr(g, to),
					       value);
		return ki_d_gen_store(g, ki_d_num(to->type), ki_d_gen_address(g, to), value);
	}
	return set_var(g, to, n->op, value);
}

struct ki_node *ki_d_gen_assign(struct ki_d_gen *g, const struct ki_d_node *n)
{
	return assign(g, n, n->kind == KI_D_STEP ? NULL : n->kid[1]);
}

/* A statement. a = b = x of numbers is b = x, then a = b: one value at a time. */
static struct ki_node *assignments(struct ki_d_gen *g, const struct ki_d_node *n)
{
	const struct ki_d_node *right = n->kind == KI_D_STEP ? NULL : n->kid[1];
	struct ki_node *first;

	if (!right || right->kind != KI_D_ASSIGN || !ki_d_is_scalar(right->type) ||
	    ki_d_is_string(right->type))
		return assign(g, n, right);
	first = ki_stmt_append(g->s, NULL, assignments(g, right));
	return ki_stmt_append(g->s, first, assign(g, n, right->kid[0]));
}

/* ---- actions ---- */

static unsigned int argument(struct ki_d_gen *g, const struct ki_d_arg *a, struct ki_node **values)
{
	if (a->form == KI_D_FORM_BYTES)
		return ki_d_gen_bytes(g, a->node, a->size, values);
	return a->form == KI_D_FORM_PACKET ? ki_d_gen_packet(g, a->node, a->size, values)
					   : ki_d_gen_value(g, a->node, a->form, values);
}

static struct ki_node *record(struct ki_d_gen *g, uint32_t number)
{
	const struct ki_d_batch *b = &g->d->batches.v[number];
	struct ki_node *values[KI_RECORD_WORDS];
	unsigned int n = 0;

	values[n++] = ki_expr_const(g->s, KI_U32, g->site->probe);
	if (b->speculative)
		values[n++] = ki_d_gen_speculation_now(g);
	for (uint32_t i = b->first; i < b->first + b->n; i++) {
		const struct ki_d_action *a = &g->d->actions.v[i];

		for (unsigned int k = 0; k < a->nargs; k++)
			n += argument(g, &a->args[k], values + n);
	}
	return ki_d_gen_effect(
		g, ki_stmt_record(g->s, ki_ring_number(g->d->run->ring), number, values, n));
}

static bool calls(const struct ki_d_batch *b, const struct ki_dlang *d, uint8_t kind)
{
	for (uint32_t i = b->first; i < b->first + b->n; i++) {
		const struct ki_d_node *n = d->actions.v[i].node;

		if (n && n->sym.function->kind == kind)
			return true;
	}
	return false;
}

static struct ki_node *append(struct ki_d_gen *g, struct ki_node *list, struct ki_node *stmt)
{
	return stmt ? ki_stmt_append(g->s, list, stmt) : list;
}

static struct ki_node *stop(struct ki_d_gen *g)
{
	const struct ki_var v = {
		.kind = KI_VAR_GLOBAL, .type = KI_U64, .first = g->d->run->stopped};

	return ki_stmt_update(g->s, KI_SET, &v, NULL, ki_expr_const(g->s, KI_U64, 1));
}

/* The call of commit() or discard() that a batch is, which has no other actions; or NULL. */
static const struct ki_d_node *ends_speculation(const struct ki_d_gen *g, uint32_t number)
{
	const struct ki_d_node *n = g->d->actions.v[g->d->batches.v[number].first].node;

	return n && ki_d_ends_speculation(n->sym.function) ? n : NULL;
}

static struct ki_node *batch(struct ki_d_gen *g, struct ki_node *list, uint32_t number)
{
	const struct ki_d_node *ends = ends_speculation(g, number);
	struct ki_node *values;

	if (ends)
		list = append(g, list, ki_d_gen_speculate(g, ends->kid[0], true));
	values = record(g, number);
	if (ends) {
		struct ki_node *end = append(g, append(g, NULL, ki_d_gen_empty_room(g)),
					     ki_d_gen_speculation_end(g));

		return append(g, append(g, list, values),
			      ki_stmt_if(g->s, ki_d_gen_no_fault(g), end, NULL));
	}
	if (!calls(&g->d->batches.v[number], g->d, KI_D_F_EXIT))
		return append(g, list, values);
	if (ki_d_gen_faulted(g)) /* then the program goes on */
		return append(g, append(g, list, values), ki_d_gen_effect(g, stop(g)));
	return append(g, append(g, list, stop(g)), values);
}

/* The batch whose first action the statement is; UINT32_MAX: it is none's. */
static uint32_t begins_batch(const struct ki_d_gen *g, const struct ki_d_clause *c,
			     const struct ki_d_node *n)
{
	for (uint32_t i = c->first_batch; i < c->first_batch + c->nbatches; i++)
		if (g->d->actions.v[g->d->batches.v[i].first].node == n)
			return i;
	return UINT32_MAX;
}

/* ---- clauses ---- */

static struct ki_node *statement(struct ki_d_gen *g, const struct ki_d_clause *c,
				 const struct ki_d_node *n)
{
	uint32_t number = begins_batch(g, c, n);
	struct ki_node *sent = NULL;

	if (n->kind == KI_D_CALL && n->sym.function->kind == KI_D_F_RAISE)
		sent = ki_stmt_append(g->s, NULL, ki_d_gen_signal(g, n));
	if (number != UINT32_MAX)
		return batch(g, sent, number);
	if (n->kind == KI_D_AGG)
		return ki_d_gen_aggregate(g, n);
	if (n->kind == KI_D_ASSIGN || n->kind == KI_D_STEP)
		return assignments(g, n);
	if (n->kind == KI_D_CALL && ki_d_is_action(n->sym.function))
		return sent;
	if (ki_d_begins_speculation(n))
		return ki_d_gen_speculate(g, n->kid[0], false);
	return ki_stmt_eval(g->s, ki_d_gen_expr(g, n));
}

/* Statements of which only the last one may fault, behind those that may have. */
struct group {
	struct ki_node *list;
	bool unsure;
};

static struct ki_node *close_group(struct ki_d_gen *g, struct ki_node *list, struct group *now)
{
	if (now->list)
		list = append(g, list,
			      now->unsure ? ki_stmt_if(g->s, ki_d_gen_no_fault(g), now->list, NULL)
					  : now->list);
	now->list = NULL;
	now->unsure |= ki_d_gen_faulted(g);
	g->faults_before = g->faults;
	return list;
}

/* *recorded: how many faults there were at the first record; UINT32_MAX: none has been. */
static struct ki_node *statements(struct ki_d_gen *g, const struct ki_d_clause *c,
				  const struct ki_d_node *list, uint32_t *recorded);

static struct ki_node *branch(struct ki_d_gen *g, const struct ki_d_clause *c,
			      const struct ki_d_node *n, uint32_t *recorded)
{
	const uint32_t before = g->faults_before;
	struct ki_node *cond = ki_d_gen_expr(g, n->kid[0]), *way[2];
	const bool unsure = ki_d_gen_faulted(g);

	if (unsure)
		cond = ki_expr_binary(g->s, KI_LAND, cond, ki_d_gen_no_fault(g));
	for (int i = 0; i < 2; i++) {
		g->faults_before = g->faults;
		way[i] = statements(g, c, n->kid[1 + i], recorded);
	}
	if (way[1] && unsure)
		way[1] = ki_stmt_if(g->s, ki_d_gen_no_fault(g), way[1], NULL);
	g->faults_before = before;
	if (way[0])
		return ki_stmt_if(g->s, cond, way[0], way[1]);
	return way[1] ? ki_stmt_if(g->s, ki_expr_unary(g->s, KI_LNOT, cond), way[1], NULL)
		      : ki_stmt_eval(g->s, cond);
}

/* What stands behind speculate(); nothing: what a clause without a body records. */
static struct ki_node *speculated(struct ki_d_gen *g, const struct ki_d_clause *c,
				  const struct ki_d_node *n, uint32_t *recorded)
{
	struct ki_node *list = ki_d_only_speculates(c) ? batch(g, NULL, c->first_batch)
						       : statements(g, c, n->next, recorded);

	return ki_d_gen_speculated(g, list ? ki_d_gen_take_room(g, list) : NULL);
}

static struct ki_node *statements(struct ki_d_gen *g, const struct ki_d_clause *c,
				  const struct ki_d_node *list, uint32_t *recorded)
{
	struct group now = {.unsure = false};
	struct ki_node *out = NULL;

	for (const struct ki_d_node *n = list; n; n = n->next) {
		const bool records = begins_batch(g, c, n) != UINT32_MAX;

		now.list =
			append(g, now.list,
			       n->kind == KI_D_IF ? branch(g, c, n, recorded) : statement(g, c, n));
		if (records && *recorded == UINT32_MAX)
			*recorded = g->faults;
		if (ki_d_gen_faulted(g))
			out = close_group(g, out, &now);
		if (ki_d_begins_speculation(n)) {
			out = close_group(g, out, &now);
			out = append(g, out, ki_d_gen_look_for_room(g));
			return append(g, out, speculated(g, c, n, recorded));
		}
	}
	return close_group(g, out, &now);
}

/* A record that a fault may follow is held by its reader until the clause has come to its end; and
 * one that may not be the clause's last. A fault in ERROR's clauses takes no record away. */
static struct ki_node *body(struct ki_d_gen *g, struct ki_d_clause *c)
{
	uint32_t recorded = UINT32_MAX;
	struct ki_node *list, *done;

	g->faults_before = g->faults;
	if (!c->body)
		return batch(g, NULL, c->first_batch);
	list = statements(g, c, c->body, &recorded);
	c->held = c->varies || (g->faults > recorded && !g->in_error);
	if (!c->held)
		return list;
	done = ki_d_gen_done(g);
	if (g->faults && !g->in_error)
		done = ki_stmt_if(g->s, ki_d_gen_no_fault(g), done, NULL);
	return append(g, list, done);
}

/* A && B: what the first refuses pays for nothing of the second. */
static struct ki_node *guard(struct ki_d_gen *g, const struct ki_d_node *p, struct ki_node *then)
{
	struct ki_node *cond;

	if (p->kind == KI_D_BINARY && p->op == KI_LAND)
		return guard(g, p->kid[0], guard(g, p->kid[1], then));
	g->faults_before = g->faults;
	cond = ki_d_gen_expr(g, p);
	if (ki_d_gen_faulted(g))
		cond = ki_expr_binary(g->s, KI_LAND, cond, ki_d_gen_no_fault(g));
	return ki_stmt_if(g->s, cond, then, NULL);
}

static struct ki_node *error_clauses(struct ki_d_gen *g);

/* The body after the predicate, and the time that they share before either. */
static struct ki_node *guarded(struct ki_d_gen *g, struct ki_d_clause *c)
{
	const unsigned int before = ki_d_timestamps(c->predicate);
	struct ki_node *stmt;

	g->one_time = before + ki_d_timestamps(c->body) > 1;
	stmt = body(g, c);
	if (stmt)
		stmt = ki_d_gen_meter_end(g, stmt);
	for (unsigned int i = 0; stmt && i < 2; i++) {
		if (g->one_time && !before == !i)
			stmt = append(g, append(g, NULL, ki_d_gen_keep_time(g)), stmt);
		if (!i && c->predicate)
			stmt = guard(g, c->predicate, stmt);
	}
	return stmt;
}

static struct ki_node *clause(struct ki_d_gen *g, uint32_t use)
{
	const uint32_t number = g->d->uses.v[use];
	const struct ki_var stopped = {
		.kind = KI_VAR_GLOBAL, .type = KI_U64, .first = g->d->run->stopped};
	struct ki_d_clause *c = &g->d->clauses.v[number];
	struct ki_node *stmt;

	g->clause = number;
	g->statement = g->d->statements.v[use];
	g->faults = 0;
	g->takes = false;
	stmt = guarded(g, c);
	if (stmt && g->takes)
		stmt = append(g, append(g, NULL, stmt), ki_d_gen_give_room(g));
	if (stmt && g->faults)
		stmt = append(g, append(g, NULL, stmt),
			      ki_d_gen_error(g, ki_d_gen_meter_fault(g, error_clauses(g))));
	if (stmt && g->d->exits && strcmp(g->d->probes.v[g->site->probe].name, "END") != 0)
		stmt = ki_stmt_if(g->s, ki_expr_unary(g->s, KI_LNOT, ki_expr_var(g->s, &stopped)),
				  stmt, NULL);
	return stmt;
}

/* What ERROR does about this clause; NULL: nothing. */
static struct ki_node *error_clauses(struct ki_d_gen *g)
{
	const uint32_t error = ki_d_probe_named(g->d, "ERROR");
	struct ki_d_site site = *g->site;
	struct ki_d_gen inside = {.d = g->d, .s = g->s, .site = &site, .in_error = true};
	const struct ki_d_probe *p;
	struct ki_node *list = NULL;

	if (error == UINT32_MAX || g->in_error)
		return NULL;
	inside.error_probe = g->d->probes.v[g->site->probe].id;
	inside.error_statement = g->statement;
	site.probe = error;
	p = &g->d->probes.v[error];
	for (uint32_t i = p->first; i < p->first + p->n; i++)
		list = append(&inside, list, clause(&inside, i));
	return list;
}

/* With option cpu, on that one alone. */
static struct ki_node *on_cpu(struct ki_d_gen *g, struct ki_node *list)
{
	if (!list || g->d->set.cpu < 0)
		return list;
	return ki_stmt_if(g->s,
			  ki_expr_binary(g->s, KI_EQ, ki_expr_fact(g->s, KI_FACT_CPU),
					 ki_expr_const(g->s, KI_U32, (uint64_t)g->d->set.cpu)),
			  list, NULL);
}

static struct ki_node *clauses(struct ki_d_gen *g, const struct ki_d_probe *p)
{
	struct ki_node *list = NULL;

	for (uint32_t i = p->first; i < p->first + p->n; i++)
		list = append(g, list, clause(g, i));
	return on_cpu(g, list);
}

int ki_d_code(struct ki_dlang *d, const struct ki_d_site *site, struct ki_snippet **out,
	      struct ki_err *err)
{
	const struct ki_d_probe *p = &d->probes.v[site->probe];
	struct ki_d_gen g = {.d = d, .site = site};
	struct ki_node *list, *begin;
	bool asks;
	int ret;

	if (ki_snippet_new(&g.s))
		return ki_d_no_memory(err);
	asks = p->hook && p->hook->user && p->hook->user->places[site->place].asks;
	begin = asks ? NULL : ki_d_gen_parts_begin(&g);
	list = asks ? ki_d_gen_user_answer(&g, p->hook->user) : clauses(&g, p);
	if (list && begin)
		list = append(&g, begin, list);
	if (list && p->hook && ki_d_hook_tells(p->hook))
		list = ki_d_gen_if_kept(&g, p->hook, list);
	if (list && site->is_trigger)
		list = ki_d_gen_trigger(&g, list, site->probe);
	if (list && p->hook && p->hook->user)
		list = ki_d_gen_user_meant(&g, p->hook->user, ki_d_gen_meter_passes(&g, list));
	else if (list)
		list = ki_d_gen_meter_passes(&g, p->hook && !ki_d_hook_tells(p->hook)
							 ? ki_d_gen_meant(&g, p->hook, list)
							 : list);
	/* There is none if nothing is to be done, or if the tree has failed: the check says so. */
	ki_snippet_body(g.s, list ? list : ki_stmt_eval(g.s, ki_expr_const(g.s, KI_U64, 0)));
	ret = ki_snippet_check(g.s, site->regs, err);
	*out = list && !ret ? g.s : NULL;
	if (!*out)
		ki_snippet_free(g.s);
	return ret;
}

int ki_d_code_constants(struct ki_dlang *d, const struct ki_d_site *site, size_t from, size_t to,
			struct ki_snippet **out, struct ki_err *err)
{
	struct ki_d_gen g = {.d = d, .site = site};
	int ret;

	*out = NULL;
	if (ki_snippet_new(&g.s))
		return ki_d_no_memory(err);
	ki_snippet_body(g.s,
			ki_d_gen_trigger(&g, ki_d_gen_constants(&g, from, to), KI_D_CONSTANTS));
	ret = ki_snippet_check(g.s, site->regs, err);
	if (ret)
		ki_snippet_free(g.s);
	else
		*out = g.s;
	return ret;
}
