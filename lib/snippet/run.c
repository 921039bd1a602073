// SPDX-License-Identifier: LGPL-2.1-only OR BSD-2-Clause
/*
 * The interpreter: what a snippet means, step by step over a model machine. It shares the meaning
 * of operators with the builders (arith.c), and nothing with the code generator.
 */
#include <string.h>

#include "snippet/tree.h"

struct run {
	struct ki_machine *m;
	const struct ki_site_regs *site;
	uint64_t *locals;
};

static uint64_t eval(const struct run *r, const struct ki_node *n);

static uint64_t load(const struct run *r, uint64_t addr, unsigned int size)
{
	uint64_t v = r->m->load ? r->m->load(r->m->arg, addr, size) : 0;

	return size < 8 ? v & ((1ull << 8 * size) - 1) : v;
}

/* A variable's slot; NULL: there is none. */
static uint64_t *slot_of(const struct run *r, const struct ki_node *n, uint64_t index)
{
	struct ki_machine *m = r->m;
	const struct {
		uint64_t *v;
		uint32_t n;
	} banks[KI_VAR_KINDS] = {
		[KI_VAR_CPU] = {m->counters, m->ncounters},
		[KI_VAR_GLOBAL] = {m->globals, m->nglobals},
		[KI_VAR_THREAD] = {m->thread, m->nthread},
		[KI_VAR_LOCAL] = {r->locals, KI_LOCALS},
	};
	uint64_t at = n->var.first + index;

	if (index && index >= n->var.count)
		return NULL;
	return at < banks[n->var.kind].n ? &banks[n->var.kind].v[at] : NULL;
}

static void slot_write(const struct ki_node *n, uint64_t *slot, uint64_t value)
{
	value = ki_type_extend(n->var.type, value);
	memcpy(slot, &value, ki_types[n->var.type].size);
}

static uint64_t read_var(const struct run *r, const struct ki_node *n)
{
	const uint64_t *slot = slot_of(r, n, n->nkids ? eval(r, n->kid[0]) : 0);

	return slot ? ki_type_extend(n->var.type, *slot) : 0;
}

static uint64_t fact(const struct run *r, enum ki_fact f)
{
	const struct ki_machine *m = r->m;
	uint64_t comm[2];

	memcpy(comm, m->comm, sizeof(comm));
	const uint64_t facts[KI_FACTS] = {
		[KI_FACT_RETVAL] = m->regs[KI_RAX],
		[KI_FACT_TSC] = m->tsc,
		[KI_FACT_NANOTIME] = m->nanotime,
		[KI_FACT_CPU] = m->cpu,
		[KI_FACT_PID] = m->pid,
		[KI_FACT_TGID] = m->tgid,
		[KI_FACT_TASK] = m->task,
		[KI_FACT_COMM0] = comm[0],
		[KI_FACT_COMM1] = comm[1],
		[KI_FACT_CLOCK] = m->clock,
		[KI_FACT_MINFLT] = m->minflt,
		[KI_FACT_MAJFLT] = m->majflt,
		[KI_FACT_NVCSW] = m->nvcsw,
		[KI_FACT_NIVCSW] = m->nivcsw,
		[KI_FACT_UID] = m->uid,
		[KI_FACT_CGROUP] = m->cgroup,
		[KI_FACT_ADDR] = r->site->addr,
		[KI_FACT_PLACE] = r->site->place,
	};
	return facts[f];
}

static uint64_t param(const struct run *r, uint64_t n)
{
	if (n < 6)
		return r->m->regs[ki_param_regs[n]];
	return load(r, r->m->regs[KI_RSP] + 8 * (r->site->pushed + n - 5), 8);
}

static uint64_t binary(const struct run *r, const struct ki_node *n)
{
	uint64_t l = eval(r, n->kid[0]);

	if (n->op == KI_LAND && !l)
		return 0;
	if (n->op == KI_LOR && l)
		return 1;
	return ki_arith_binary(n->op, ki_node_is_signed(n), l, eval(r, n->kid[1]));
}

