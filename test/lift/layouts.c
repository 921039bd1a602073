// SPDX-License-Identifier: GPL-2.0-only
/*
 * Real functions of a kernel, laid out, do what they did: each is called in some states (state.h)
 * in the lifted text and then laid out, by this processor. How the call ends (a fault is an end,
 * too), all registers, flags and all memory that it wrote are the same; an address in the patch is
 * the one of the text that it stands for.
 *
 * usage: layouts VMLINUX SYSTEM_MAP RUNS [SEED [FUNCTION]]: so many calls in all, of each function
 * as many; KI_STATES names a file of states that were recorded (recorded.h)
 *
 * What a function calls is executed too. What asks for privileges, or for the time, ends there by
 * a fault. A call that does not come to an end (a lock that nobody gives back) is compared with
 * nothing; a function of which most do so is left.
 */
#include <sched.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/wait.h>
#include <unistd.h>

#include "call.h"
#include "kerninst/err.h"
#include "lay.h"
#include "recorded.h"
#include "state.h"

#define STATES	 25 /* of a function, one after the other, before another layout */
#define LEFT_OFF 4  /* calls without an end, after which a function is left */
#define TICKS	 1
#define PATIENCE 50  /* the copy may take so many more */
#define WORKERS	 200 /* functions that one process tries */

/* Shared with the processes that try functions: what they did, if one of them dies. */
static struct {
	size_t at, functions, branches, trampolines, refused, calls, returned, faults, endless,
		left, died, bad, odd;
	size_t of[STATE_KINDS], returned_of[STATE_KINDS];
} * done;

static struct lift lift;
static struct call_state states[STATES];
static enum state_kind kinds[STATES];
static struct call_outcome want[STATES], got, other;
static const struct ki_symbol **some;
static size_t nsome;
static uint64_t tried;
static size_t nth; /* state of the one that is tried */

/* ---- the same? ---- */

#define FLAGS_MAY 0x7fd7ull /* the bits that a word pushed by pushf may have, and the one it has */
#define FLAGS_ARE 0x2ull

/*
 * A branch that asks its key changes the flags, which are free there. Then they are others where
 * the call ends, and in words that pushf has saved, until something sets them.
 */
static bool same_but_flags(const struct laid *v, uint64_t a, uint64_t b)
{
	return v->asks && !((a ^ b) & ~(uint64_t)EXEC_FLAGS) && !(a & ~FLAGS_MAY) && a & FLAGS_ARE;
}

static bool same_word(const struct laid *v, uint64_t want_word, uint64_t got_word)
{
	return want_word == got_word || lay_stands_for(v, got_word, want_word) ||
	       same_but_flags(v, want_word, got_word);
}

static bool same_words(const struct laid *v, const uint64_t *a, const uint64_t *b, size_t n)
{
	if (!memcmp(a, b, n * sizeof(*a)))
		return true;
	for (size_t i = 0; i < n; i++)
		if (!same_word(v, a[i], b[i]))
			return false;
	return true;
}

static bool same_pages(const struct laid *v, const struct call_outcome *a,
		       const struct call_outcome *b)
{
	if (a->npages != b->npages)
		return false;
	for (size_t i = 0; i < a->npages; i++)
		if (a->pages[i].addr != b->pages[i].addr ||
		    !same_words(v, a->pages[i].words, b->pages[i].words, LIFT_PAGE / 8))
			return false;
	return true;
}

static const char *differs(const struct laid *v, const struct call_outcome *a,
			   const struct call_outcome *b)
{
	if (a->end != b->end || a->signal != b->signal)
		return "how it ends";
	if (!same_word(v, a->rip, b->rip))
		return "where it ends";
	if (!same_words(v, a->cpu.r, b->cpu.r, EXEC_REGS) || a->cpu.rsp != b->cpu.rsp)
		return "registers";
	if ((a->cpu.flags ^ b->cpu.flags) & (v->asks ? ~(uint64_t)EXEC_FLAGS : ~0ull))
		return "flags";
	if (!same_words(v, a->memory, b->memory, CALL_MEMORY / 8))
		return "memory";
	return same_pages(v, a, b) ? NULL : "the kernel's data";
}

/* ---- layouts ---- */

