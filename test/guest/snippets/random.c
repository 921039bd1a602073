// SPDX-License-Identifier: GPL-2.0-only
/*
 * Random trees in the kernel. A first snippet stores the registers at the point in variables; then
 * many others run there, one after the other; then the interpreter does the same from these
 * registers, and all variables must be equal. That each leaves the registers alone is seen by the
 * next, and by the kernel. Memory that they read is text that nobody changes, texts of this
 * process, and an address at which there is none.
 */
#include <sched.h>
#include <stdlib.h>
#include <string.h>
#include <sys/prctl.h>
#include <sys/syscall.h>
#include <unistd.h>

#include "common_snippet.h"
#include "snippets.h"

#define TREES	   2000 /* of one round, at most */
#define NODES	   24
#define FIRST_REG  SNIP_COUNTERS /* slots after the trees' */
#define TASK_SLOT  (FIRST_REG + 16)
#define WORDS_SLOT (TASK_SLOT + 1) /* what the words are in the end */
#define SLOTS	   (WORDS_SLOT + SNIP_THREAD)
#define PLACE	   "__x64_sys_getppid"

/* Live at the beginning of every function. */
#define KEPT                                                                                       \
	(1 << KI_RBX | 1 << KI_RSP | 1 << KI_RBP | 1 << KI_R12 | 1 << KI_R13 | 1 << KI_R14 |       \
	 1 << KI_R15)

static struct snip_case c;
static uint64_t *model, *model_globals, *model_thread;
static struct ki_snippet *trees[TREES];
static unsigned int ntrees;

static struct ki_node *store(struct ki_snippet *s, uint32_t slot, struct ki_node *value)
{
	const struct ki_var v = {.kind = KI_VAR_CPU, .type = KI_U64, .first = c.counter + slot};

	return ki_stmt_update(s, KI_SET, &v, NULL, value);
}

static struct ki_snippet *storing(void)
{
	struct ki_snippet *s = snippet_new();
	struct ki_node *list = NULL;

	for (unsigned int r = 0; r < 16; r++)
		list = ki_stmt_append(s, list, store(s, FIRST_REG + r, ki_expr_reg(s, r)));
	list = ki_stmt_append(s, list, store(s, TASK_SLOT, ki_expr_fact(s, KI_FACT_TASK)));
	only_here(s, list);
	return s;
}

static struct ki_snippet *storing_words(void)
{
	struct ki_snippet *s = snippet_new();
	struct ki_node *list = NULL;

	for (uint32_t i = 0; i < SNIP_THREAD; i++) {
		const struct ki_var word = var(KI_VAR_THREAD, c.word + i, 1);

		list = ki_stmt_append(s, list, store(s, WORDS_SLOT + i, ki_expr_var(s, &word)));
	}
	only_here(s, list);
	return s;
}

static void grow(uint64_t seed)
{
	exec_seed(seed);
	for (unsigned int i = 0; i < ntrees; i++) {
		struct ki_snippet *s = snippet_new();

		only_here(s, snip_random_list(s, &c, 1 + i % NODES));
		trees[i] = s;
	}
}

/* ---- memory ---- */

#define BYTES 1024

static unsigned int loaded, strings[2]; /* that were read, and were not 0 or empty */
static uint8_t text[BYTES];		/* of the kernel */
static uint8_t texts[BYTES];		/* the process's own, one after the other */

static void know_memory(void)
{
	const struct ki_symbol *sym = ki_target_symbol_named(target, "", "vsnprintf", NULL);
	struct ki_err err = {0};
	size_t at = 0, len;

	if (!sym || ki_target_read(target, sym->addr, text, sizeof(text), KI_VIEW_LIVE, &err))
		die("vsnprintf", err.msg);
	for (unsigned int i = 0; at + (len = strlen(snip_texts[i % SNIP_TEXTS])) < BYTES; i++) {
		memcpy(texts + at, snip_texts[i % SNIP_TEXTS], len);
		at += len + 1;
	}
	c.known[0] = (struct snip_memory){sym->addr, text, BYTES};
	c.known[1] = (struct snip_memory){(uint64_t)(uintptr_t)texts, texts, BYTES};
}

/* What is known of an address; NULL: there is nothing. */
static const uint8_t *bytes_at(const struct snip_memory *k, uint64_t addr, unsigned int size)
{
	return addr >= k->at && addr - k->at <= k->size - size ? k->bytes + (addr - k->at) : NULL;
}

static uint64_t load_known(void *arg, uint64_t addr, unsigned int size)
{
	const uint8_t *bytes = bytes_at(&c.known[0], addr, size);
	uint64_t v = 0;

	(void)arg;
	if (bytes)
		memcpy(&v, bytes, size);
	loaded += v != 0;
	return v;
}

static void string_known(void *arg, uint64_t addr, bool user, char *to, size_t most)
{
	const uint8_t *bytes = bytes_at(&c.known[user], addr, (unsigned int)most);

	(void)arg;
	if (!bytes)
		return;
	memcpy(to, bytes, strnlen((const char *)bytes, most));
	strings[user] += *bytes != 0;
}