static uint64_t helper(const struct run *r, const struct ki_node *n)
{
	uint64_t a[KI_CALL_ARGS] = {0};

	for (unsigned int i = 0; i < n->nkids; i++)
		a[i] = eval(r, n->kid[i]);
	switch (n->op) {
	case KI_HELPER_LOAD8:
	case KI_HELPER_LOAD16:
	case KI_HELPER_LOAD32:
	case KI_HELPER_LOAD64:
		return load(r, a[0], 1u << (n->op - KI_HELPER_LOAD8));
	case KI_HELPER_DIV:
	case KI_HELPER_UDIV:
		return ki_arith_binary(KI_DIV, n->op == KI_HELPER_DIV, a[0], a[1]);
	case KI_HELPER_MOD:
	case KI_HELPER_UMOD:
		return ki_arith_binary(KI_MOD, n->op == KI_HELPER_MOD, a[0], a[1]);
	case KI_HELPER_UID:
		return r->m->uid;
	case KI_HELPER_CGROUP:
		return r->m->cgroup;
	case KI_HELPER_ULOAD:
		return r->m->user ? r->m->user(r->m->arg, a[0], (unsigned int)a[1]) : 0;
	case KI_HELPER_UNREADABLE:
		return r->m->unreadable ? r->m->unreadable(r->m->arg, a[0], a[1]) : 0;
	case KI_HELPER_UDEPTH:
		return r->m->udepth;
	case KI_HELPER_UCALLER:
		return r->m->ucaller;
	case KI_HELPER_EVENT:
		return r->m->event ? r->m->event(r->m->arg, a[0]) : 0;
	default:
		return r->m->nanotime;
	}
}

static bool is_left_out(const struct run *r, const struct ki_node *n)
{
	return n->unless && r->locals[n->unless - 1];
}

static uint64_t call(const struct run *r, const struct ki_node *n)
{
	uint64_t a[KI_CALL_ARGS] = {0};

	for (unsigned int i = 0; i < n->nkids; i++)
		a[i] = eval(r, n->kid[i]);
	if (!r->m->may_call || !r->m->call)
		return 0;
	return ki_type_extend(n->type, r->m->call(r->m->arg, n->value, a, n->nkids));
}

static void string(const struct run *r, const struct ki_node *n, uint64_t *to)
{
	uint64_t addr = eval(r, n->kid[0]);
	size_t size = n->width * sizeof(*to);

	memset(to, 0, size);
	if (r->m->string)
		r->m->string(r->m->arg, addr, n->op, (char *)to, size - 1);
}

/* The first n children, strings as their words; how many words. */
static unsigned int words(const struct run *r, const struct ki_node *parent, unsigned int n,
			  uint64_t *v)
{
	unsigned int at = 0;

	for (unsigned int i = 0; i < n; i++) {
		if (parent->kid[i]->width)
			string(r, parent->kid[i], v + at);
		else
			v[at] = eval(r, parent->kid[i]);
		at += ki_node_words(parent->kid[i]);
	}
	return at;
}

/* The key, then the value, which a bucket may stand for. */
static uint64_t table(const struct run *r, const struct ki_node *n)
{
	uint64_t v[KI_TABLE_KEYS] = {0}, value = 0;
	unsigned int nkeys = words(r, n, n->nkeys, v);

	if (n->nkids > n->nkeys)
		value = eval(r, n->kid[n->nkeys]);
	if (is_left_out(r, n))
		return 0;
	if (n->lowered)
		value = ki_linear_bucket(&n->linear, ki_types[n->kid[n->nkeys]->type].sign, value);
	return r->m->table ? r->m->table(r->m->arg, n->what, v, nkeys, value) : 0;
}

static bool string_is(const struct run *r, const struct ki_node *n)
{
	uint64_t words[KI_STRING_WORDS];
	size_t len = strlen(n->name);

	string(r, n->kid[0], words);
	return !memcmp(words, n->name, len + !n->op);
}

static void exec(const struct run *r, const struct ki_node *n);

static uint64_t text(const struct run *r, const struct ki_node *n)
{
	uint64_t args[3] = {0};

	for (unsigned int i = 0; i < n->nkids; i++)
		args[i] = eval(r, n->kid[i]);
	return r->m->text ? r->m->text(r->m->arg, n->what, args) : 0;
}

static uint64_t stack(const struct run *r, const struct ki_node *n)
{
	uint32_t table = (uint32_t)(n->value >> 8);

	return r->m->stack ? r->m->stack(r->m->arg, table, n->value & 0xff, (enum ki_helper)n->op)
			   : 0;
}

