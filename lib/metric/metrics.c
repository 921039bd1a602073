// SPDX-License-Identifier: LGPL-2.1-only OR BSD-2-Clause
/*
 * The table of metrics. A new one is a row here, if what it measures is a source already.
 */
#include <string.h>

#include "metric/table.h"

/* clang-format off */
#define COUNTING(name_, at_, lasts_, text_, code_) \
	{{.name = (name_), .text = (text_), .code = (code_), .unit = KI_UNIT_COUNT, \
	  .form = KI_FORM_TOTAL, .lasts = (lasts_)}, \
	 .at = (at_), .source = SOURCE_NONE, .top = TOP_COUNTER, .bottom = BOTTOM_ONE}
#define TOTAL(name_, unit_, source_, text_, code_) \
	{{.name = (name_), .text = (text_), .code = (code_), .unit = (unit_), \
	  .form = KI_FORM_TOTAL, .lasts = true}, \
	 .source = (source_), .keeps = KEEP_TOTAL, .top = TOP_ALL, .bottom = BOTTOM_ONE}
#define PER_CALL(name_, unit_, source_, text_, code_) \
	{{.name = (name_), .text = (text_), .code = (code_), .unit = (unit_), \
	  .form = KI_FORM_MEAN, .lasts = true}, \
	 .source = (source_), .keeps = KEEP_TOTAL | KEEP_OVER, .top = TOP_OVER, \
	 .bottom = BOTTOM_OVER}
#define LOG2(name_, unit_, source_, text_, code_) \
	{{.name = (name_), .text = (text_), .code = (code_), .unit = (unit_), \
	  .form = KI_FORM_HISTOGRAM, .lasts = true}, \
	 .source = (source_), .keeps = KEEP_LOG2, .top = TOP_LOG2, .bottom = BOTTOM_ONE}

#define WORD_OF(what) "entry: the thread's word = " what "; return: "
#define SUM_OF(what)  WORD_OF(what) "total += " what " - word, word = 0"

static const struct ki_metric_row rows[] = {
	COUNTING("calls", KI_POINT_ENTRY, false,
		 "how often the function is called, or the point is passed",
		 "entry: counter += 1"),
	COUNTING("exits", KI_POINT_EXIT, true,
		 "how often it is left: by a return, or by a jump to another function",
		 "returns and jumps: counter += 1"),
	COUNTING("returns", KI_POINT_EXIT_AFTER, true,
		 "how often its caller gets control back",
		 "returns, also of functions jumped to: counter += 1"),
	COUNTING("count", KI_POINT_KINDS, false,
		 "how often a point is passed: a block, an edge, an instruction",
		 "point: counter += 1"),
	TOTAL("walltime", KI_UNIT_SECONDS, SOURCE_WALL,
	      "time that threads have spent inside, running or asleep",
	      SUM_OF("clock")),
	PER_CALL("walltime/call", KI_UNIT_SECONDS, SOURCE_WALL,
		 "the mean of it over calls that have ended",
		 SUM_OF("clock") ", calls += 1"),
	{{.name = "concurrency", .unit = KI_UNIT_THREADS, .form = KI_FORM_MEAN, .lasts = true,
	  .text = "how many threads are inside, on average",
	  .code = SUM_OF("clock")},
	 .source = SOURCE_WALL, .keeps = KEEP_TOTAL, .top = TOP_ALL, .bottom = BOTTOM_TIME},
	LOG2("latency", KI_UNIT_SECONDS, SOURCE_WALL,
	     "histogram of the time from call to return, running or asleep",
	     WORD_OF("clock") "histogram[log2(ns)] += 1, word = 0"),
	TOTAL("vtime", KI_UNIT_SECONDS, SOURCE_OWN,
	      "time that threads have run inside",
	      SUM_OF("the thread's clock")),
	{{.name = "running", .unit = KI_UNIT_THREADS, .form = KI_FORM_MEAN, .lasts = true,
	  .text = "how many threads run inside, on average: CPUs that it keeps busy",
	  .code = SUM_OF("the thread's clock")},
	 .source = SOURCE_OWN, .keeps = KEEP_TOTAL, .top = TOP_ALL, .bottom = BOTTOM_TIME},
	PER_CALL("vtime/call", KI_UNIT_SECONDS, SOURCE_OWN,
		 "the mean of it over calls that have ended",
		 SUM_OF("the thread's clock") ", calls += 1"),
	LOG2("vlatency", KI_UNIT_SECONDS, SOURCE_OWN,
	     "histogram of the time that the thread ran between call and return",
	     WORD_OF("the thread's clock") "histogram[log2(ns)] += 1, word = 0"),
	TOTAL("faults", KI_UNIT_COUNT, SOURCE_FAULTS,
	      "page faults of threads inside, with and without I/O",
	      SUM_OF("its page faults")),
	PER_CALL("faults/call", KI_UNIT_COUNT, SOURCE_FAULTS,
		 "the mean of it",
		 SUM_OF("its page faults") ", calls += 1"),
	TOTAL("major-faults", KI_UNIT_COUNT, SOURCE_MAJOR_FAULTS,
	      "page faults of threads inside that needed I/O",
	      SUM_OF("its major faults")),
	PER_CALL("major-faults/call", KI_UNIT_COUNT, SOURCE_MAJOR_FAULTS,
		 "the mean of it",
		 SUM_OF("its major faults") ", calls += 1"),
	TOTAL("switches", KI_UNIT_COUNT, SOURCE_SWITCHES,
	      "how often threads inside gave up their CPU, or lost it",
	      SUM_OF("its switches")),
	PER_CALL("switches/call", KI_UNIT_COUNT, SOURCE_SWITCHES,
		 "the mean of it",
		 SUM_OF("its switches") ", calls += 1"),
	TOTAL("preemptions", KI_UNIT_COUNT, SOURCE_PREEMPTIONS,
	      "how often threads inside lost their CPU, and did not give it up",
	      SUM_OF("its involuntary switches")),
	PER_CALL("preemptions/call", KI_UNIT_COUNT, SOURCE_PREEMPTIONS,
		 "the mean of it",
		 SUM_OF("its involuntary switches") ", calls += 1"),
};
/* clang-format on */

#define NROWS (sizeof(rows) / sizeof(*rows))

const struct ki_metric *ki_metric_at(size_t n)
{
	const struct ki_metric_row *row = n < NROWS ? &rows[n] : ki_event_row(n - NROWS);

	return row ? &row->m : NULL;
}

const struct ki_metric *ki_metric_find(const char *name)
{
	const struct ki_metric *m;

	for (size_t i = 0; (m = ki_metric_at(i)); i++)
		if (!strcmp(name, m->name))
			return m;
	return NULL;
}

const struct ki_metric_row *ki_metric_row(const struct ki_metric *m)
{
	return (const struct ki_metric_row *)(const void *)m;
}

bool ki_metric_needs_kernel(const struct ki_metric *m)
{
	return ki_metric_row(m)->source > SOURCE_WALL;
}

const char *ki_unit_name(enum ki_unit unit)
{
	static const char *const names[KI_UNITS] = {
		[KI_UNIT_COUNT] = "",
		[KI_UNIT_SECONDS] = "s",
		[KI_UNIT_THREADS] = "threads",
	};

	return unit < KI_UNITS ? names[unit] : "";
}
