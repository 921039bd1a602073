// SPDX-License-Identifier: LGPL-2.1-only OR BSD-2-Clause
#include "kerninst/totals.h"

#include <inttypes.h>
#include <sched.h>

#include "kerninst/match.h"
#include "out/json.h"

unsigned int ki_totals_threads(unsigned int wanted)
{
	cpu_set_t set;

	if (wanted)
		return wanted;
	if (sched_getaffinity(0, sizeof(set), &set))
		return 1;
	return (unsigned int)CPU_COUNT(&set);
}

static double per_cent(uint64_t part, uint64_t all)
{
	return all ? 100.0 * (double)part / (double)all : 0;
}

/* The numbers that stand alone, under the same names as text and in JSON. */
struct number {
	const char *name, *key;
	uint64_t value;
};

#define NNUMBERS 16

static void list_numbers(const struct ki_program_totals *n, struct number v[NNUMBERS])
{
	const struct number numbers[NNUMBERS] = {
		{"not parsed", "unparsed", n->functions - n->parsed},
		{"noreturn", "noreturn", n->noreturn},
		{"parts, clones", "parts", n->parts},
		{"blocks", "blocks", n->blocks},
		{"edges", "edges", n->edges},
		{"instructions", "instructions", n->instructions},
		{"calls", "calls", n->calls},
		{"  indirect", "indirect_calls", n->indirect_calls},
		{"tail calls", "tail_calls", n->tail_calls},
		{"  indirect", "indirect_tail_calls", n->indirect_tail_calls},
		{"returns", "returns", n->returns},
		{"table jumps", "table_jumps", n->table_jumps},
		{"text bytes", "text_bytes", n->text_bytes},
		{"code bytes", "code_bytes", n->code_bytes},
	};

	for (size_t i = 0; i < NNUMBERS; i++)
		v[i] = numbers[i];
}

/* The totals without the padding before functions, which has symbols of its own. */
static struct ki_program_totals real_totals(const struct ki_program *p)
{
	struct ki_program_totals n = *ki_program_totals(p);
	uint32_t count;
	const struct ki_program_function *f = ki_program_functions(p, &count);

	for (const struct ki_program_function *end = f + count; f < end; f++) {
		if (!ki_match_is_padding(f->symbol))
			continue;
		n.functions--;
		n.parsed -= (f->flags & KI_FUNCTION_PARSED) != 0;
		n.refused[f->reason] -= n.refused[f->reason] != 0;
	}
	return n;
}

void ki_totals_print(const struct ki_program *p, unsigned int threads, FILE *out)
{
	const struct ki_program_totals n = real_totals(p);
	struct number numbers[NNUMBERS];

	list_numbers(&n, numbers);
	fprintf(out, "functions     %10" PRIu64 "\n", n.functions);
	fprintf(out, "parsed        %10" PRIu64 "  %.2f %%\n", n.parsed,
		per_cent(n.parsed, n.functions));
	for (size_t i = 0; i < NNUMBERS && numbers[i].name; i++)
		fprintf(out, "%-13s %10" PRIu64 "\n", numbers[i].name, numbers[i].value);
	for (unsigned int r = 1; r < KI_R_COUNT; r++)
		if (n.refused[r])
			fprintf(out, "refused       %10" PRIu64 "  %-18s %s\n", n.refused[r],
				ki_reason_tag(r), ki_reason_text(r));
	fprintf(out,
		"seconds       %10.3f  %.3f reading, %.3f parsing, %.3f liveness; %u thread%s\n",
		n.read_seconds + n.parse_seconds + n.liveness_seconds, n.read_seconds,
		n.parse_seconds, n.liveness_seconds, threads, threads == 1 ? "" : "s");
	fprintf(out, "peak bytes    %10" PRIu64 "\n", n.peak_bytes);
}

void ki_totals_json(struct ki_json *j, const struct ki_program *p, unsigned int threads)
{
	const struct ki_program_totals n = real_totals(p);
	struct number numbers[NNUMBERS];

	list_numbers(&n, numbers);
	ki_json_u64(j, "functions", n.functions);
	ki_json_u64(j, "parsed", n.parsed);
	ki_json_double(j, "parsed_percent", per_cent(n.parsed, n.functions));
	for (size_t i = 0; i < NNUMBERS && numbers[i].name; i++)
		ki_json_u64(j, numbers[i].key, numbers[i].value);
	ki_json_open(j, "refused", '{');
	for (unsigned int r = 1; r < KI_R_COUNT; r++)
		if (n.refused[r])
			ki_json_u64(j, ki_reason_tag(r), n.refused[r]);
	ki_json_close(j);
	ki_json_double(j, "read_seconds", n.read_seconds);
	ki_json_double(j, "parse_seconds", n.parse_seconds);
	ki_json_double(j, "liveness_seconds", n.liveness_seconds);
	ki_json_u64(j, "threads", threads);
	ki_json_u64(j, "peak_bytes", n.peak_bytes);
}

static bool is_unparsed(const struct ki_program_function *f)
{
	return !(f->flags & KI_FUNCTION_PARSED) && !ki_match_is_padding(f->symbol);
}

void ki_totals_unparsed_print(const struct ki_program *p, FILE *out)
{
	uint32_t n;
	const struct ki_program_function *f = ki_program_functions(p, &n);

	for (const struct ki_program_function *end = f + n; f < end; f++) {
		if (!is_unparsed(f))
			continue;
		fprintf(out, "not parsed    0x%" PRIx64 "  %s:%s  %s\n", f->symbol->addr,
			ki_symbol_module(f->symbol), f->symbol->name, ki_reason_tag(f->unparsed));
	}
}

void ki_totals_unparsed_json(struct ki_json *j, const struct ki_program *p)
{
	uint32_t n;
	const struct ki_program_function *f = ki_program_functions(p, &n);

	ki_json_open(j, "not_parsed", '[');
	for (const struct ki_program_function *end = f + n; f < end; f++) {
		if (!is_unparsed(f))
			continue;
		ki_json_open(j, NULL, '{');
		ki_json_str(j, "module", ki_symbol_module(f->symbol));
		ki_json_str(j, "function", f->symbol->name);
		ki_json_hex(j, "address", f->symbol->addr);
		ki_json_str(j, "reason", ki_reason_tag(f->unparsed));
		ki_json_close(j);
	}
	ki_json_close(j);
}