/* By the policy, for a profile that is made up; or any order. */
static int choose(const struct ki_function *fn, uint32_t *order, uint32_t *nhot)
{
	struct ki_lay_graph g = {.nblocks = fn->nblocks};
	int rc;

	g.blocks = calloc(fn->nblocks + 1, sizeof(*g.blocks));
	g.edges = calloc(fn->nedges + 1, sizeof(*g.edges));
	if (!g.blocks || !g.edges)
		exit(1);
	for (uint32_t i = 0; i < fn->nblocks; i++)
		g.blocks[i] =
			(struct ki_lay_block){(uint32_t)(fn->blocks[i].end - fn->blocks[i].start),
					      state_below(3) ? state_below(1000) : 0};
	for (uint32_t i = 0; i < fn->nedges; i++) {
		const struct ki_edge *e = &fn->edges[i];

		if (e->to_block < fn->nblocks)
			g.edges[g.nedges++] = (struct ki_lay_edge){
				e->block, e->to_block, state_below(g.blocks[e->block].count + 1)};
	}
	rc = (state_below(4) ? ki_lay_ext_tsp : ki_lay_reverse)(&g, 20, order, nhot);
	free(g.blocks);
	free(g.edges);
	return rc;
}

static void shuffle(uint32_t *v, uint32_t n)
{
	for (uint32_t i = 0; i < n; i++)
		v[i] = i;
	for (uint32_t i = n; i > 1; i--) {
		uint32_t k = (uint32_t)state_below(i), t = v[i - 1];

		v[i - 1] = v[k];
		v[k] = t;
	}
}

/* What stands there may be read by a call that has lost its way: it is there in both. */
static void protect_patch(int prot)
{
	if (mprotect(lift.patch, LIFT_PATCH, prot))
		exit(1);
}

/* ---- what cannot be compared ---- */

/* The same outcome of the same layout at another place. */
static bool moved_word(const struct laid *v, const struct laid *w, uint64_t a, uint64_t b)
{
	uint64_t off = a - (uintptr_t)v->patch;

	return a == b || (off <= v->linked.len && b == (uintptr_t)w->patch + off);
}

static bool same_moved(const struct laid *v, const struct laid *w, const struct call_outcome *a,
		       const struct call_outcome *b)
{
	bool same = a->end == b->end && a->signal == b->signal && a->npages == b->npages &&
		    moved_word(v, w, a->rip, b->rip) && a->cpu.flags == b->cpu.flags;

	for (int i = 0; same && i < EXEC_REGS; i++)
		same = moved_word(v, w, a->cpu.r[i], b->cpu.r[i]);
	for (int i = 0; same && i < CALL_MEMORY / 8; i++)
		same = moved_word(v, w, a->memory[i], b->memory[i]);
	for (size_t k = 0; same && k < a->npages; k++)
		for (size_t i = 0; same && i < LIFT_PAGE / 8; i++)
			same = moved_word(v, w, a->pages[k].words[i], b->pages[k].words[i]);
	return same;
}

/* As laid out, without springboards in the text, it does what it should. */
static bool reads_its_text(struct laid *v, size_t i)
{
	uint64_t entry = lay_entry(v);

	if (!entry)
		return false;
	call_at(entry, &states[i], TICKS + PATIENCE, &other);
	return !differs(v, &want[i], &other);
}

/* It computes with a return address that lies on its stack. */
static bool depends_on_place(const struct ki_layout *l, struct laid *v, size_t i)
{
	struct ki_layout again = *l;
	struct laid moved;
	bool depends = false;

	lay_switch(v, false, NULL);
	call_no_traps();
	protect_patch(PROT_READ | PROT_WRITE);
	if (!lay_in(&moved, &again, 1, lift.patch + LIFT_PATCH / 2, LIFT_PATCH / 2)) {
		protect_patch(PROT_READ | PROT_EXEC);
		lay_switch(&moved, true, call_trap);
		call_at(l->fn->start, &states[i], TICKS + PATIENCE, &other);
		depends = !same_moved(v, &moved, &got, &other);
		lay_free(&moved);
	}
	protect_patch(PROT_READ | PROT_EXEC);
	return depends;
}

/* The text by itself does something else each time. */
static bool is_unsteady(const struct ki_layout *l, struct laid *v, size_t i)
{
	static const struct laid none;

	lay_switch(v, false, NULL);
	call_at(l->fn->start, &states[i], TICKS + PATIENCE, &other);
	return differs(&none, &want[i], &other);
}

/* A call that differs. The layout is out then. */
static void look_into(const struct ki_layout *l, struct laid *v, size_t i, const char *what)
{
	const struct call_outcome *a = &want[i];
	const char *why = is_unsteady(l, v, i)	      ? "not the same twice"
			  : reads_its_text(v, i)      ? "reads its own text"
			  : depends_on_place(l, v, i) ? "depends on where it stands"
						      : NULL;

	if (why)
		done->odd++;
	else
		done->bad++;
	fprintf(stderr, "# %s%s%s: %s: end %d/%d signal %d/%d rip %llx/%llx pages %zu/%zu\n",
		l->fn->symbol->name, why ? ": " : "", why ? why : "", what, a->end, got.end,
		a->signal, got.signal, (unsigned long long)a->rip, (unsigned long long)got.rip,
		a->npages, got.npages);
}

