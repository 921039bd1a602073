// SPDX-License-Identifier: GPL-2.0-only
/*
 * stays EACH: of each EACHth function of the running kernel, every window that ends in a call gets
 * a counter; some are moved as a whole. Then patches are read, from where the springboards in the
 * text lead: of a call that no springboard covers the text must have the bytes, and the patch a
 * jump to it. Prints how many calls
 *
 *	stays	 are executed in their place
 *	covered	 are not, because their window's springboard stands there, and have a copy that is
 *		 a call too
 *	wrong	 are not, and could be; or are under somebody's bounce
 *
 * of single windows, and of moved functions.
 */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "code/decode/decode.h"
#include "kerninst/splice.h"

#define ROOM  (1 << 20) /* bytes of a patch, at most */
#define PAGE  4096
#define MOVES 40 /* functions that are moved */
#define CALLS 4	 /* that each of these has, at least */

static struct ki_target *target;
static struct ki_err err;
static uint32_t counter;

struct tally {
	size_t stays, covered, wrong;
};

/* A function with code in it. */
struct subject {
	struct ki_function *fn;
	struct ki_spans spans;
	uint32_t *ids; /* of each window: its chunk, or KI_NONE */
	struct ki_plan *plan;
	bool moved; /* has a plan of its own */
};

static void die(const char *what)
{
	fprintf(stderr, "stays: %s: %s\n", what, err.msg);
	exit(2);
}

static const struct ki_insn *call_of(const struct subject *s, const struct ki_span *v)
{
	const struct ki_insn *last = &s->fn->insns[v->first + v->count - 1];
	bool call = last->kind == KI_INSN_CALL || last->kind == KI_INSN_CALL_INDIRECT;

	return call ? last : NULL;
}

static uint32_t add_counter(const struct subject *s, const struct ki_span *v)
{
	struct ki_place place = {.addr = v->addr, .where = KI_BEFORE, .flags_live = true};
	struct ki_code code;
	uint32_t id;

	ki_snippet_count(&code, counter, true);
	return ki_plan_add(s->plan, &(struct ki_insertion){s->fn, &s->spans, &place, 0}, &code, &id,
			   &err)
		       ? KI_NONE
		       : id;
}

static void put_in(struct subject *s)
{
	for (size_t i = 0; i < s->spans.n; i++) {
		bool wanted = s->moved ? !i : call_of(s, &s->spans.v[i]) != NULL;

		s->ids[i] = wanted ? add_counter(s, &s->spans.v[i]) : KI_NONE;
	}
}

static void read_live(uint64_t addr, uint8_t *out, size_t len)
{
	if (ki_target_read(target, addr, out, len, KI_VIEW_LIVE, &err))
		die("read");
}

/* Where a jump in the text leads; a breakpoint: nobody can tell. */
static uint64_t follow(uint64_t addr)
{
	struct ki_decoded d;
	uint8_t bytes[16];

	read_live(addr, bytes, sizeof(bytes));
	ki_decode(bytes, sizeof(bytes), addr, &d);
	return d.in.kind == KI_INSN_JMP ? d.in.target : 0;
}

static uint64_t patch_of(const struct ki_span *v)
{
	uint64_t to = v->board == KI_BOARD_TRAP ? 0 : follow(v->addr);

	return to && to == v->bounce ? follow(to) : to;
}

/* Does code from here on, to the first breakpoint that control could come to, jump to addr? */
static bool leads_to(const uint8_t *code, size_t len, uint64_t at, uint64_t addr)
{
	static const uint8_t call_over[] = {0xe8, 1, 0, 0, 0};
	struct ki_decoded d;

	for (size_t i = 0; i + 16 < len; i += d.in.len) {
		ki_decode(code + i, 16, at + i, &d);
		if (d.in.kind == KI_INSN_JMP && d.in.target == addr)
			return true;
		if ((d.traits & KI_TRAIT_INT3) &&
		    (i < sizeof(call_over) ||
		     memcmp(code + i - sizeof(call_over), call_over, sizeof(call_over)) != 0))
			return false;
	}
	return false;
}

/* Is there a call over a byte, of which the return address becomes that after the original? */
static bool is_copied(const uint8_t *code, size_t len, const struct ki_insn *call)
{
	uint8_t want[] = {0xe8, 1, 0, 0, 0, 0xcc, 0x48, 0xc7, 0x04, 0x24, 0, 0, 0, 0};
	uint32_t ret = (uint32_t)(call->addr + call->len);

	memcpy(want + sizeof(want) - sizeof(ret), &ret, sizeof(ret));
	return memmem(code, len, want, sizeof(want));
}

/* From a patch on, as far as the heap has memory, at most `room` bytes; how many. */
static size_t read_patch(uint64_t at, uint8_t *out, size_t room)
{
	const struct ki_info *info = ki_target_info(target);
	size_t len = 0, part;

	if (at < info->heap_start || at >= info->heap_end)
		return 0;
	for (; len < room; len += part) {
		part = PAGE - (at + len) % PAGE;
		part = part < room - len ? part : room - len;
		if (ki_target_read(target, at + len, out + len, part, KI_VIEW_LIVE, &err))
			break;
	}
	return len;
}

