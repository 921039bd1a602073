// SPDX-License-Identifier: LGPL-2.1-only OR BSD-2-Clause
/*
 * Metrics of events: what is counted while a thread is inside, its own count (KI_EVENT_THREAD), so
 * only while it runs. A count of what happened on the CPU whoever ran would mean nothing for a
 * function that sleeps, and nothing for one that comes back on another CPU, so there is none.
 *
 * Two counts that belong together are two pairs in the same function. They do not begin and end at
 * the same instruction, so differences are not let below 0.
 */
#include <errno.h>
#include <linux/perf_event.h>
#include <string.h>
#include <sys/syscall.h>
#include <unistd.h>

#include "metric/events.h"
#include "metric/table.h"

/* clang-format off */
#define CODE(what) "entry: the thread's word = " what "; return: total += " what " - word, word = 0"
#define ONE(name_, unit_, a, text_) \
	{{.name = (name_), .text = (text_), .code = CODE("its count"), .unit = (unit_), \
	  .form = KI_FORM_TOTAL, .lasts = true}, \
	 .source = SOURCE_EVENT, .event = EVENT_##a, .keeps = KEEP_TOTAL, .top = TOP_ALL, \
	 .bottom = BOTTOM_ONE}, \
	{{.name = name_ "/call", .text = "the mean of it over calls that have ended", \
	  .code = CODE("its count") ", calls += 1", .unit = (unit_), .form = KI_FORM_MEAN, \
	  .lasts = true}, \
	 .source = SOURCE_EVENT, .event = EVENT_##a, .keeps = KEEP_TOTAL | KEEP_OVER, \
	 .top = TOP_OVER, .bottom = BOTTOM_OVER}
#define COUNT(name, a, text) ONE(name, KI_UNIT_COUNT, a, text)
/* a - b */
#define LESS(name_, a, b, text_) \
	{{.name = (name_), .text = (text_), .code = CODE("its count") ", of both", \
	  .unit = KI_UNIT_COUNT, .form = KI_FORM_TOTAL, .lasts = true}, \
	 .source = SOURCE_EVENT, .event = EVENT_##a, .other = EVENT_##b, .less = true, \
	 .keeps = KEEP_TOTAL, .top = TOP_ALL, .bottom = BOTTOM_ONE}, \
	{{.name = name_ "/call", .text = "the mean of it over calls that have ended", \
	  .code = CODE("its count") ", of both, calls += 1", .unit = KI_UNIT_COUNT, \
	  .form = KI_FORM_MEAN, .lasts = true}, \
	 .source = SOURCE_EVENT, .event = EVENT_##a, .other = EVENT_##b, .less = true, \
	 .keeps = KEEP_TOTAL | KEEP_OVER, .top = TOP_OVER, .bottom = BOTTOM_OVER}
/* a / b; SHARE, not more than 1; LEFT: (a - b) / a */
#define QUOTIENT(name_, a, b, text_, ...) \
	{{.name = (name_), .text = (text_), .code = CODE("its count") ", of both", \
	  .unit = KI_UNIT_COUNT, .form = KI_FORM_MEAN, .lasts = true}, \
	 .source = SOURCE_EVENT, .event = EVENT_##a, .other = EVENT_##b, .keeps = KEEP_TOTAL, \
	 .top = TOP_OVER, __VA_ARGS__}
#define RATIO(name, a, b, text) QUOTIENT(name, a, b, text, .bottom = BOTTOM_OTHER)
#define SHARE(name, a, b, text) QUOTIENT(name, a, b, text, .bottom = BOTTOM_OTHER, .share = true)
#define LEFT(name, a, b, text)  QUOTIENT(name, a, b, text, .bottom = BOTTOM_SELF, .less = true)

