// SPDX-License-Identifier: GPL-2.0-only
/*
 * analyze NAME [FILE [SYSTEM_MAP]]: one measurement for bench/analysis.sh, in a process of its
 * own. All disassemblers get the same bytes, and have nothing to do but decode them one after the
 * other: what is no instruction is one byte. Prints
 *
 *   seconds  peak-bytes  instructions		of NAME zydis, capstone, distorm
 *   seconds  peak-bytes  instructions  read  parse  liveness	of NAME 1, 2, ...: threads
 *   plain  0  instructions  read  parse  liveness		of NAME live: the running kernel;
 *							plain: its text read by the driver
 */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/resource.h>
#include <time.h>

#include <Zydis/Zydis.h>

#include "kerninst/program.h"
#include "uapi/kerninst.h"

#if __has_include(<capstone/capstone.h>)
#include <capstone/capstone.h>
#define HAS_CAPSTONE
#endif
#if __has_include(<distorm3/distorm.h>)
#define SUPPORT_64BIT_OFFSET
#include <distorm3/distorm.h>
#define HAS_DISTORM
#endif

static double now(void)
{
	struct timespec ts;

	clock_gettime(CLOCK_MONOTONIC, &ts);
	return (double)ts.tv_sec + (double)ts.tv_nsec / 1e9;
}

static unsigned long long peak(void)
{
	struct rusage ru;

	getrusage(RUSAGE_SELF, &ru);
	return (unsigned long long)ru.ru_maxrss << 10;
}

static void die(const struct ki_err *err)
{
	fprintf(stderr, "analyze: %s\n", err->msg);
	exit(1);
}

static size_t zydis(const uint8_t *p, size_t len, uint64_t addr)
{
	ZydisDecodedInstruction z;
	ZydisDecoder decoder;
	size_t n = 0;

	(void)addr;
	ZydisDecoderInit(&decoder, ZYDIS_MACHINE_MODE_LONG_64, ZYDIS_STACK_WIDTH_64);
	for (size_t at = 0; at < len; n++)
		at += ZYAN_SUCCESS(
			      ZydisDecoderDecodeInstruction(&decoder, NULL, p + at, len - at, &z))
			      ? z.length
			      : 1;
	return n;
}

#ifdef HAS_CAPSTONE
static size_t capstone(const uint8_t *p, size_t len, uint64_t addr)
{
	cs_insn *insn;
	size_t n = 0;
	csh h;

	if (cs_open(CS_ARCH_X86, CS_MODE_64, &h))
		exit(1);
	insn = cs_malloc(h);
	while (len) {
		if (!cs_disasm_iter(h, &p, &len, &addr, insn)) {
			p++;
			len--;
			addr++;
		}
		n++;
	}
	cs_free(insn, 1);
	cs_close(&h);
	return n;
}
#endif

#ifdef HAS_DISTORM
static size_t distorm(const uint8_t *p, size_t len, uint64_t addr)
{
	static _DInst insns[4096];
	_CodeInfo ci = {.codeOffset = addr, .code = p, .codeLen = (int)len, .dt = Decode64Bits};
	size_t n = 0;

	while (ci.codeLen > 0) {
		unsigned int got = 0;
		_DecodeResult r = distorm_decompose(&ci, insns, 4096, &got);
		uint64_t next = ci.nextOffset;

		n += got;
		if ((r != DECRES_SUCCESS && r != DECRES_MEMORYERR) || !got || r == DECRES_SUCCESS)
			break;
		ci.code += next - ci.codeOffset;
		ci.codeLen -= (int)(next - ci.codeOffset);
		ci.codeOffset = next;
	}
	return n;
}
#endif

static const struct {
	const char *name;
	size_t (*run)(const uint8_t *p, size_t len, uint64_t addr);
} peers[] = {
	{"zydis", zydis},
#ifdef HAS_CAPSTONE
	{"capstone", capstone},
#endif
#ifdef HAS_DISTORM
	{"distorm", distorm},
#endif
};

static uint8_t *read_range(struct ki_target *t, const struct ki_text_range *r, uint8_t *to)
{
	struct ki_err err = {0};

	if (!to || ki_target_read(t, r->start, to, r->end - r->start, KI_VIEW_ORIG, &err))
		die(&err);
	return to;
}

static void run_peer(struct ki_target *t, size_t (*run)(const uint8_t *, size_t, uint64_t))
{
	size_t n, insns = 0;
	const struct ki_text_range *r = ki_target_ranges(t, &n);
	double took = 0, start;

	for (size_t i = 0; i < n; i++) {
		uint8_t *text = read_range(t, &r[i], malloc(r[i].end - r[i].start));

		start = now();
		insns += run(text, r[i].end - r[i].start, r[i].start);
		took += now() - start;
		free(text);
	}
	printf("%.4f\t%llu\t%zu\n", took, peak(), insns);
}

/* The best of some readings of all text. */
static double read_plain(struct ki_target *t)
{
	size_t n;
	const struct ki_text_range *r = ki_target_ranges(t, &n);
	double best = 0;

	for (int i = 0; i < 5; i++) {
		double took = 0;

		for (size_t k = 0; k < n; k++) {
			uint8_t *text = calloc(1, r[k].end - r[k].start);
			double start = now();

			read_range(t, &r[k], text);
			took += now() - start;
			free(text);
		}
		best = i && best < took ? best : took;
	}
	return best;
}

static void run_ours(struct ki_target *t, unsigned int threads, double plain)
{
	struct ki_program_options o = {.size = sizeof(o), .threads = threads};
	const struct ki_program_totals *totals;
	struct ki_err err = {0};
	struct ki_program *p;

	if (ki_program_new(t, &o, &p, &err))
		die(&err);
	totals = ki_program_totals(p);
	printf("%.4f\t%llu\t%llu\t%.4f\t%.4f\t%.4f\n",
	       plain != 0 ? plain
			  : totals->read_seconds + totals->parse_seconds + totals->liveness_seconds,
	       (unsigned long long)totals->peak_bytes, (unsigned long long)totals->instructions,
	       totals->read_seconds, totals->parse_seconds, totals->liveness_seconds);
	ki_program_free(p);
}

static int measure(struct ki_target *t, const char *name)
{
	if (!strcmp(name, "live")) {
		run_ours(t, 1, read_plain(t));
		return 0;
	}
	if (atoi(name) > 0) {
		run_ours(t, (unsigned int)atoi(name), 0);
		return 0;
	}
	for (size_t i = 0; i < sizeof(peers) / sizeof(*peers); i++)
		if (!strcmp(name, peers[i].name)) {
			run_peer(t, peers[i].run);
			return 0;
		}
	fprintf(stderr, "analyze: %s is not installed (make bench-deps)\n", name);
	return 3;
}

int main(int argc, char **argv)
{
	const char *name = argc > 1 ? argv[1] : "";
	struct ki_err err = {0};
	struct ki_target *t;
	bool live = !strcmp(name, "live");
	int ret;

	if (argc < (live ? 2 : 3)) {
		fprintf(stderr,
			"usage: analyze THREADS|zydis|capstone|distorm|live [FILE [MAP]]\n");
		return 2;
	}
	if (live       ? ki_target_new_live(&t, &err)
	    : argc > 3 ? ki_target_new_with_map(argv[2], argv[3], &t, &err)
		       : ki_target_new_image(argv[2], &t, &err))
		die(&err);
	ret = measure(t, name);
	ki_target_free(t);
	return ret;
}
