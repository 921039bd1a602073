// SPDX-License-Identifier: LGPL-2.1-only OR BSD-2-Clause
/*
 * What a place knows without arguments: the task, the time, the CPU.
 */
#include <errno.h>
#include <string.h>

#include "snippet/node.h"

#define COMM_LEN 16

/* Of a thread they are what it has where it is. */
static bool is_of_place(enum ki_fact fact)
{
	return fact == KI_FACT_RETVAL || fact == KI_FACT_ADDR || fact == KI_FACT_PLACE;
}

struct ki_node *ki_expr_fact(struct ki_snippet *s, enum ki_fact fact)
{
	struct ki_node *n;

	if (s->thread && is_of_place(fact))
		return ki_thread_fact(s, fact);
	n = ki_tree_node(s, NODE_FACT);
	if (!n)
		return NULL;
	if ((unsigned int)fact >= KI_FACTS)
		return ki_tree_fail(s, -EINVAL, "no such fact: %u", fact);
	n->op = fact;
	n->type = ki_fact_types[fact];
	return n;
}

static struct ki_node *comm_word(struct ki_snippet *s, enum ki_fact fact, const char *bytes)
{
	uint64_t word;

	memcpy(&word, bytes, sizeof(word));
	return ki_expr_binary(s, KI_EQ, ki_expr_fact(s, fact), ki_expr_const(s, KI_U64, word));
}

/* The kernel fills a name up with zeros, so of a short one the first word says all. */
struct ki_node *ki_expr_comm_is(struct ki_snippet *s, const char *name)
{
	char bytes[COMM_LEN] = {0};
	size_t len = name ? strlen(name) : COMM_LEN;

	if (s->err.code)
		return NULL;
	if (len >= COMM_LEN)
		return ki_tree_fail(s, -EINVAL, "no task's name has more than %d bytes",
				    COMM_LEN - 1);
	memcpy(bytes, name, len);
	if (len < 8)
		return comm_word(s, KI_FACT_COMM0, bytes);
	return ki_expr_binary(s, KI_LAND, comm_word(s, KI_FACT_COMM0, bytes),
			      comm_word(s, KI_FACT_COMM1, bytes + 8));
}

static struct ki_node *again(struct ki_snippet *s, const struct ki_node *n)
{
	return ki_expr_fact(s, n->op);
}

static uint64_t facts_of(const struct ki_node *n)
{
	return UINT64_C(1) << n->op;
}

static const char *foreign(const struct ki_node *n)
{
	static const bool known[KI_FACTS] = {
		[KI_FACT_RETVAL] = true, [KI_FACT_TSC] = true,	 [KI_FACT_CPU] = true,
		[KI_FACT_ADDR] = true,	 [KI_FACT_PLACE] = true,
	};

	if (known[n->op])
		return NULL;
	return n->op == KI_FACT_COMM0 || n->op == KI_FACT_COMM1 ? "comm" : ki_fact_names[n->op];
}

static int stands(const struct ki_node *n, const struct ki_site_regs *site, struct ki_err *err)
{
	if (n->op != KI_FACT_RETVAL || site->at_exit)
		return 0;
	return ki_err_reason(err, KI_R_NO_RETVAL, 0, "snippet: retval");
}

static bool is_clock(const struct ki_node *n)
{
	return n->op == KI_FACT_TSC || n->op == KI_FACT_CLOCK;
}

static uint16_t fixed(const struct ki_node *n)
{
	if (is_clock(n))
		return REG_BIT(KI_RAX) | REG_BIT(KI_RDX);
	return ki_fact_helper(n->op) ? ki_gen_fixed_args(0) : 0;
}

static int place_reg(const struct ki_node *n)
{
	return n->op == KI_FACT_RETVAL ? KI_RAX : -1;
}

static bool in_rax(const struct ki_node *n)
{
	return is_clock(n) || ki_fact_helper(n->op);
}

