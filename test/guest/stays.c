// SPDX-License-Identifier: GPL-2.0-only
/*
 * stays EACH: of each EACHth function of the running kernel, every window that ends in a call gets
 * a counter; another is moved as a whole, one in sixteen of these. Then patches are read, from
 *where the springboards in the text lead: of a call that no springboard covers the text must have
 *the bytes, and the patch a jump to it. Prints how many calls
 *
 *	stays	 are executed in their place
 *	covered	 are not, because their window's springboard stands there
 *	wrong	 are not, and could be; or are under somebody's bounce
 *
 * of single windows, and of moved functions.
 */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "code/decode.h"
#include "kerninst/splice.h"

#define ROOM  (1 << 20) /* bytes of a patch, at most */
#define MOVES 16

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
	bool moved;
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

static uint32_t add_counter(struct ki_plan *plan, const struct subject *s, const struct ki_span *v)
{
	struct ki_place place = {.addr = v->addr, .where = KI_BEFORE, .flags_live = true};
	struct ki_code code;
	uint32_t id;

	ki_snippet_count(&code, counter, true);
	return ki_plan_add(plan, s->fn, &s->spans, &place, 0, &code, &id, &err) ? KI_NONE : id;
}

static void put_in(struct ki_plan *plan, struct subject *s)
{
	if (s->moved && ki_plan_move(plan, s->fn, &s->spans, &err))
		s->moved = false;
	for (size_t i = 0; i < s->spans.n; i++) {
		bool wanted = s->moved ? !i : call_of(s, &s->spans.v[i]) != NULL;

		s->ids[i] = wanted ? add_counter(plan, s, &s->spans.v[i]) : KI_NONE;
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

static size_t read_patch(uint64_t at, uint8_t *out, size_t room)
{
	const struct ki_info *info = ki_target_info(target);

	if (at < info->heap_start || at >= info->heap_end)
		return 0;
	if (room > info->heap_end - at)
		room = info->heap_end - at;
	read_live(at, out, room);
	return room;
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
	} else if (call->addr - v->addr < covers[v->board] && !intact) {
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

static void look_at(const struct ki_plan *plan, const struct subject *s, struct tally *t)
{
	static uint8_t code[ROOM];
	uint64_t at = 0;
	size_t len = 0;

	for (size_t i = 0; i < s->spans.n; i++) {
		const struct ki_span *v = &s->spans.v[i];

		if (s->ids[i] != KI_NONE && !ki_plan_refusal(plan, s->ids[i])) {
			at = patch_of(v);
			len = at ? read_patch(at, code, s->moved ? ROOM : 512) : 0;
		} else if (!s->moved) {
			continue;
		}
		if (len)
			judge(s, v, code, len, at, t);
	}
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

static void print(const char *what, const struct tally *t)
{
	printf("%s stays %zu covered %zu wrong %zu\n", what, t->stays, t->covered, t->wrong);
}

int main(int argc, char **argv)
{
	size_t n, each = argc == 2 ? strtoul(argv[1], NULL, 10) : 0, count = 0;
	struct tally single = {0}, moved = {0};
	const struct ki_symbol *syms;
	struct subject *v;
	struct ki_plan *plan;

	if (!each || ki_target_open_live(&target, &err) ||
	    ki_counters_take(target, 1, &counter, &err) || ki_plan_new(&plan))
		die("stays EACH");
	syms = ki_target_symbols(target, &n);
	v = calloc(n / each + 1, sizeof(*v));
	if (!v)
		die("no memory");
	for (size_t i = 0; i < n; i += each) {
		v[count].moved = i / each % MOVES == 0;
		if (open_subject(&syms[i], &v[count]))
			put_in(plan, &v[count++]);
	}
	if (ki_plan_apply(plan, target, true, &err))
		die("apply");
	for (size_t i = 0; i < count; i++)
		look_at(plan, &v[i], v[i].moved ? &moved : &single);
	print("single", &single);
	print("moved", &moved);
	if (ki_plan_remove(plan, target, &err))
		die("remove");
	ki_target_close(target);
	return 0;
}
