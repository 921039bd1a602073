// SPDX-License-Identifier: LGPL-2.1-only OR BSD-2-Clause
/*
 * Calls about memory: of the kernel, of processes, and scratch memory.
 */
#include <errno.h>
#include <string.h>

#include "dlang/check/check.h"
#include "dlang/words/names.h"

#define FAIL(c, n, ...) ki_d_fail((c)->d, (c)->err, (n)->at, __VA_ARGS__)

static uint32_t most_bytes(const struct ki_d_checker *c)
{
	return (KI_RECORD_WORDS - 3) * ki_d_bytes_piece(c->d);
}

uint64_t ki_d_traced_size(struct ki_dlang *d, const struct ki_d_node *n)
{
	if (ki_d_is_struct(n->type))
		return ki_d_sizeof(&d->types, n->type);
	if (n->kind != KI_D_CAST || !ki_d_is_array(n->kid[0]->type) ||
	    ki_d_is_string(ki_d_pointed(&d->types, n->kid[0]->type)))
		return 0;
	return ki_d_sizeof(&d->types, n->kid[0]->type);
}

int ki_d_check_traced(struct ki_d_checker *c, struct ki_d_node *n)
{
	const uint64_t size = ki_d_sizeof(&c->d->types, n->type);

	if (!ki_d_is_struct(n->type)) {
		const bool text = ki_d_is_text(&c->d->types, n->type) && size > most_bytes(c);

		c->d->texts_used |= ki_d_is_array(n->type);
		return text ? ki_d_to_text(c, n) : ki_d_decay(c, n);
	}
	if (n->type.xlator || !size || size > most_bytes(c))
		return FAIL(c, n, "D_UNKNOWN", "trace() of a struct %s: trace() its members",
			    n->type.xlator ? "that is translated"
			    : size	   ? "that is larger than a record"
					   : "that has no size");
	c->d->texts_used = true;
	return ki_d_check_copy(c, n);
}

int ki_d_check_tracemem(struct ki_d_checker *c, struct ki_d_node *n)
{
	struct ki_d_node *at = n->kid[0], *size = at->next, *shown = size->next;
	int ret = 0;

	for (struct ki_d_node *k = at; !ret && k; k = k->next) {
		ret = ki_d_check_expr(c, k);
		if (!ret)
			ret = ki_d_decay(c, k);
	}
	if (ret)
		return ret;
	if (!ki_d_is_scalar(at->type))
		return FAIL(c, at, "D_TRACEMEM_ADDR", "tracemem() wants an address");
	if (!ki_d_is_scalar(size->type))
		return FAIL(c, size, "D_PROTO_ARG", "tracemem()'s size is a number");
	if (size->kind != KI_D_NUMBER || !size->value)
		return FAIL(c, size, "D_TRACEMEM_SIZE",
			    "tracemem()'s size is a constant that is not 0");
	if (size->value > most_bytes(c))
		return FAIL(c, size, "D_TRACEMEM_SIZE", "tracemem() of more than %u bytes",
			    most_bytes(c));
	if (shown && !ki_d_is_scalar(shown->type))
		return FAIL(c, shown, "D_TRACEMEM_DYNSIZE", "a number of bytes is expected");
	c->d->texts_used = true;
	return 0;
}

/* A packet may be told by a number, too. */
int ki_d_check_pcap(struct ki_d_checker *c, struct ki_d_node *n)
{
	int ret = 0;

	for (struct ki_d_node *k = n->kid[0]; !ret && k; k = k->next) {
		ret = ki_d_check_expr(c, k);
		if (!ret)
			ret = ki_d_decay(c, k);
		if (!ret && !ki_d_is_scalar(k->type))
			ret = FAIL(c, k, "D_PROTO_ARG", "pcap() wants %s",
				   k->next ? "a pointer to a sk_buff" : "a number of a protocol");
	}
	c->d->texts_used = true;
	return ret;
}

/* An address, a number; a string where one can be, or must. */
static int check_argument(struct ki_d_checker *c, struct ki_d_node *k, uint8_t op, bool first)
{
	int ret;

	if (first && op == KI_TEXT_COPY_OUT_TEXT)
		return ki_d_check_string(c, k, "copyoutstr");
	ret = ki_d_check_expr(c, k);
	if (!ret)
		ret = ki_d_decay(c, k);
	if (ret || ki_d_is_scalar(k->type) ||
	    (first && (op == KI_TEXT_COPY || op == KI_TEXT_COPY_OUT) && ki_d_is_string(k->type)))
		return ret;
	return FAIL(c, k, "D_PROTO_ARG", "a number is expected");
}