static uint64_t eval(const struct run *r, const struct ki_node *n)
{
	switch (n->kind) {
	case NODE_CONST:
		return n->value;
	case NODE_VAR:
		return read_var(r, n);
	case NODE_FACT:
		return fact(r, n->op);
	case NODE_REG:
		return r->m->regs[n->op];
	case NODE_PARAM:
		return param(r, n->value);
	case NODE_LOAD:
		return ki_type_extend(n->type, load(r, eval(r, n->kid[0]), ki_types[n->type].size));
	case NODE_CAST:
		return ki_type_extend(n->type, eval(r, n->kid[0]));
	case NODE_UNARY:
		return ki_arith_unary(n->op, eval(r, n->kid[0]));
	case NODE_BINARY:
		return binary(r, n);
	case NODE_COND:
		return eval(r, n->kid[0]) ? eval(r, n->kid[1]) : eval(r, n->kid[2]);
	case NODE_HELPER:
		return helper(r, n);
	case NODE_TABLE_GET:
		return table(r, n);
	case NODE_STRING_IS:
		return string_is(r, n);
	case NODE_STACK:
		return stack(r, n);
	case NODE_TEXT:
		return text(r, n);
	case NODE_BEHIND:
		exec(r, n->kid[0]);
		return eval(r, n->kid[1]);
	default:
		return call(r, n);
	}
}

static bool is_less(const struct ki_node *n, uint64_t a, uint64_t b)
{
	return ki_arith_binary(KI_LT, ki_types[n->var.type].sign, a, b);
}

static uint64_t updated(const struct ki_node *n, uint64_t old, uint64_t v)
{
	v = ki_type_extend(n->var.type, v);
	switch (n->op) {
	case KI_UPDATE_ADD:
		return old + v;
	case KI_UPDATE_SUB:
		return old - v;
	case KI_UPDATE_OR:
		return old | v;
	case KI_UPDATE_AND:
		return old & v;
	default:
		return v;
	}
}

/* A minimum or maximum that stays is not written. */
static bool stays(const struct ki_node *n, uint64_t old, uint64_t v)
{
	v = ki_type_extend(n->var.type, v);
	if (n->op == KI_UPDATE_MIN)
		return !is_less(n, v, old);
	return n->op == KI_UPDATE_MAX && !is_less(n, old, v);
}

static void update(const struct run *r, const struct ki_node *n)
{
	uint64_t index = n->nkids > 1 ? eval(r, n->kid[1]) : 0;
	uint64_t value = eval(r, n->kid[0]);
	uint64_t *slot = slot_of(r, n, index), old;

	if (!slot || is_left_out(r, n))
		return;
	old = ki_type_extend(n->var.type, *slot);
	if (!stays(n, old, value))
		slot_write(n, slot, updated(n, old, value));
}

static void count(const struct run *r, const struct ki_node *n, uint32_t bucket)
{
	uint64_t *slot = slot_of(r, n, bucket);

	if (slot)
		(*slot)++;
}

static void record(const struct run *r, const struct ki_node *n)
{
	uint64_t v[KI_RECORD_WORDS] = {0};
	unsigned int n_words = words(r, n, n->nkids, v);

	if (r->m->record && !is_left_out(r, n))
		r->m->record(r->m->arg, (uint32_t)n->value, v, n_words);
}

static void exec(const struct run *r, const struct ki_node *n)
{
	switch (n->kind) {
	case NODE_LIST:
		for (const struct ki_node *k = n->first; k; k = k->next)
			exec(r, k);
		break;
	case NODE_IF:
		if (eval(r, n->kid[0]))
			exec(r, n->kid[1]);
		else if (n->nkids > 2)
			exec(r, n->kid[2]);
		break;
	case NODE_UPDATE:
		update(r, n);
		break;
	case NODE_LOG2:
		count(r, n, ki_log2_bucket(eval(r, n->kid[0])));
		break;
	case NODE_LINEAR:
		count(r, n,
		      ki_linear_bucket(&n->linear, ki_types[n->kid[0]->type].sign,
				       eval(r, n->kid[0])));
		break;
	case NODE_RECORD:
		record(r, n);
		break;
	case NODE_TABLE:
		table(r, n);
		break;
	default:
		eval(r, n->kid[0]);
	}
}

int ki_snippet_run(const struct ki_snippet *s, const struct ki_site_regs *site,
		   struct ki_machine *m, struct ki_err *err)
{
	static const struct ki_site_regs nowhere;
	uint64_t locals[KI_LOCALS] = {0};
	struct run r = {.m = m, .site = site ? site : &nowhere, .locals = locals};
	int ret = ki_snippet_check(s, r.site, err);

	if (!ret)
		exec(&r, s->body);
	return ret;
}
