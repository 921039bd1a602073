// SPDX-License-Identifier: LGPL-2.1-only OR BSD-2-Clause
/*
 * Constant propagation through x86's integer instructions (Wegman and Zadeck, "Constant Propagation
 * with Conditional Branches", TOPLAS 1991, gives the frame; fold.c has its conditional part). What
 * is not computed here is not known after it; flags that the manual leaves undefined are not
 * either (SDM volume 2, each instruction's "Flags Affected").
 */
#include "evolve/special/constant.h"

#include <string.h>

/* Kept by a call: rbx, rsp, rbp, r12 to r15. */
#define KEPT                                                                                       \
	(1u << KI_RBX | 1u << KI_RSP | 1u << KI_RBP | 1u << KI_R12 | 1u << KI_R13 | 1u << KI_R14 | \
	 1u << KI_R15)

static uint64_t mask_of(uint8_t size)
{
	return size >= 8 ? UINT64_MAX : (1ull << 8 * size) - 1;
}

static int64_t extend(uint64_t v, uint8_t size)
{
	const unsigned int spare = 64 - 8 * size;

	return (int64_t)(v << spare) >> spare;
}

static bool knows(const struct ki_constants *c, uint8_t reg)
{
	return c->known & 1u << reg;
}

static bool knows_half(const struct ki_constants *c, uint8_t reg)
{
	return c->half & 1u << reg;
}

/* size: so many bytes of it are wanted. */
static bool knows_part(const struct ki_constants *c, uint8_t reg, uint8_t size)
{
	return size <= 4 ? knows_half(c, reg) : knows(c, reg);
}

static bool address_of(const struct ki_constants *c, const struct ki_operand *o, uint8_t size,
		       uint64_t *out)
{
	*out = (uint64_t)o->number;
	if (o->elsewhere || (o->base != KI_OPERAND_NO_REG && !knows_part(c, o->base, size)) ||
	    (o->index != KI_OPERAND_NO_REG && !knows_part(c, o->index, size)))
		return false;
	if (o->base != KI_OPERAND_NO_REG)
		*out += c->v[o->base];
	if (o->index != KI_OPERAND_NO_REG)
		*out += c->v[o->index] * o->scale;
	return true;
}

bool ki_constants_value(const struct ki_constants *c, const struct ki_operand *o,
			const struct ki_constant_memory *m, uint64_t *out)
{
	uint64_t addr;

	*out = 0;
	switch (o->kind) {
	case KI_OPERAND_NUMBER:
		*out = (uint64_t)o->number;
		return true;
	case KI_OPERAND_REGISTER:
		*out = (c->v[o->reg] >> (o->high ? 8 : 0)) & mask_of(o->size);
		return knows_part(c, o->reg, o->size);
	case KI_OPERAND_MEMORY:
		return m && o->size <= 8 && address_of(c, o, 8, &addr) &&
		       m->read(m->arg, addr, out, o->size);
	default:
		return false;
	}
}

static void forget(struct ki_constants *c, const struct ki_operation *op)
{
	c->known &= (uint16_t)~op->writes;
	c->half &= (uint16_t)~op->writes;
	c->flags_known &= (uint8_t)~op->flags;
}

/* Of a register of 8 or 16 bits, the others stay; of 32 bits, the upper half becomes 0. */
static void put(struct ki_constants *c, const struct ki_operand *o, uint64_t v,
		const struct ki_constants *old)
{
	const uint64_t mask = mask_of(o->size) << (o->high ? 8 : 0);
	const uint16_t bit = (uint16_t)(1u << (o->reg & 15));

	if (o->kind != KI_OPERAND_REGISTER)
		return;
	if (o->size >= 4) {
		c->v[o->reg] = v & mask_of(o->size);
		c->known |= bit;
		c->half |= bit;
		return;
	}
	c->v[o->reg] = (c->v[o->reg] & ~mask) | ((v << (o->high ? 8 : 0)) & mask);
	c->known |= old->known & bit;
	c->half |= old->half & bit;
}

static void know_flags(struct ki_constants *c, uint8_t which, uint8_t flags)
{
	c->flags_known |= which;
	c->flags = (uint8_t)((c->flags & ~which) | (flags & which));
}

#define RESULT_FLAGS (KI_FLAG_ZF | KI_FLAG_SF | KI_FLAG_PF)

static uint8_t flags_of(uint64_t r, uint8_t size)
{
	uint8_t f = 0;

	if (!(r & mask_of(size)))
		f |= KI_FLAG_ZF;
	if (extend(r, size) < 0)
		f |= KI_FLAG_SF;
	if (!(__builtin_popcountll(r & 0xff) & 1))
		f |= KI_FLAG_PF;
	return f;
}