/* What copyinto() fills: not what stands in the kernel. */
static int check_filled(struct ki_d_checker *c, const struct ki_d_node *to)
{
	if (to->type.stars && (to->kind != KI_D_ADDRESS || to->type.scratch))
		return 0;
	return FAIL(c, to, "D_PROTO_ARG", "copyinto() fills memory of alloca()");
}

/* ---- arguments, one after the other ---- */

/* Slots in which it holds values: bits. */
static unsigned int slots_of(const struct ki_d_node *n)
{
	unsigned int slots = n->kind == KI_D_LET ? 1u << n->value : 0;

	for (unsigned int i = 0; i < 3; i++)
		for (const struct ki_d_node *k = n->kid[i]; k; k = k->next)
			slots |= slots_of(k);
	return slots;
}

/* The last one that is free, below `below`; KI_D_LETS: there is none. */
static unsigned int free_slot(const struct ki_d_checker *c, unsigned int used, unsigned int below)
{
	for (unsigned int i = below; i-- > c->lets;)
		if (!(used >> i & 1))
			return i;
	return KI_D_LETS;
}

static struct ki_d_node *held(struct ki_d_checker *c, const struct ki_d_node *n, unsigned int slot)
{
	struct ki_d_node *h = ki_d_node_new(&c->d->pool, KI_D_HELD, n->at, 0);

	if (h) {
		h->value = slot;
		h->type = n->type;
	}
	return h;
}

/* Which *n computes first, and holds it as *value. */
static int hold(struct ki_d_checker *c, struct ki_d_node **n, struct ki_d_node **value,
		unsigned int slot)
{
	struct ki_d_node *let = ki_d_node_new(&c->d->pool, KI_D_LET, (*value)->at, 0),
			 *h = held(c, *value, slot);

	if (!let || !h)
		return ki_d_no_memory(c->err);
	let->value = slot;
	let->kid[0] = *value;
	let->kid[1] = *n;
	let->type = (*n)->type;
	h->next = (*value)->next;
	(*value)->next = NULL;
	*value = h;
	*n = let;
	return 0;
}

/* The call that n is, as a node of its own: what n holds is to be around it. */
static struct ki_d_node *call_of(struct ki_d_checker *c, const struct ki_d_node *n)
{
	struct ki_d_node *call = ki_d_node_new(&c->d->pool, KI_D_CALL, n->at, strlen(n->text));

	if (!call)
		return NULL;
	strcpy(call->text, n->text);
	call->sym = n->sym;
	call->type = n->type;
	memcpy(call->kid, n->kid, sizeof(call->kid));
	return call;
}

static void become_let(struct ki_d_node *n, const struct ki_d_node *all)
{
	n->kind = KI_D_LET;
	n->value = all->value;
	n->kid[0] = all->kid[0];
	n->kid[1] = all->kid[1];
	n->kid[2] = NULL;
}

static int too_many(struct ki_d_checker *c, const struct ki_d_node *n)
{
	return FAIL(c, n, "D_UNKNOWN", "%s() holds too many values at once", n->text);
}

/* Is a copy of a variable's part made where its value is computed? */
static bool copies(const struct ki_d_node *n)
{
	bool found = ki_d_in_variable(n) && !ki_d_is_scalar(n->type);

	for (unsigned int i = 0; !found && i < 3; i++)
		for (const struct ki_d_node *k = n->kid[i]; !found && k; k = k->next)
			found = copies(k);
	return found;
}

/* Of three arguments that change variables, or are copies, the first two are held; used: slots. */
static int hold_arguments(struct ki_d_checker *c, struct ki_d_node *n, unsigned int used)
{
	struct ki_d_node *first = n->kid[0], *second = first->next, *call, *all;
	unsigned int slot, next;
	int ret = 0;

	if (second->kind == KI_D_HELD ||
	    !(copies(first) || ki_d_steps(second) || ki_d_steps(second->next)))
		return 0;
	used |= slots_of(n);
	slot = free_slot(c, used, KI_D_LETS);
	next = free_slot(c, used, slot);
	if (slot == KI_D_LETS || next == KI_D_LETS)
		return too_many(c, n);
	call = all = call_of(c, n);
	if (!call)
		return ki_d_no_memory(c->err);
	ret = hold(c, &all, &call->kid[0]->next, next);
	if (!ret && ki_d_is_scalar(first->type))
		ret = hold(c, &all, &call->kid[0], slot);
	if (!ret)
		become_let(n, all);
	return ret;
}