/* ---- calls ---- */

/* The originals of these states, and how many of them there are; fewer if most have no end. */
static size_t run_originals(const struct ki_function *fn, size_t n)
{
	size_t made = 0, endless = 0;

	for (size_t i = 0; i < n && endless < LEFT_OFF; i++) {
		kinds[made] = state_make(fn->start, nth++, &states[made]);
		call_at(fn->start, &states[made], TICKS, &want[made]);
		if (want[made].end == CALL_ENDLESS) {
			endless++;
			done->endless++;
		} else {
			made++;
		}
	}
	return made;
}

static void compare(const struct ki_layout *l, struct laid *v, size_t n)
{
	for (size_t i = 0; i < n; i++) {
		const char *what;

		call_at(l->fn->start, &states[i], TICKS + PATIENCE, &got);
		done->calls++;
		done->of[kinds[i]]++;
		done->returned += want[i].end == CALL_RETURNED;
		done->returned_of[kinds[i]] += want[i].end == CALL_RETURNED;
		done->faults += want[i].end == CALL_SIGNAL;
		what = differs(v, &want[i], &got);
		if (what) {
			look_into(l, v, i, what);
			return;
		}
	}
}

/* Some calls, with a layout of its own. Whether more of them are worth while. */
static bool try_layout(const struct ki_function *fn, const struct ki_spans *spans, size_t n)
{
	uint32_t *order = calloc(fn->nblocks + 1, sizeof(*order)), nhot = 0;
	struct ki_layout l = {.fn = fn, .spans = spans, .blocks = order};
	struct laid v;
	size_t made;

	if (!order)
		exit(1);
	if (state_below(3))
		choose(fn, order, &nhot);
	else
		shuffle(order, fn->nblocks);
	l.nhot = nhot;
	call_no_traps();
	protect_patch(PROT_READ | PROT_WRITE);
	if (lay_in(&v, &l, 1, lift.patch, LIFT_PATCH / 2)) {
		free(order);
		done->refused++;
		return false;
	}
	protect_patch(PROT_READ | PROT_EXEC);
	made = run_originals(fn, n);
	lay_switch(&v, true, call_trap);
	compare(&l, &v, made);
	for (size_t i = 0; tried != fn->start && i < spans->n; i++) {
		done->branches += spans->v[i].written == KI_WINDOW_BRANCH;
		done->trampolines += spans->v[i].written == KI_WINDOW_STATIC_CALL;
	}
	done->functions += tried != fn->start;
	tried = fn->start;
	lay_free(&v);
	free(order);
	done->left += n - made >= LEFT_OFF;
	return n - made < LEFT_OFF;
}

/* What is no function of its arguments and memory alone. */
static const char *const strange[] = {
	"xen_iret", /* makes a system call, of this process */
	"xen_sysret64",
	"rdtgroup_cbm_overlaps", /* reads bits after its variable: its return address */
};

/* rdrand and rdseed of a register: each call finds another number. iretq goes where the state's
   stack says, with any flags. */
static bool goes_anywhere(const struct ki_symbol *sym)
{
	const uint8_t *p = (const uint8_t *)(uintptr_t)sym->addr; // NOLINT

	for (uint64_t i = 0; i + 3 <= sym->size; i++)
		if ((p[i] == 0x0f && p[i + 1] == 0xc7 && p[i + 2] >= 0xf0) ||
		    (p[i] == 0x48 && p[i + 1] == 0xcf))
			return true;
	for (size_t i = 0; i < sizeof(strange) / sizeof(*strange); i++)
		if (!strcmp(sym->name, strange[i]))
			return true;
	return false;
}

static void try_function(const struct ki_symbol *sym, size_t calls)
{
	struct ki_function *fn;
	struct ki_spans spans;
	struct ki_err err = {0};
	bool more;

	if (goes_anywhere(sym) || ki_function_analyze(lift.target, sym, &fn, &err)) {
		done->refused++;
		return;
	}
	if (ki_spans_find_laid(fn, &spans, &err)) {
		done->refused++;
		ki_function_free(fn);
		return;
	}
	nth = 0;
	for (more = true; more && calls; calls -= calls < STATES ? calls : STATES)
		more = try_layout(fn, &spans, calls < STATES ? calls : STATES);
	ki_spans_free(&spans);
	ki_function_free(fn);
}

/* ---- all of them, in processes that may die ---- */

