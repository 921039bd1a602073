// SPDX-License-Identifier: GPL-2.0-only
/*
 * kerninst info: what kernel and driver this is, what cannot be done here, and what is known of
 * the code as a whole.
 */
#include <inttypes.h>
#include <stdlib.h>
#include <string.h>
#include <sys/utsname.h>

#include "kerninst/springboards.h"
#include "cli.h"
#include "verbs/held.h"
#include "verbs/info_events.h"
#include "kerninst/match.h"
#include "open.h"
#include "out/json.h"
#include "kerninst/totals.h"

static const char usage[] =
	"Usage: kerninst info [OPTION...]\n"
	"Show the kernel, the driver, what is in use, what is not supported here, and what the\n"
	"analysis of all functions finds.\n\n"
	"      --json             one object\n"
	"      --quick            no analysis: what the driver knows\n"
	"  -v, --verbose          also each function whose code is not fully known, and why\n"
	"      --events           no more than the events of processor and kernel: which are counted\n"
	"                         here, which not and why, and whose sessions count some\n"
	"      --threads N        of the analysis, 1 to 1024 (one for each CPU)\n"
	"      --text-hash        hash the text of kernel and modules as it is now; sites that the\n"
	"                         kernel itself rewrites are left out, and the driver: equal hashes\n"
	"                         mean that all that was installed has gone\n" OPEN_USAGE
	"  -h, --help             this text\n\n"
	"Examples:\n"
	"  kerninst info\n"
	"  kerninst info --quick --json --text-hash | jq -r .text_hash\n"
	"  kerninst info -v --image vmlinux --system-map System.map\n";

#define THREADS_MAX 1024

struct facts {
	struct open_options open;
	struct ki_program_options analysis;
	bool quick, verbose, events;
	struct utsname kernel;
	const struct ki_target *target;
	const struct ki_info *driver;  /* NULL: a file */
	struct ki_program *program;    /* NULL: quick */
	struct ki_springboards census; /* if not quick */
	uint64_t text_bytes;	       /* of all ranges */
	size_t functions, modules;
	size_t reserved[KI_R_COUNT]; /* rows of reserved text, by reason */
	char hash[KI_TEXT_HASH_LEN];
	bool hashed;
};

/* What does not work on this system, with the reason that is given where it matters. */
struct limit {
	const char *what;
	unsigned int reason;
	bool here;
};

#define NLIMITS 3

static void find_limits(const struct facts *f, struct limit *v)
{
	v[0] = (struct limit){"more counters than the kernel's reserve for modules",
			      KI_R_COUNTERS_FULL,
			      !(f->driver->features & KI_FEATURE_COUNTER_ARENA)};
	v[1] = (struct limit){
		"safe installation: this driver was built without the wait, for tests", KI_R_OK,
		(f->driver->features & KI_FEATURE_NO_WAIT) != 0};
	v[2] = (struct limit){"changes: not all of this kernel is known to the driver",
			      KI_R_UNKNOWN_KERNEL,
			      f->driver->unknowns && !(f->driver->features & KI_FEATURE_FORCED)};
}

static int count_reserved(struct facts *f, struct ki_target *t, struct ki_err *err)
{
	const struct ki_reserved_row *rows;
	size_t n;

	if (ki_target_reserved(t, 0, UINT64_MAX, &rows, &n, err))
		return -1;
	for (size_t i = 0; i < n; i++)
		if (rows[i].reason < KI_R_COUNT)
			f->reserved[rows[i].reason]++;
	return 0;
}

static int analyze(struct facts *f, struct ki_target *t)
{
	struct ki_err err = {0};
	int ret = open_program(t, &f->analysis, false, &f->program);

	if (!ret && ki_springboards_take(&f->census, t, f->analysis.threads, &err))
		ret = cli_fail(&err);
	return ret;
}

static int gather(struct facts *f, struct ki_target *t)
{
	const struct ki_text_range *ranges;
	const struct ki_symbol *syms;
	struct ki_err err = {0};
	size_t n;

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
	if (count_reserved(f, t, &err) || (f->hashed && ki_target_text_hash(t, f->hash, &err)))
		return cli_fail(&err);
	return f->quick ? CLI_OK : analyze(f, t);
}

static void print_driver(const struct facts *f)
{
	const struct ki_info *d = f->driver;

	printf("kernel        %s %s\n", f->kernel.release, f->kernel.machine);
	printf("text          %" PRIu64 " bytes, core at 0x%" PRIx64 "\n", f->text_bytes,
	       (uint64_t)d->text_start);
	printf("functions     %zu\n", f->functions);
	printf("modules       %zu\n", f->modules);
	printf("driver ABI    %u\n", d->abi);
	printf("text heap     %" PRIu64 " of %" PRIu64 " bytes used\n", (uint64_t)d->heap_used,
	       (uint64_t)(d->heap_end - d->heap_start));
	printf("counters      %u of %u used, on %u CPUs\n", d->counters_used, d->counters, d->cpus);
	printf("variables     %u of %u used\n", d->globals_used, d->globals);
	printf("threads'      %u of %u used, missing at %" PRIu64 " switches\n", d->words_used,
	       d->words, (uint64_t)d->wordless);
	printf("clock         %u kHz\n", d->tsc_khz);
	printf("sessions      %u, this one included\n", d->sessions);
	printf("windows       %u installed, %" PRIu64 " filled\n", d->windows, (uint64_t)d->filled);
	if (d->returns)
		printf("ways back     %u behind tail jumps, %u left over%s\n", d->returns,
		       d->leftovers, d->leftovers ? ": the driver cannot be unloaded" : "");
	printf("waits         %" PRIu64 ", met inside instead %" PRIu64 "\n", (uint64_t)d->waits,
	       (uint64_t)d->late);
	printf("skipped hits  %" PRIu64 "\n", (uint64_t)d->skipped);
	if (d->unknowns)
		printf("not known     %u of this kernel, first: %.*s%s\n", d->unknowns,
		       (int)sizeof(d->unknown), d->unknown,
		       d->features & KI_FEATURE_FORCED ? " (forced: changed all the same)" : "");
}