/* Facts that are fields of the task. */
static const struct {
	uint8_t size;
	uint64_t field;
} fields[KI_FACTS] = {
	[KI_FACT_PID] = {4, KI_FIELD_PID},	 [KI_FACT_TGID] = {4, KI_FIELD_TGID},
	[KI_FACT_COMM0] = {8, KI_FIELD_COMM},	 [KI_FACT_COMM1] = {8, KI_FIELD_COMM | 8ull << 32},
	[KI_FACT_MINFLT] = {8, KI_FIELD_MINFLT}, [KI_FACT_MAJFLT] = {8, KI_FIELD_MAJFLT},
	[KI_FACT_NVCSW] = {8, KI_FIELD_NVCSW},	 [KI_FACT_NIVCSW] = {8, KI_FIELD_NIVCSW},
};

/* A field of the current task. That with base %r12 would have another form: not in %r12. */
static void task_field(struct gen *g, unsigned int size, uint64_t field, unsigned int dest)
{
	unsigned int reg = dest == KI_R12 ? ki_gen_alloc(g, REG_BIT(KI_R12)) : dest;
	const struct rm task = {.mode = RM_GS, .fix = KI_FIX_SELF, .target = KI_SELF_TASK};
	const struct rm m = {
		.mode = RM_FIELD, .reg = (uint8_t)reg, .fix = KI_FIX_FIELD, .target = field};

	ki_asm_mov(&g->a, 8, reg, &task);
	ki_asm_mov(&g->a, size, reg, &m);
	if (reg == dest)
		return;
	ki_asm_mov(&g->a, 8, dest, &(struct rm){.mode = RM_REG, .reg = (uint8_t)reg});
	ki_gen_release(g, reg);
}

static bool memory(struct gen *g, const struct ki_node *n, struct opnd *o)
{
	const struct rm task = {.mode = RM_GS, .fix = KI_FIX_SELF, .target = KI_SELF_TASK};

	if (fields[n->op].size != 4)
		return false;
	*o = (struct opnd){.kind = OPND_MEM, .own = true};
	o->m.mode = RM_FIELD;
	o->m.reg = (uint8_t)ki_gen_alloc(g, REG_BIT(KI_R12)); /* that would have another form */
	o->m.fix = KI_FIX_FIELD;
	o->m.target = fields[n->op].field;
	ki_asm_mov(&g->a, 8, o->m.reg, &task);
	return true;
}

static void value(struct gen *g, const struct ki_node *n, unsigned int dest)
{
	struct rm self = {.mode = RM_GS, .fix = KI_FIX_SELF, .target = KI_SELF_TASK};

	switch (n->op) {
	case KI_FACT_TSC:
		ki_gen_tsc(g, dest);
		break;
	case KI_FACT_CLOCK:
		ki_gen_clock(g, dest);
		break;
	case KI_FACT_NANOTIME:
	case KI_FACT_UID:
	case KI_FACT_CGROUP:
		ki_gen_helper(g, ki_fact_helper(n->op), NULL, 0, dest);
		break;
	case KI_FACT_CPU:
		if (g->site->user) {
			ki_gen_user_cpu(g, dest);
			break;
		}
		self.target = KI_SELF_CPU;
		ki_asm_mov(&g->a, 4, dest, &self);
		break;
	case KI_FACT_TASK:
		ki_asm_mov(&g->a, 8, dest, &self);
		break;
	case KI_FACT_ADDR:
		ki_asm_const(&g->a, dest, g->site->addr);
		break;
	case KI_FACT_PLACE:
		ki_asm_const(&g->a, dest, g->site->place);
		break;
	default:
		task_field(g, fields[n->op].size, fields[n->op].field, dest);
	}
}

static uint64_t run(const struct run *r, const struct ki_node *n)
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
	return facts[n->op];
}

static void write(FILE *f, const struct ki_node *n, unsigned int outside)
{
	(void)outside;
	fputs(ki_fact_names[n->op], f);
}

const struct ki_node_ops ki_node_fact = {
	.again = again,
	.facts = facts_of,
	.foreign_of = foreign,
	.stands = stands,
	.fixed = fixed,
	.place_reg = place_reg,
	.in_rax = in_rax,
	.memory = memory,
	.value = value,
	.run = run,
	.write = write,
};