static void work(size_t first, size_t calls, uint64_t current_task, uint64_t seed)
{
	if (call_init(&lift, current_task)) {
		perror("call_init");
		_exit(2);
	}
	for (done->at = first; done->at < nsome && done->at < first + WORKERS; done->at++) {
		exec_seed(seed * 1000003 + some[done->at]->addr);
		try_function(some[done->at], calls);
	}
	_exit(0);
}

static void find_functions(const char *only)
{
	size_t n;
	const struct ki_symbol *v = ki_target_symbols(lift.target, &n);

	some = calloc(n, sizeof(*some)); // NOLINT
	if (!some)
		exit(1);
	for (size_t i = 0; i < n; i++)
		if (!v[i].alias && strncmp(v[i].name, "__pfx_", 6) && v[i].addr >= lift.text &&
		    v[i].addr < lift.text_end)
			some[nsome++] = &v[i];
	state_init(&lift, some, nsome);
	for (size_t i = 0; only && i < nsome; i++)
		if (!strcmp(some[i]->name, only)) {
			some[0] = some[i];
			nsome = 1;
		}
}

static int report(size_t runs)
{
	bool enough = done->functions > nsome / 2 && done->calls >= runs && done->branches &&
		      done->trampolines;
	bool few_recorded = recorded_all() && done->of[STATE_RECORDED] <= recorded_all() / 2;

	printf("# %zu functions tried, of %zu, with %zu static branches that ask their keys and %zu "
	       "static calls of their trampolines; %zu cannot be laid out, %zu left because most calls "
	       "have no end, %zu ended the process\n",
	       done->functions, nsome, done->branches, done->trampolines, done->refused, done->left,
	       done->died);
	printf("# %zu calls in layouts: %zu returned, %zu ended in a fault; %zu without an end not "
	       "compared\n",
	       done->calls, done->returned, done->faults, done->endless);
	if (recorded_all())
		printf("# %zu in states that a kernel was in (%zu returned), of %zu; %zu in such as were changed\n",
		       done->of[STATE_RECORDED], done->returned_of[STATE_RECORDED], recorded_all(),
		       done->of[STATE_CHANGED]);
	printf("%s 1 functions laid out do what they did\n", done->bad ? "not ok" : "ok");
	printf("%s 2 most functions of the kernel are tried, in as many calls as were asked for\n",
	       enough ? "ok" : "not ok");
	printf("%s 3 of 10,000 calls one, at most, cannot be compared (%zu)\n",
	       done->odd <= done->calls / 10000 + 1 ? "ok" : "not ok", done->odd);
	if (recorded_all())
		printf("%s 4 most states that a kernel was in are among them\n",
		       few_recorded ? "not ok" : "ok");
	printf("1..%d\n", recorded_all() ? 4 : 3);
	return few_recorded || done->bad || !enough || done->odd > done->calls / 10000 + 1;
}

/* There are some that cannot be called so often, or at all. */
static size_t per_function(size_t runs)
{
	return runs / (nsome - nsome / 16) + 1;
}

/* cpuid says on which processor it is. */
static void stay_here(void)
{
	cpu_set_t one;

	CPU_ZERO(&one);
	CPU_SET(sched_getcpu(), &one);
	sched_setaffinity(0, sizeof(one), &one);
}

int main(int argc, char **argv)
{
	uint64_t task, seed = argc > 4 ? strtoull(argv[4], NULL, 10) : 1;
	size_t runs = argc > 3 ? strtoull(argv[3], NULL, 10) : 0;

	if (argc < 4 || !runs) {
		fprintf(stderr, "usage: %s VMLINUX SYSTEM_MAP RUNS [SEED]\n", argv[0]);
		return 2;
	}
	done = mmap(NULL, sizeof(*done), PROT_READ | PROT_WRITE, MAP_SHARED | MAP_ANONYMOUS, -1, 0);
	if (done == MAP_FAILED || lift_open(argv[1], argv[2], &lift) ||
	    (getenv("KI_STATES") && recorded_open(getenv("KI_STATES"), &lift)))
		return 1;
	stay_here();
	task = lift_symbol(argv[2], "current_task");
	lay_branches(lift_symbol(argv[2], "__start___jump_table"),
		     lift_symbol(argv[2], "__stop___jump_table"));
	find_functions(argc > 5 ? argv[5] : NULL);
	for (size_t first = 0; first < nsome;) {
		int status;
		pid_t pid = fork();

		if (!pid)
			work(first, per_function(runs), task, seed);
		if (pid < 0 || waitpid(pid, &status, 0) != pid)
			return 1;
		if (status) {
			fprintf(stderr, "# %s ended the process (%x)\n", some[done->at]->name,
				status);
			done->died++;
			done->at++;
		}
		first = done->at;
	}
	return report(runs);
}
