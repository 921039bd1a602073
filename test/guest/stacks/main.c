// SPDX-License-Identifier: GPL-2.0-only
/*
 * stacks [nmi | kernel | contexts]: prints a line for each case, "ok NAME: ..." or
 * "not ok NAME: ..."; exits 0 if all are ok.
 */
#include "stacks.h"

#include <stdio.h>
#include <string.h>

struct seen seen[SEEN];
unsigned int nseen;

/* Where the driver is, all of it; its heap is elsewhere. */
static struct {
	uint64_t start, end;
} driver;

static void find_driver(void)
{
	FILE *f = fopen("/proc/modules", "r");
	unsigned long long start, size;
	char line[512];

	while (f && !driver.end && fgets(line, sizeof(line), f))
		if (sscanf(line, "kerninst %llu %*s %*s %*s %llx", &size, &start) == 2 && start)
			driver.end = (driver.start = start) + size;
	if (f)
		fclose(f);
	if (!driver.end)
		die("/proc/modules", "it does not say where the driver is");
}

/* ---- sessions ---- */

void session_open(struct session *s, uint32_t frames, uint32_t rows)
{
	const struct ki_ring_options ring = {.size = sizeof(ring), .bytes = 16u << 20};
	const struct ki_stacks_options stacks = {
		.size = sizeof(stacks), .frames = frames, .rows = rows};
	struct ki_err err = {0};

	*s = (struct session){0};
	if (ki_target_new_live(&s->t, &err) || ki_ring_map_new(s->t, &ring, &s->ring, &err) ||
	    ki_stacks_map_new(s->t, &stacks, &s->stacks, &err))
		die("open", err.msg);
	s->plan = plan_new();
}

void session_close(struct session *s)
{
	ki_plan_free(s->plan);
	ki_ring_map_free(s->ring);
	ki_stacks_map_free(s->stacks);
	ki_target_free(s->t);
}

void begin(struct session *s)
{
	s->s = snippet_new();
	s->n = 0;
}

void value(struct session *s, struct ki_node *v)
{
	s->v[s->n++] = v;
}

void put(struct session *s, const char *function, struct ki_node *only_if)
{
	struct ki_node *stmt = ki_stmt_record(s->s, ki_ring_number(s->ring), 1, s->v, s->n);

	ki_snippet_body(s->s, only_if ? ki_stmt_if(s->s, only_if, stmt, NULL) : stmt);
	entry_put(s->t, s->plan, function, s->s, NULL);
}

struct ki_node *mine(struct session *s)
{
	return is_mine(s->s);
}

/* ---- what came ---- */

static int take(void *arg, const struct ki_record *rec, const uint64_t *values, unsigned int cpu)
{
	struct seen *e = &seen[nseen];

	(void)arg;
	if (nseen == SEEN)
		die("records", "too many");
	nseen++;
	*e = (struct seen){.tsc = rec->tsc, .n = rec->words, .cpu = cpu};
	memcpy(e->v, values, rec->words * sizeof(*values));
	return 0;
}

void read_all(struct session *s)
{
	nseen = 0;
	if (ki_ring_read(s->ring, take, NULL) || ki_ring_lost(s->ring))
		die("ring", "it cannot be read, or records are lost");
}

bool stack_of(struct session *s, uint64_t n, struct ki_stack *out)
{
	return !ki_stacks_get(s->stacks, n, out);
}

bool is_in(struct session *s, uint64_t addr, const char *function)
{
	const struct ki_symbol *sym = NULL;

	while ((sym = ki_target_symbol_named(s->t, "", function, sym)))
		if (addr - 1 >= sym->addr && addr - 1 - sym->addr < sym->size)
			return true;
	return false;
}

/* Is it between two symbols of the linker script? */
static bool is_between(struct session *s, uint64_t addr, const char *start, const char *end)
{
	const struct ki_symbol *from = ki_target_symbol_named(s->t, "", start, NULL);
	const struct ki_symbol *to = ki_target_symbol_named(s->t, "", end, NULL);

	/* what ends with the text is no symbol of it */
	return from && addr >= from->addr &&
	       addr < (to ? to->addr : ki_target_info(s->t)->text_end);
}

static bool is_in_thunk(struct session *s, uint64_t addr)
{
	const struct ki_symbol *sym = ki_target_symbol_at(s->t, addr);

	return sym && !strncmp(sym->name, "__x86_indirect_", strlen("__x86_indirect_"));
}

/*
 * What is entered from outside is there, but for where threads and CPUs begin. In the thunks of
 * indirect jumps the kernel's unwinder knows no way on: an interrupt there is seen to come from
 * nowhere. Nor does it while a CPU goes from one thread to the next: the stack is the next one's
 * already, and `current` is not yet. Interrupts are off there; an NMI may come.
 */
static bool is_outermost(struct session *s, uint64_t addr)
{
	static const char *const starts[] = {
		"ret_from_fork",	"ret_from_fork_asm",	 "secondary_startup_64_no_verify",
		"secondary_startup_64", "common_startup_64",	 "x86_64_start_kernel",
		"__switch_to",		"save_fpregs_to_fpstate"};

	for (size_t i = 0; i < sizeof(starts) / sizeof(*starts); i++)
		if (is_in(s, addr, starts[i]))
			return true;
	return is_between(s, addr, "__entry_text_start", "__entry_text_end") ||
	       is_in_thunk(s, addr);
}

const char *wrong_with(struct session *s, const struct ki_stack *st)
{
	const struct ki_info *info = ki_target_info(s->t);
	static char why[128];

	for (uint32_t i = 0; i < st->n; i++)
		if (st->addrs[i] - driver.start < driver.end - driver.start ||
		    st->addrs[i] - info->heap_start < info->heap_end - info->heap_start)
			return "a frame in the driver, or in a patch";
	if (is_outermost(s, st->addrs[st->n - 1]))
		return NULL;
	snprintf(why, sizeof(why), "it ends at 0x%llx after %u", (ull)st->addrs[st->n - 1], st->n);
	return why;
}

int main(int argc, char **argv)
{
	const char *what = argc > 1 ? argv[1] : "";

	find_driver();
	if (!*what || !strcmp(what, "kernel"))
		test_kernel();
	if (!*what || !strcmp(what, "contexts"))
		test_contexts();
	if (!strcmp(what, "nmi"))
		test_nmi();
	if (!*what) {
		test_user();
		test_tables();
		test_strings();
	}
	return report_status();
}
