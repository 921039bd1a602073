// SPDX-License-Identifier: LGPL-2.1-only OR BSD-2-Clause
#include "kerninst/overview.h"

#include <inttypes.h>
#include <string.h>

#include "kerninst/match.h"
#include "kerninst/totals.h"
#include "out/json.h"

/* What does not work on this system, with the reason that is given where it matters. */
struct limit {
	const char *what;
	unsigned int reason;
	bool here;
};

#define NLIMITS 3

static void find_limits(const struct ki_overview *f, struct limit *v)
{
	v[0] = (struct limit){
		"counters: no memory at one distance from all CPUs' own (all in use, or percpu_alloc=page)",
		KI_R_COUNTERS_FULL, !(f->driver->features & KI_FEATURE_COUNTER_ARENA)};
	v[1] = (struct limit){
		"safe installation: this driver was built without the wait, for tests", KI_R_OK,
		(f->driver->features & KI_FEATURE_NO_WAIT) != 0};
	v[2] = (struct limit){"changes: not all of this kernel is known to the driver",
			      KI_R_UNKNOWN_KERNEL,
			      f->driver->unknowns && !(f->driver->features & KI_FEATURE_FORCED)};
}

static int count_reserved(struct ki_overview *f, struct ki_target *t, struct ki_err *err)
{
	const struct ki_reserved_row *rows;
	size_t n;

	int ret = ki_target_reserved(t, 0, UINT64_MAX, &rows, &n, err);

	if (ret)
		return ret;
	for (size_t i = 0; i < n; i++)
		if (rows[i].reason < KI_R_COUNT)
			f->reserved[rows[i].reason]++;
	return 0;
}

int ki_overview_gather(struct ki_overview *f, struct ki_target *t, struct ki_err *err)
{
	const struct ki_text_range *ranges;
	const struct ki_symbol *syms;
	size_t n;
	int ret;

	uname(&f->kernel);
	f->target = t;
	f->driver = ki_target_info(t);
	ranges = ki_target_ranges(t, &n);
	for (size_t i = 0; i < n; i++) {
		f->text_bytes += ranges[i].end - ranges[i].start;
		f->modules += *ranges[i].module &&
			      (!i || strcmp(ranges[i].module, ranges[i - 1].module) != 0);
	}
	syms = ki_target_symbols(t, &n);
	for (size_t i = 0; i < n; i++)
		f->functions += !syms[i].alias && !ki_match_is_padding(&syms[i]);
	ret = count_reserved(f, t, err);
	if (!ret && f->hashed)
		ret = ki_target_text_hash(t, f->hash, err);
	if (!ret && f->program)
		ret = ki_springboards_take(&f->springboards, t, f->threads, err);
	return ret;
}

static void print_driver(const struct ki_overview *f, FILE *out)
{
	const struct ki_info *d = f->driver;

	fprintf(out, "kernel        %s %s\n", f->kernel.release, f->kernel.machine);
	fprintf(out, "text          %" PRIu64 " bytes, core at 0x%" PRIx64 "\n", f->text_bytes,
		(uint64_t)d->text_start);
	fprintf(out, "functions     %zu\n", f->functions);
	fprintf(out, "modules       %zu\n", f->modules);
	fprintf(out, "driver ABI    %u\n", d->abi);
	fprintf(out, "text heap     %" PRIu64 " of %" PRIu64 " bytes used, %d pages of 2 MiB\n",
		(uint64_t)d->heap_used, (uint64_t)(d->heap_end - d->heap_start),
		__builtin_popcountll(d->large));
	fprintf(out, "counters      %u of %u used, on %u CPUs\n", d->counters_used, d->counters,
		d->cpus);
	fprintf(out, "variables     %u of %u used\n", d->globals_used, d->globals);
	fprintf(out, "threads'      %u of %u used, missing at %" PRIu64 " switches\n",
		d->words_used, d->words, (uint64_t)d->wordless);
	fprintf(out, "clock         %u kHz\n", d->tsc_khz);
	fprintf(out, "sessions      %u, this one included\n", d->sessions);
	fprintf(out, "windows       %u installed, %" PRIu64 " filled\n", d->windows,
		(uint64_t)d->filled);
	if (d->returns)
		fprintf(out, "trampolines   %u after tail jumps, %u left over%s\n", d->returns,
			d->leftovers, d->leftovers ? ": the driver cannot be unloaded" : "");
	fprintf(out, "waits         %" PRIu64 ", met inside instead %" PRIu64 "\n",
		(uint64_t)d->waits, (uint64_t)d->late);
	fprintf(out, "skipped hits  %" PRIu64 "\n", (uint64_t)d->skipped);
	if (d->unknowns)
		fprintf(out, "not known     %u of this kernel, first: %.*s%s\n", d->unknowns,
			(int)sizeof(d->unknown), d->unknown,
			d->features & KI_FEATURE_FORCED ? " (forced: changed all the same)" : "");
}

static void print_limits(const struct ki_overview *f, FILE *out)
{
	struct limit limits[NLIMITS];

	find_limits(f, limits);
	for (size_t i = 0; i < NLIMITS; i++)
		if (limits[i].here)
			fprintf(out, "unsupported   %s%s%s%s\n", limits[i].what,
				limits[i].reason ? " [" : "",
				limits[i].reason ? ki_reason_tag(limits[i].reason) : "",
				limits[i].reason ? "]" : "");
}