struct values {
	uint64_t a, b, third; /* first, second, third operand */
	uint8_t size;
};

static uint64_t add(struct ki_constants *c, const struct values *v, bool carry)
{
	const uint64_t r = (v->a + v->b) & mask_of(v->size);
	uint8_t f = flags_of(r, v->size);

	f |= r < v->a ? KI_FLAG_CF : 0;
	f |= (v->a ^ v->b ^ r) & 0x10 ? KI_FLAG_AF : 0;
	f |= extend((v->a ^ r) & (v->b ^ r), v->size) < 0 ? KI_FLAG_OF : 0;
	know_flags(c, KI_FLAG_ALL & ~(carry ? 0 : KI_FLAG_CF), f);
	return r;
}

static uint64_t sub(struct ki_constants *c, const struct values *v, bool carry)
{
	const uint64_t r = (v->a - v->b) & mask_of(v->size);
	uint8_t f = flags_of(r, v->size);

	f |= v->a < v->b ? KI_FLAG_CF : 0;
	f |= (v->a ^ v->b ^ r) & 0x10 ? KI_FLAG_AF : 0;
	f |= extend((v->a ^ v->b) & (v->a ^ r), v->size) < 0 ? KI_FLAG_OF : 0;
	know_flags(c, KI_FLAG_ALL & ~(carry ? 0 : KI_FLAG_CF), f);
	return r;
}

static uint64_t logic(struct ki_constants *c, const struct values *v, uint64_t r)
{
	know_flags(c, RESULT_FLAGS | KI_FLAG_CF | KI_FLAG_OF, flags_of(r, v->size));
	return r;
}

/* The count's low bits count; a count of 0 changes no flag. CF and OF are left unknown. */
static uint64_t shift(struct ki_constants *c, uint8_t kind, const struct values *v,
		      const struct ki_constants *old)
{
	const unsigned int n = v->b & (v->size == 8 ? 63 : 31);
	uint64_t r = v->a;

	if (!n) {
		c->flags_known = old->flags_known;
		c->flags = old->flags;
		return r;
	}
	if (kind == KI_OP_SHL)
		r = v->a << n;
	else if (kind == KI_OP_SHR)
		r = v->a >> n;
	else
		r = (uint64_t)(extend(v->a, v->size) >> n);
	know_flags(c, RESULT_FLAGS, flags_of(r, v->size));
	return r;
}

/* and, test, or, xor; false: test, which gives flags alone. */
static bool compute_logic(struct ki_constants *c, uint8_t kind, const struct values *v, uint64_t *r)
{
	const uint64_t both = v->a & v->b, any = v->a | v->b;

	*r = logic(c, v, kind == KI_OP_OR ? any : kind == KI_OP_XOR ? any & ~both : both);
	return kind != KI_OP_TEST;
}

/* The result; false: none, or it is not known. */
static bool compute(struct ki_constants *c, const struct ki_operation *op, struct values *v,
		    const struct ki_constants *old, uint64_t *r)
{
	switch (op->kind) {
	case KI_OP_MOVE:
		*r = v->b;
		return true;
	case KI_OP_SIGN:
		*r = (uint64_t)extend(v->b, op->v[1].size);
		return true;
	case KI_OP_ADD:
		*r = add(c, v, true);
		return true;
	case KI_OP_SUB:
	case KI_OP_CMP:
		*r = sub(c, v, true);
		return op->kind == KI_OP_SUB;
	case KI_OP_AND:
	case KI_OP_TEST:
	case KI_OP_OR:
	case KI_OP_XOR:
		return compute_logic(c, op->kind, v, r);
	case KI_OP_SHL:
	case KI_OP_SHR:
	case KI_OP_SAR:
		*r = shift(c, op->kind, v, old);
		return true;
	case KI_OP_BSR:
		know_flags(c, KI_FLAG_ZF, v->b ? 0 : KI_FLAG_ZF);
		*r = v->b ? 63u - (unsigned int)__builtin_clzll(v->b) : 0;
		return v->b;
	case KI_OP_MUL:
		*r = v->b * v->third;
		return true;
	default:
		return false;
	}
}

/* Of one operand: it is the first one, and the second is 1, 0 or nothing. */
static bool compute_one(struct ki_constants *c, const struct ki_operation *op, uint64_t a,
			uint64_t *r)
{
	struct values v = {.a = a, .b = 1, .size = op->v[0].size};

	switch (op->kind) {
	case KI_OP_INC:
		*r = add(c, &v, false);
		return true;
	case KI_OP_DEC:
		*r = sub(c, &v, false);
		return true;
	case KI_OP_NEG:
		v = (struct values){.b = a, .size = v.size};
		*r = sub(c, &v, true);
		return true;
	case KI_OP_NOT:
		*r = ~a;
		return true;
	default:
		return false;
	}
}