/* In what is filled, the part of a variable that has no address but a copy's: where its address
 * stands. NULL: there is none. */
static struct ki_d_node **filled_part(struct ki_d_node **to)
{
	struct ki_d_node *n = *to;
	const bool leads = n->kind == KI_D_CAST || n->kind == KI_D_ADDRESS;
	const struct ki_d_var *v;

	if (leads && ki_d_in_variable(n->kid[0])) {
		v = ki_d_part_root(n->kid[0])->sym.var;
		return v && !v->in_memory ? to : NULL;
	}
	if (n->kind == KI_D_CAST)
		return filled_part(&n->kid[0]);
	if (n->kind == KI_D_BINARY && n->type.stars)
		return filled_part(&n->kid[n->kid[0]->type.stars ? 0 : 1]);
	return NULL;
}

/* What bcopy() or copyinto() has filled is put back into the variable: the call has its address,
 * and where the copy is. */
static int fill(struct ki_d_checker *c, struct ki_d_node *n, bool last)
{
	struct ki_d_node *call = call_of(c, n), *all = call, **part;
	const unsigned int slot = free_slot(c, slots_of(n), KI_D_LETS);
	int ret;

	if (!call)
		return ki_d_no_memory(c->err);
	part = filled_part(last ? &call->kid[0]->next->next : &call->kid[0]->next);
	if (!part)
		return hold_arguments(c, n, 0);
	if (slot == KI_D_LETS)
		return too_many(c, n);
	ret = hold(c, &all, part, slot);
	if (ret)
		return ret;
	call->kid[1] = all->kid[0];
	call->kid[2] = held(c, all->kid[0], slot);
	if (!call->kid[2])
		return ki_d_no_memory(c->err);
	become_let(n, all);
	return hold_arguments(c, call, 1u << slot);
}

/* alloca(), bcopy(), copyout() ... */
int ki_d_check_memory(struct ki_d_checker *c, struct ki_d_node *n)
{
	const uint8_t op = n->sym.function->number;
	const struct ki_d_node *size = op == KI_TEXT_ALLOCA ? n->kid[0] : n->kid[0]->next;
	const bool gives = op == KI_TEXT_ALLOCA || op == KI_TEXT_ALLOCA_USER;
	const bool destroys = op == KI_TEXT_COPY_OUT || op == KI_TEXT_COPY_OUT_TEXT;
	int ret = 0;

	for (struct ki_d_node *k = n->kid[0]; !ret && k; k = k->next)
		ret = check_argument(c, k, op, k == n->kid[0]);
	if (!ret && op == KI_TEXT_COPY_USER)
		ret = check_filled(c, size->next);
	c->d->texts_used = true;
	c->d->scratch_used |= !destroys;
	c->d->destroys |= destroys;
	if (ret)
		return ret;
	if (gives && size->kind == KI_D_NUMBER && size->value > (uint64_t)c->d->set.scratchsize)
		return FAIL(c, size, "D_ALLOCA_SIZE",
			    "%s() of more than %u bytes: option scratchsize", n->text,
			    (unsigned int)c->d->set.scratchsize);
	n->type = (struct ki_d_type){.base = KI_D_VOID, .stars = gives, .scratch = gives};
	if (op != KI_TEXT_COPY && op != KI_TEXT_COPY_USER)
		return 0;
	return n->kid[1] ? 0 : fill(c, n, op == KI_TEXT_COPY_USER);
}

static struct ki_d_node *call(struct ki_d_checker *c, uint32_t at, const char *name,
			      struct ki_d_node *first)
{
	struct ki_d_node *n = ki_d_node_new(&c->d->pool, KI_D_CALL, at, strlen(name)),
			 *size = ki_d_node_new(&c->d->pool, KI_D_NUMBER, at, 0);

	if (!n || !size)
		return NULL;
	strcpy(n->text, name);
	size->type = ki_d_int(KI_U64);
	size->value = ki_d_strsize(c->d);
	n->kid[0] = first ? first : size;
	if (first)
		first->next->next = size;
	return n;
}