static const struct ki_metric_row rows[] = {
	COUNT("page-faults", PAGE_FAULTS, "page faults taken inside, as perf counts them"),
	COUNT("context-switches", CONTEXT_SWITCHES, "how often threads inside were given a CPU again"),
	COUNT("cpu-migrations", MIGRATIONS, "how often threads inside went on on another CPU"),
	ONE("task-clock", KI_UNIT_SECONDS, TASK_CLOCK, "time that threads have run inside, by the kernel's clock"),

	COUNT("cycles", CYCLES, "cycles of the processor"),
	COUNT("instructions", INSTRUCTIONS, "instructions that were retired"),
	RATIO("ipc", INSTRUCTIONS, CYCLES, "instructions in a cycle"),
	RATIO("cpi", CYCLES, INSTRUCTIONS, "cycles for an instruction"),
	COUNT("uops", UOPS, "micro-operations that were retired"),
	COUNT("instructions-completed", COMPLETED, "instructions that were executed to their end"),
	COUNT("loads", LOADS, "instructions that read memory"),
	COUNT("stores", STORES, "instructions that write memory"),
	COUNT("clears", CLEARS, "how often the pipeline was cleared"),

	COUNT("l1d-reads", L1D_READS, "reads from the first data cache"),
	LESS("l1d-read-hits", L1D_READS, L1D_READ_MISSES, "reads that it served"),
	COUNT("l1d-read-misses", L1D_READ_MISSES, "reads that it did not"),
	COUNT("l1d-writes", L1D_WRITES, "writes to the first data cache"),
	LESS("l1d-write-hits", L1D_WRITES, L1D_WRITE_MISSES, "writes that it took"),
	COUNT("l1d-write-misses", L1D_WRITE_MISSES, "writes that it did not"),
	SHARE("l1d-miss-ratio", L1D_READ_MISSES, L1D_READS, "share of the reads that miss it"),
	LEFT("l1d-hit-ratio", L1D_READS, L1D_READ_MISSES, "share of the reads that it serves"),
	COUNT("l1i-refs", L1I_REFS, "reads from the first instruction cache"),
	LESS("l1i-hits", L1I_REFS, L1I_MISSES, "reads that it served"),
	COUNT("l1i-misses", L1I_MISSES, "reads that it did not"),
	LEFT("l1i-hit-ratio", L1I_REFS, L1I_MISSES, "share of the reads that it serves"),
	SHARE("l1i-miss-ratio", L1I_MISSES, L1I_REFS, "share of the reads that miss it"),
	COUNT("l1i-stall", L1I_STALL, "cycles in which no code came from there"),
	SHARE("l1i-stall-share", L1I_STALL, CYCLES, "these cycles as a share of all"),
	COUNT("l2-refs", L2_REFS, "references of the second cache"),
	LESS("l2-hits", L2_REFS, L2_MISSES, "references that it served"),
	COUNT("l2-misses", L2_MISSES, "references that it did not"),
	LEFT("l2-hit-ratio", L2_REFS, L2_MISSES, "share of them that it serves"),
	SHARE("l2-miss-ratio", L2_MISSES, L2_REFS, "share of them that miss it"),
	COUNT("llc-refs", LLC_REFS, "references of the last cache"),
	LESS("llc-hits", LLC_REFS, LLC_MISSES, "references that it served"),
	COUNT("llc-misses", LLC_MISSES, "references that it did not"),
	COUNT("llc-reads", LLC_READS, "reads from the last cache"),
	LESS("llc-read-hits", LLC_READS, LLC_READ_MISSES, "reads that it served"),
	COUNT("llc-read-misses", LLC_READ_MISSES, "reads that it did not"),
	LEFT("llc-hit-ratio", LLC_REFS, LLC_MISSES, "share of them that it serves"),
	SHARE("llc-miss-ratio", LLC_MISSES, LLC_REFS, "share of them that miss it"),
	COUNT("mesi-read-hits", MESI, "read hits by the state of the line"),

	COUNT("dtlb-reads", DTLB_READS, "reads that looked for their page there"),
	LESS("dtlb-hits", DTLB_READS, DTLB_READ_MISSES, "reads whose page was known"),
	COUNT("dtlb-misses", DTLB_READ_MISSES, "reads whose page was not"),
	COUNT("dtlb-write-misses", DTLB_WRITE_MISSES, "writes whose page was not"),
	COUNT("itlb-reads", ITLB_READS, "fetches of code that looked for their page there"),
	LESS("itlb-hits", ITLB_READS, ITLB_MISSES, "fetches of code whose page was known"),
	COUNT("itlb-misses", ITLB_MISSES, "fetches whose page was not"),
	COUNT("load-walks", DTLB_LOAD_WALKS, "walks through the page table for reads"),
	COUNT("store-walks", DTLB_STORE_WALKS, "walks for writes"),
	COUNT("code-walks", ITLB_WALKS, "walks for code"),

	COUNT("branches", BRANCHES, "branches of all kinds"),
	COUNT("branch-misses", BRANCH_MISSES, "branches that were mispredicted"),
	LESS("branch-hits", BRANCHES, BRANCH_MISSES, "branches that were predicted"),
	SHARE("branch-miss-ratio", BRANCH_MISSES, BRANCHES, "share of them that are mispredicted"),
	COUNT("taken-branches", TAKEN, "branches that were taken"),
	COUNT("untaken-branches", COND_NOT_TAKEN, "conditional branches that were not taken"),
	COUNT("cond-branches", COND, "conditional branches"),
	LESS("cond-hits", COND, COND_MISSES, "conditional branches that were predicted"),
	COUNT("cond-misses", COND_MISSES, "conditional branches that were mispredicted"),
	COUNT("call-branches", CALLS, "call instructions"),
	LESS("call-hits", CALLS, CALL_MISSES, "calls that were predicted"),
	COUNT("call-misses", CALL_MISSES, "calls that were mispredicted"),
	COUNT("return-branches", RETURNS, "return instructions"),
	LESS("return-hits", RETURNS, RETURN_MISSES, "returns that were predicted"),
	COUNT("return-misses", RETURN_MISSES, "returns that were mispredicted"),
	COUNT("indirect-branches", INDIRECT, "indirect branches"),
	LESS("indirect-hits", INDIRECT, INDIRECT_MISSES, "indirect branches that were predicted"),
	COUNT("indirect-misses", INDIRECT_MISSES, "indirect branches that were mispredicted"),
	COUNT("mispredict-stall", MISPREDICT_STALL, "cycles of recovery behind a wrong prediction"),
	SHARE("mispredict-stall-share", MISPREDICT_STALL, CYCLES, "these cycles as a share of all"),
	COUNT("frontend-stall", FRONTEND_STALL, "cycles in which no instruction was there to begin"),
	COUNT("backend-stall", BACKEND_STALL, "cycles in which none could begin"),
};
/* clang-format on */