static bool has_one(uint8_t kind)
{
	return kind >= KI_OP_INC && kind <= KI_OP_NOT;
}

/* Does the result depend on the first operand? */
static bool needs_first(uint8_t kind)
{
	return kind != KI_OP_MOVE && kind != KI_OP_SIGN && kind != KI_OP_BSR && kind != KI_OP_MUL;
}

static void step_usual(struct ki_constants *c, const struct ki_operation *op,
		       const struct ki_constants *old, const struct ki_constant_memory *m)
{
	struct values v = {.size = op->v[0].size};
	bool first = ki_constants_value(old, &op->v[0], m, &v.a);
	uint64_t r = 0;

	if (has_one(op->kind)) {
		if (first && compute_one(c, op, v.a, &r))
			put(c, &op->v[0], r, old);
		return;
	}
	if ((needs_first(op->kind) && !first) || !ki_constants_value(old, &op->v[1], m, &v.b) ||
	    (op->kind == KI_OP_MUL && !ki_constants_value(old, &op->v[2], m, &v.third)))
		return;
	if (op->kind != KI_OP_SIGN)
		v.b &= mask_of(v.size);
	if (compute(c, op, &v, old, &r))
		put(c, &op->v[0], r, old);
}

/* mov of a register of which half is known. */
static void move_half(struct ki_constants *c, const struct ki_operation *op,
		      const struct ki_constants *old)
{
	const struct ki_operand *to = &op->v[0], *from = &op->v[1];

	if (op->kind != KI_OP_MOVE || to->kind != KI_OPERAND_REGISTER || to->size != 8 ||
	    from->kind != KI_OPERAND_REGISTER || from->size != 8 || knows(c, to->reg) ||
	    !knows_half(old, from->reg))
		return;
	c->v[to->reg] = old->v[from->reg];
	c->half |= (uint16_t)(1u << to->reg);
}

static void step_condition(struct ki_constants *c, const struct ki_operation *op,
			   const struct ki_constants *old, const struct ki_constant_memory *m)
{
	const int is = ki_constants_condition(old, op->condition);
	const struct ki_operand *to = &op->v[0];
	uint64_t r;

	if (is < 0)
		return;
	if (op->kind == KI_OP_SET)
		put(c, to, (uint64_t)is, old);
	else if (ki_constants_value(old, is ? &op->v[1] : to, m, &r))
		put(c, to, r, old);
}

void ki_constants_step(struct ki_constants *c, const struct ki_operation *op,
		       const struct ki_constant_memory *m)
{
	const struct ki_constants old = *c;
	uint64_t addr;

	forget(c, op);
	switch (op->kind) {
	case KI_OP_OTHER:
	case KI_OP_JUMP:
		return;
	case KI_OP_CLEAR:
		put(c, &op->v[0], 0, &old);
		know_flags(c, RESULT_FLAGS | KI_FLAG_CF | KI_FLAG_OF, KI_FLAG_ZF | KI_FLAG_PF);
		return;
	case KI_OP_LEA:
		if (address_of(&old, &op->v[1], op->v[0].size, &addr))
			put(c, &op->v[0], addr, &old);
		return;
	case KI_OP_SET:
	case KI_OP_WHEN:
		step_condition(c, op, &old, m);
		return;
	default:
		step_usual(c, op, &old, m);
		move_half(c, op, &old);
	}
}

void ki_constants_call(struct ki_constants *c)
{
	c->known &= KEPT;
	c->half &= KEPT;
	c->flags_known = 0;
}

bool ki_constants_join(struct ki_constants *to, const struct ki_constants *from)
{
	const struct ki_constants old = *to;

	to->known &= from->known;
	to->half &= from->half;
	for (int i = 0; i < 16; i++) {
		if (to->v[i] != from->v[i])
			to->known &= (uint16_t) ~(1u << i);
		if ((uint32_t)to->v[i] != (uint32_t)from->v[i])
			to->half &= (uint16_t) ~(1u << i);
	}
	to->flags_known &= from->flags_known & (uint8_t) ~(to->flags ^ from->flags);
	return to->known != old.known || to->half != old.half || to->flags_known != old.flags_known;
}

int ki_constants_condition(const struct ki_constants *c, uint8_t condition)
{
	const uint8_t needs = ki_condition_flags(condition);

	if ((c->flags_known & needs) != needs)
		return -1;
	return ki_condition_holds(condition, c->flags);
}