/* POINTER = STRING becomes POINTER = alloca(), bcopy(STRING, POINTER): it leads to the bytes. */
static int become_copy(struct ki_d_checker *c, struct ki_d_node *n)
{
	struct ki_d_node *set = ki_d_node_new(&c->d->pool, KI_D_ASSIGN, n->at, 0),
			 *to = ki_d_copy(c->d, n->kid[0], NULL, NULL, UINT32_MAX);

	if (!set || !to)
		return ki_d_no_memory(c->err);
	set->op = KI_BINARIES;
	set->kid[0] = n->kid[0];
	set->kid[1] = call(c, n->at, "alloca", NULL);
	n->kid[1]->next = to;
	n->kid[1] = call(c, n->at, "bcopy", n->kid[1]);
	n->kind = KI_D_COMMA;
	n->op = 0;
	n->kid[0] = set;
	return set->kid[1] && n->kid[1] ? ki_d_check_expr(c, n) : ki_d_no_memory(c->err);
}

/* (char *)STRING: held = alloca(), bcopy(STRING, held), held. */
int ki_d_become_bytes(struct ki_d_checker *c, struct ki_d_node *n, struct ki_d_node *text)
{
	struct ki_d_node *bytes = ki_d_node_new(&c->d->pool, KI_D_COMMA, n->at, 0);
	const unsigned int slot = free_slot(c, slots_of(n), KI_D_LETS);
	const struct ki_d_type type = n->about;
	int ret;

	if (slot == KI_D_LETS)
		return FAIL(c, n, "D_CAST_INVAL", "too many values are held at once");
	n->kid[0] = call(c, n->at, "alloca", NULL);
	if (!bytes || !n->kid[0])
		return ki_d_no_memory(c->err);
	ret = ki_d_check_expr(c, n->kid[0]);
	n->type = type;
	n->type.scratch = true;
	text->next = held(c, n, slot);
	bytes->kid[1] = held(c, n, slot);
	if (ret || !text->next || !bytes->kid[1])
		return ret ? ret : ki_d_no_memory(c->err);
	bytes->kid[0] = call(c, n->at, "bcopy", text);
	ret = bytes->kid[0] ? ki_d_check_expr(c, bytes->kid[0]) : ki_d_no_memory(c->err);
	bytes->type = n->type;
	n->kind = KI_D_LET;
	n->value = slot;
	n->kid[1] = bytes;
	return ret;
}

/* Is it one of a string to a variable that is a pointer of bytes? */
static int check_pointer_store(struct ki_d_checker *c, struct ki_d_node *n, bool *is_one)
{
	const struct ki_d_node *to = n->kid[0];
	const bool named = (to->kind == KI_D_NAME || to->kind == KI_D_THIS) && n->op == KI_BINARIES;
	const struct ki_d_var *v = named && n == c->statement ? ki_d_var_find(c->d, to) : NULL;
	struct ki_d_node *from;
	int ret;

	if (!v || v->nkeys || v->type.stars != 1 || v->type.base != KI_D_INT ||
	    ki_d_size(ki_d_int((enum ki_type)v->type.num)) != 1)
		return 0;
	from = ki_d_copy(c->d, n->kid[1], NULL, NULL, UINT32_MAX);
	ret = from ? ki_d_check_expr(c, from) : ki_d_no_memory(c->err);
	if (ret || !ki_d_is_string(from->type))
		return ret;
	*is_one = true;
	return become_copy(c, n);
}

int ki_d_check_string_store(struct ki_d_checker *c, struct ki_d_node *n, bool *is_one)
{
	struct ki_d_node *to = n->kid[0], *at, *size;
	int ret;

	*is_one = false;
	ret = check_pointer_store(c, n, is_one);
	if (ret || *is_one)
		return ret;
	if (to->kind != KI_D_DEREF || n->op != KI_BINARIES || n != c->statement)
		return 0;
	at = ki_d_copy(c->d, to->kid[0], NULL, NULL, UINT32_MAX);
	size = ki_d_node_new(&c->d->pool, KI_D_NUMBER, n->at, 0);
	ret = at && size ? ki_d_check_expr(c, at) : ki_d_no_memory(c->err);
	if (ret || at->type.stars != 1 || at->type.base != KI_D_STRING || !at->type.scratch)
		return ret;
	*is_one = true;
	size->type = ki_d_int(KI_U64);
	size->value = ki_d_strsize(c->d);
	n->kind = KI_D_CALL;
	n->sym.function = ki_d_function_find("bcopy");
	n->kid[0] = n->kid[1];
	n->kid[1] = NULL;
	n->kid[0]->next = at;
	at->next = size;
	n->type = (struct ki_d_type){0};
	c->d->texts_used = c->d->scratch_used = true;
	return ki_d_check_string(c, n->kid[0], "an assignment");
}