static void print_limits(const struct facts *f)
{
	struct limit limits[NLIMITS];

	find_limits(f, limits);
	for (size_t i = 0; i < NLIMITS; i++)
		if (limits[i].here)
			printf("unsupported   %s%s%s%s\n", limits[i].what,
			       limits[i].reason ? " [" : "",
			       limits[i].reason ? ki_reason_tag(limits[i].reason) : "",
			       limits[i].reason ? "]" : "");
}

static void print_text(const struct facts *f)
{
	if (f->driver) {
		print_driver(f);
	} else {
		printf("image         %s\n", f->open.image);
		printf("text          %" PRIu64 " bytes\n", f->text_bytes);
		printf("functions     %zu\n", f->functions);
	}
	if (f->hashed)
		printf("text hash     %s\n", f->hash);
	for (unsigned int r = 0; r < KI_R_COUNT; r++)
		if (f->reserved[r])
			printf("reserved      %10zu  %s\n", f->reserved[r], ki_reason_tag(r));
	if (f->driver) {
		held_print(f->target);
		print_limits(f);
	}
	if (!f->program)
		return;
	puts("\nanalysis");
	ki_totals_print(f->program, ki_totals_threads(f->analysis.threads), stdout);
	puts("\nspringboards");
	ki_springboards_print(&f->census, stdout);
	if (f->verbose)
		ki_totals_unparsed_print(f->program, stdout);
}

static void json_driver(struct ki_json *j, const struct facts *f)
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

static void json_limits(struct ki_json *j, const struct facts *f)
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

static void json_program(struct ki_json *j, const struct facts *f)
{
	ki_json_open(j, "analysis", '{');
	ki_totals_json(j, f->program, ki_totals_threads(f->analysis.threads));
	ki_springboards_json(&f->census, j);
	if (f->verbose)
		ki_totals_unparsed_json(j, f->program);
	ki_json_close(j);
}

static void print_json(const struct facts *f)
{
	struct ki_json j;

	ki_json_init(&j, stdout);
	ki_json_open(&j, NULL, '{');
	if (f->driver)
		json_driver(&j, f);
	else
		ki_json_str(&j, "image", f->open.image);
	ki_json_u64(&j, "text_bytes", f->text_bytes);
	ki_json_u64(&j, "functions", f->functions);
	ki_json_u64(&j, "modules", f->modules);
	ki_json_open(&j, "reserved", '{');
	for (unsigned int r = 0; r < KI_R_COUNT; r++)
		if (f->reserved[r])
			ki_json_u64(&j, ki_reason_tag(r), f->reserved[r]);
	ki_json_close(&j);
	if (f->driver) {
		held_json(&j, f->target);
		json_limits(&j, f);
	}
	if (f->hashed)
		ki_json_str(&j, "text_hash", f->hash);
	if (f->program)
		json_program(&j, f);
	ki_json_close(&j);
	ki_json_end_line(&j);
}

static bool parse_threads(const char *text, unsigned int *out)
{
	char *end;
	unsigned long n = strtoul(text, &end, 10);

	*out = (unsigned int)n;
	return *text >= '0' && *text <= '9' && !*end && n >= 1 && n <= THREADS_MAX;
}

enum { OPT_QUICK = 1, OPT_THREADS, OPT_HASH, OPT_EVENTS };

static const struct option options[] = {{"json", no_argument, NULL, 'j'},
					{"quick", no_argument, NULL, OPT_QUICK},
					{"events", no_argument, NULL, OPT_EVENTS},
					{"verbose", no_argument, NULL, 'v'},
					{"threads", required_argument, NULL, OPT_THREADS},
					{"text-hash", no_argument, NULL, OPT_HASH},
					{"help", no_argument, NULL, 'h'},
					OPEN_OPTIONS,
					{0}};

static int parse(const struct verb *self, struct facts *f, bool *json, int argc, char **argv)
{
	int c;

	while ((c = getopt_long(argc, argv, ":vh", options, NULL)) != -1) {
		if (c == 'j')
			*json = true;
		else if (c == OPT_QUICK)
			f->quick = true;
		else if (c == 'v')
			f->verbose = true;
		else if (c == OPT_HASH)
			f->hashed = true;
		else if (c == OPT_EVENTS)
			f->events = true;
		else if (c == OPT_THREADS && !parse_threads(optarg, &f->analysis.threads))
			return cli_misuse(self, "--threads %s: not a number from 1 to %d", optarg,
					  THREADS_MAX);
		else if (c != OPT_THREADS && !open_option(&f->open, c, optarg))
			return cli_other_option(self, c, argv);
	}
	return optind < argc ? cli_misuse(self, "'%s': info takes no arguments", argv[optind]) : -1;
}

static int run(const struct verb *self, int argc, char **argv)
{
	struct facts f = {0};
	struct ki_target *t = NULL;
	bool json = false;
	int ret = parse(self, &f, &json, argc, argv);

	if (ret >= 0)
		return ret;
	if (f.events)
		return info_events(json);
	ret = open_or_fail(&f.open, &t);
	if (!ret)
		ret = gather(&f, t);
	if (!ret)
		(json ? print_json : print_text)(&f);
	ki_program_free(f.program);
	ki_target_close(t);
	return ret;
}

const struct verb verb_info = {
	.name = "info",
	.summary = "the kernel, the driver, what is not supported here, and what all code is like",
	.usage = usage,
	.run = run,
};