static bool is_bounced_on(const struct subject *s, const struct ki_insn *call)
{
	uint8_t now[16];

	read_live(call->addr, now, call->len);
	return memcmp(now, s->fn->bytes + (call->addr - s->fn->start), call->len) != 0;
}

static void judge(const struct subject *s, const struct ki_span *v, const uint8_t *code, size_t len,
		  uint64_t at, struct tally *t)
{
	static const uint8_t covers[KI_BOARD_KINDS] = {5, 2, 1};
	const struct ki_insn *call = call_of(s, v);
	bool intact = call && !is_bounced_on(s, call);

	if (!call)
		return;
	if (leads_to(code, len, at, call->addr) && intact) {
		t->stays++;
	} else if (call->addr - v->addr < covers[v->board] && !intact &&
		   is_copied(code, len, call)) {
		t->covered++;
	} else {
		t->wrong++;
		if (t->wrong < 5)
			fprintf(stderr,
				"%s+0x%llx: the patch at 0x%llx does not lead to the call\n",
				s->fn->symbol->name, (unsigned long long)(v->addr - s->fn->start),
				(unsigned long long)at);
	}
}

static void look_at(const struct subject *s, struct tally *t)
{
	static uint8_t code[ROOM];
	uint64_t at = 0;
	size_t len = 0;

	for (size_t i = 0; i < s->spans.n; i++) {
		const struct ki_span *v = &s->spans.v[i];

		if (s->ids[i] != KI_NONE && !ki_plan_refusal(s->plan, s->ids[i])) {
			at = patch_of(v);
			len = at ? read_patch(at, code, s->moved ? ROOM : 512) : 0;
		} else if (!s->moved) {
			continue;
		}
		if (len)
			judge(s, v, code, len, at, t);
	}
}

static struct ki_plan *new_plan(void)
{
	struct ki_plan *plan;

	if (ki_plan_new(&plan))
		die("no memory");
	return plan;
}

static void apply(struct ki_plan *plan)
{
	if (ki_plan_apply(plan, target, true, &err))
		die("apply");
}

static bool open_subject(const struct ki_symbol *sym, struct subject *s)
{
	if (sym->alias || ki_function_analyze(target, sym, &s->fn, &err))
		return false;
	if (ki_spans_find(s->fn, &s->spans, &err))
		die(sym->name);
	s->ids = calloc(s->spans.n + 1, sizeof(*s->ids));
	if (!s->ids)
		die("no memory");
	return true;
}

static void close_subject(struct subject *s)
{
	free(s->ids);
	ki_spans_free(&s->spans);
	ki_function_free(s->fn);
}

/* Moves the function, if it can be and has calls; looks; takes it out again. */
static bool move(struct subject *s, struct tally *t)
{
	size_t calls = 0, moved;

	for (size_t i = 0; i < s->spans.n; i++)
		calls += call_of(s, &s->spans.v[i]) != NULL;
	if (calls < CALLS)
		return false;
	s->plan = new_plan();
	s->moved = true;
	if (!ki_plan_move(s->plan, s->fn, &s->spans, &err)) {
		put_in(s);
		apply(s->plan);
	}
	moved = ki_plan_moved(s->plan);
	if (moved)
		look_at(s, t);
	if (ki_plan_remove(s->plan, target, &err))
		die("remove");
	ki_plan_free(s->plan);
	s->moved = false;
	return moved;
}

static void print(const char *what, const struct tally *t)
{
	printf("%s stays %zu covered %zu wrong %zu\n", what, t->stays, t->covered, t->wrong);
}

/* Each has its turn alone, if it is moved, and then all are there together. */
static void try_all(size_t each, struct tally *single, struct tally *moved)
{
	size_t n, count = 0, moves = 0;
	const struct ki_symbol *syms = ki_target_symbols(target, &n);
	struct subject *v = calloc(n / each + 1, sizeof(*v));
	struct ki_plan *plan = new_plan();

	if (!v)
		die("no memory");
	for (size_t i = 0; i < n; i += each) {
		struct subject *s = &v[count];

		if (!open_subject(&syms[i], s))
			continue;
		moves += moves < MOVES && move(s, moved);
		s->plan = plan;
		put_in(s);
		count++;
	}
	apply(plan);
	for (size_t i = 0; i < count; i++)
		look_at(&v[i], single);
	if (ki_plan_remove(plan, target, &err))
		die("remove");
	for (size_t i = 0; i < count; i++)
		close_subject(&v[i]);
	free(v);
	ki_plan_free(plan);
}

int main(int argc, char **argv)
{
	size_t each = argc == 2 ? strtoul(argv[1], NULL, 10) : 0;
	struct tally single = {0}, moved = {0};

	if (!each || ki_target_new_live(&target, &err) ||
	    ki_counters_take(target, 1, &counter, &err))
		die("stays EACH");
	try_all(each, &single, &moved);
	print("single", &single);
	print("moved", &moved);
	ki_target_free(target);
	return 0;
}