const struct ki_metric_row *ki_event_row(size_t n)
{
	return n < sizeof(rows) / sizeof(*rows) ? &rows[n] : NULL;
}

/* Ask the kernel, for a counter of this process; who may not count the kernel counts himself. */
static int try_event(const struct ki_event_spec *spec, uint8_t sides, struct ki_err *err)
{
	struct perf_event_attr attr = {.size = sizeof(attr),
				       .type = spec->type,
				       .config = spec->config,
				       .disabled = 1,
				       .exclude_user = sides == KI_EVENT_KERNEL,
				       .exclude_kernel = sides == KI_EVENT_USER};
	long fd = syscall(SYS_perf_event_open, &attr, 0, -1, -1, PERF_FLAG_FD_CLOEXEC);

	if (fd < 0 && !sides && (errno == EACCES || errno == EPERM)) {
		attr.exclude_kernel = 1;
		fd = syscall(SYS_perf_event_open, &attr, 0, -1, -1, PERF_FLAG_FD_CLOEXEC);
	}
	if (fd >= 0)
		return close((int)fd);
	if (errno == EACCES || errno == EPERM || errno == ENOSYS || errno == EMFILE)
		return ki_err_set(err, -errno, 0, "%s: the kernel cannot be asked: %s", spec->name,
				  strerror(errno));
	return ki_err_reason(err, KI_R_EVENT_UNKNOWN, 0, "%s", spec->name);
}

int ki_metric_check(const struct ki_metric *m, struct ki_err *err)
{
	const struct ki_metric_row *r = ki_metric_row(m);
	const struct ki_event_ask events[] = {{r->event, r->sides, r->raw},
					      {.id = r->other, .sides = r->sides}};
	struct ki_event_spec spec;
	int ret = 0;

	for (size_t i = 0; !ret && i < 2 && events[i].id != EVENT_NONE; i++) {
		ret = ki_event_spec_asked(&events[i], &spec, err);
		if (!ret)
			ret = try_event(&spec, r->sides, err);
	}
	return ret;
}

const char *ki_event_at(size_t n)
{
	return n + 1 < EVENTS ? ki_event_name((enum ki_event_id)(n + 1)) : NULL;
}

int ki_event_check(size_t n, struct ki_err *err)
{
	struct ki_event_spec spec;
	int ret = ki_event_spec_here((enum ki_event_id)(n + 1), &spec, err);

	return ret ? ret : try_event(&spec, 0, err);
}