void ki_overview_print(const struct ki_overview *f, bool verbose, FILE *out)
{
	if (f->driver) {
		print_driver(f, out);
	} else {
		fprintf(out, "image         %s\n", f->image);
		fprintf(out, "text          %" PRIu64 " bytes\n", f->text_bytes);
		fprintf(out, "functions     %zu\n", f->functions);
	}
	if (f->hashed)
		fprintf(out, "text hash     %s\n", f->hash);
	for (unsigned int r = 0; r < KI_R_COUNT; r++)
		if (f->reserved[r])
			fprintf(out, "reserved      %10zu  %s\n", f->reserved[r], ki_reason_tag(r));
	if (f->driver) {
		ki_held_print(f->target, out);
		print_limits(f, out);
	}
	if (!f->program)
		return;
	fputs("\nanalysis\n", out);
	ki_totals_print(f->program, ki_totals_threads(f->threads), out);
	fputs("\nspringboards\n", out);
	ki_springboards_print(&f->springboards, out);
	if (verbose)
		ki_totals_unparsed_print(f->program, out);
}

static void json_driver(struct ki_json *j, const struct ki_overview *f)
{
	const struct ki_info *d = f->driver;

	ki_json_str(j, "release", f->kernel.release);
	ki_json_str(j, "machine", f->kernel.machine);
	ki_json_u64(j, "abi", d->abi);
	ki_json_u64(j, "cpus", d->cpus);
	ki_json_hex(j, "text_start", d->text_start);
	ki_json_hex(j, "text_end", d->text_end);
	ki_json_u64(j, "heap_bytes", d->heap_end - d->heap_start);
	ki_json_u64(j, "heap_used", d->heap_used);
	ki_json_u64(j, "heap_large_pages", (uint64_t)__builtin_popcountll(d->large));
	ki_json_u64(j, "counters", d->counters);
	ki_json_u64(j, "counters_used", d->counters_used);
	ki_json_u64(j, "sessions", d->sessions);
	ki_json_u64(j, "windows", d->windows);
	ki_json_u64(j, "filled", d->filled);
	ki_json_u64(j, "returns", d->returns);
	ki_json_u64(j, "leftovers", d->leftovers);
	ki_json_u64(j, "waits", d->waits);
	ki_json_u64(j, "late", d->late);
	ki_json_u64(j, "skipped", d->skipped);
	ki_json_u64(j, "variables", d->globals);
	ki_json_u64(j, "variables_used", d->globals_used);
	ki_json_u64(j, "words", d->words);
	ki_json_u64(j, "words_used", d->words_used);
	ki_json_u64(j, "wordless", d->wordless);
	ki_json_u64(j, "tsc_khz", d->tsc_khz);
	ki_json_u64(j, "unknowns", d->unknowns);
	ki_json_str(j, "unknown", d->unknowns ? d->unknown : NULL);
	ki_json_bool(j, "forced", d->features & KI_FEATURE_FORCED);
}

static void json_limits(struct ki_json *j, const struct ki_overview *f)
{
	struct limit limits[NLIMITS];

	find_limits(f, limits);
	ki_json_open(j, "unsupported", '[');
	for (size_t i = 0; i < NLIMITS; i++) {
		if (!limits[i].here)
			continue;
		ki_json_open(j, NULL, '{');
		ki_json_str(j, "what", limits[i].what);
		ki_json_str(j, "reason", limits[i].reason ? ki_reason_tag(limits[i].reason) : NULL);
		ki_json_close(j);
	}
	ki_json_close(j);
}

static void json_program(struct ki_json *j, const struct ki_overview *f, bool verbose)
{
	ki_json_open(j, "analysis", '{');
	ki_totals_json(j, f->program, ki_totals_threads(f->threads));
	ki_springboards_json(&f->springboards, j);
	if (verbose)
		ki_totals_unparsed_json(j, f->program);
	ki_json_close(j);
}

int ki_overview_json(const struct ki_overview *f, bool verbose, FILE *out)
{
	struct ki_json j;

	ki_json_init(&j, out);
	ki_json_open(&j, NULL, '{');
	if (f->driver)
		json_driver(&j, f);
	else
		ki_json_str(&j, "image", f->image);
	ki_json_u64(&j, "text_bytes", f->text_bytes);
	ki_json_u64(&j, "functions", f->functions);
	ki_json_u64(&j, "modules", f->modules);
	ki_json_open(&j, "reserved", '{');
	for (unsigned int r = 0; r < KI_R_COUNT; r++)
		if (f->reserved[r])
			ki_json_u64(&j, ki_reason_tag(r), f->reserved[r]);
	ki_json_close(&j);
	if (f->driver) {
		ki_held_json(&j, f->target);
		json_limits(&j, f);
	}
	if (f->hashed)
		ki_json_str(&j, "text_hash", f->hash);
	if (f->program)
		json_program(&j, f, verbose);
	ki_json_close(&j);
	return ki_json_end_line(&j);
}