static uint64_t *zeros(uint32_t n)
{
	uint64_t *p = calloc(n, sizeof(*p));

	if (!p)
		exit(2);
	return p;
}

static void set_up(int cpu)
{
	c.counter = take_counters(SLOTS);
	c.global = take_globals(SNIP_GLOBALS);
	c.word = take_words(SNIP_THREAD);
	c.in_kernel = true;
	c.site.at_entry = true;
	model = zeros(c.counter + SLOTS);
	model_globals = zeros(c.global + SNIP_GLOBALS);
	model_thread = zeros(c.word + SNIP_THREAD);
	c.m = (struct ki_machine){.counters = model,
				  .globals = model_globals,
				  .thread = model_thread,
				  .ncounters = c.counter + SLOTS,
				  .nglobals = c.global + SNIP_GLOBALS,
				  .nthread = c.word + SNIP_THREAD,
				  .tsc = 1,
				  .load = load_known,
				  .string = string_known,
				  .uid = getuid(),
				  .cpu = (uint32_t)cpu,
				  .pid = (uint32_t)getpid(),
				  .tgid = (uint32_t)getpid()};
	prctl(PR_GET_NAME, c.m.comm);
	know_memory();
}

static uint64_t hit(uint32_t slot, int cpu)
{
	return ki_counter_read_cpu(counters, c.counter + slot, (unsigned int)cpu);
}

static unsigned int differences(int cpu)
{
	unsigned int n = 0;

	for (uint32_t i = 0; i < SNIP_THREAD; i++)
		n += hit(WORDS_SLOT + i, cpu) != model_thread[c.word + i];
	for (uint32_t i = c.counter; i < c.counter + SNIP_COUNTERS; i++)
		n += ki_counter_read_cpu(counters, i, (unsigned int)cpu) != model[i];
	for (uint32_t i = c.global; i < c.global + SNIP_GLOBALS; i++)
		n += ki_global_read(globals, i) != model_globals[i];
	return n;
}

static void interpret(int cpu)
{
	struct ki_err err = {0};

	for (unsigned int r = 0; r < 16; r++)
		c.m.regs[r] = hit(FIRST_REG + r, cpu);
	c.m.task = hit(TASK_SLOT, cpu);
	for (unsigned int i = 0; i < ntrees; i++) {
		if (ki_snippet_run(trees[i], &c.site, &c.m, &err))
			die("interpret", err.msg);
		ki_snippet_free(trees[i]);
	}
}

static void put_once(struct ki_plan *plan, const struct spot *spot, struct ki_snippet *s)
{
	spot_put(spot, plan, s);
	ki_snippet_free(s);
}

static unsigned int one_round(unsigned int round, const struct spot *spot, int cpu)
{
	struct ki_plan *plan = plan_new();

	/* what is dead there, earlier ones may have used */
	c.reads = round % 2 ? KEPT : 0;
	c.site = (struct ki_site_regs){
		.at_entry = !c.reads, .addr = spot->sites[0].addr, .place = spot->sites[0].place};
	put_once(plan, spot, storing());
	grow(round * 2 + 2);
	for (unsigned int i = 0; i < ntrees; i++)
		spot_put(spot, plan, trees[i]);
	put_once(plan, spot, storing_words());
	plan_apply(plan, target);
	syscall(SYS_getppid);
	take_out(plan);
	interpret(cpu);
	return differences(cpu);
}

void random_trees(unsigned int rounds, unsigned int each)
{
	unsigned int wrong = 0, used = 0, words = 0;
	struct spot spots[2]; /* nothing known, all known */
	int cpu = sched_getcpu();
	cpu_set_t set;

	ntrees = each < TREES ? each : TREES;
	CPU_ZERO(&set);
	CPU_SET(cpu, &set);
	if (sched_setaffinity(0, sizeof(set), &set))
		die("affinity", "cannot be set");
	set_up(cpu);
	for (int known = 0; known < 2; known++)
		spot_find(&spots[known], target, PLACE, KI_POINT_ENTRY, known ? program : NULL);
	for (unsigned int i = 0; i < rounds; i++) {
		unsigned int n = one_round(i, &spots[i % 2], cpu);

		if (n)
			printf("# round %u: %u variables differ\n", i, n);
		wrong += n != 0;
		for (uint32_t k = 0; k < SNIP_THREAD; k++)
			words |= (model_thread[c.word + k] != 0) << k;
	}
	for (int known = 0; known < 2; known++)
		spot_free(&spots[known]);
	for (uint32_t i = c.counter; i < c.counter + SNIP_COUNTERS; i++)
		used += model[i] != 0;
	report("random", !wrong && used > 10 && __builtin_popcount(words) > 1,
	       "%u trees in %u rounds, %u differ, %u variables and %u words used", rounds * ntrees,
	       rounds, wrong, used, (unsigned int)__builtin_popcount(words));
	report("random: memory", loaded > 10 && strings[0] > 2 && strings[1] > 2,
	       "%u loads, %u strings of the kernel, %u of the process", loaded, strings[0],
	       strings[1]);
}
