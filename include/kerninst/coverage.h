/* SPDX-License-Identifier: LGPL-2.1-only OR BSD-2-Clause */
/*
 * What can be done with a ki_coverage (cover.h) when it is there: files, comparison, source lines.
 * No kernel and no target takes part.
 */
#ifndef KERNINST_COVERAGE_H
#define KERNINST_COVERAGE_H

#include <stdio.h>

#include "kerninst/cover.h"

#ifdef __cplusplus
extern "C" {
#endif

/* "hit", "count", "edges"; "?" for what is none. */
const char *ki_cover_mode_name(unsigned int mode);

/* "probed", "implied", "unknown"; "?" for what is none. */
const char *ki_cover_how_name(unsigned int how);

/*
 * Compute those totals that functions and blocks tell: functions*, blocks*, known, hit, refused.
 * The others (probes, removed, bytes, seconds) belong to the measuring program, and stay.
 */
void ki_coverage_total(struct ki_coverage *c);

/*
 * Write c as one JSON object: in its first line what was measured, totals and reasons, then a line
 * for each function. Blocks are [offset, bytes, count, how, reason], edges [from, to, kind, count,
 * how]; at their end is left out what is 0, probed, and no reason. 0, or -errno of the stream.
 */
int ki_coverage_write_json(const struct ki_coverage *c, FILE *out);

/*
 * Read such a file. It is read line by line, so the lines must be as they were written. -EINVAL:
 * not such a file, or nonsense in it (a block outside its function, totals that do not add up):
 * err says in which line what is wrong. Free with ki_coverage_free.
 */
int ki_coverage_read_json(const char *path, struct ki_coverage **out, struct ki_err *err);

/* One address in hex, without 0x, per line: the start of each block that was hit. */
int ki_coverage_write_pcs(const struct ki_coverage *c, FILE *out);

enum ki_cover_change {
	KI_COVER_REACHED, /* not before, but now */
	KI_COVER_GONE,	  /* before, but not now */
	KI_COVER_HOTTER,
	KI_COVER_COLDER,
	KI_COVER_CHANGES
};

/* "reached", "gone", "hotter", "colder" */
const char *ki_cover_change_name(unsigned int change);

/* How a function of one coverage stands to that of the other. */
enum ki_cover_match {
	KI_COVER_SAME,	   /* the same blocks: compared */
	KI_COVER_DIFFERS,  /* its code differs: not compared */
	KI_COVER_ONLY_OLD, /* the other has none of that name */
	KI_COVER_ONLY_NEW,
	KI_COVER_MATCHES
};

/* "same", "differs", "only-old", "only-new" */
const char *ki_cover_match_name(unsigned int match);

struct ki_cover_diff_options {
	size_t size;	/* of this structure */
	double ratio;	/* hotter, colder: at least so many times; 0: 2 */
	uint64_t least; /* and at least so many hits more or less; 0: 1 */
};

struct ki_cover_diff_block {
	uint32_t number; /* of the block in its function */
	uint8_t change;	 /* enum ki_cover_change */
	uint64_t before, after;
};

struct ki_cover_diff_function {
	const struct ki_cover_function *before, *after; /* one may be NULL; the coverages' */
	uint8_t match;					/* enum ki_cover_match */
	uint32_t first, n;				/* of its blocks that changed */
	uint32_t changes[KI_COVER_CHANGES];		/* so many of each */
	uint64_t moved; /* by how much the counts of these changed, all together */
};

struct ki_cover_diff {
	/* Those with something to say: the most blocks reached and gone first, then those that
	   moved most; after them those that were not compared. */
	struct ki_cover_diff_function *functions;
	struct ki_cover_diff_block *blocks;
	size_t nfunctions, nblocks;
	uint64_t matches[KI_COVER_MATCHES]; /* functions, of all */
	uint64_t changed[KI_COVER_CHANGES]; /* functions with such a block */
	uint64_t changes[KI_COVER_CHANGES]; /* blocks */
	uint64_t compared;		    /* blocks known in both */
	uint64_t unknown;		    /* blocks of the same code, known in one or none */
	bool counted;			    /* both have counts; else only hit or not is compared */
};

/*
 * Compare. Functions are the same by module and name, of several so called the first is the
 * first's, and so on, in order of address. Both coverages must live as long as the result, which
 * is freed with ki_coverage_diff_free. options NULL: the defaults.
 */
int ki_coverage_diff(const struct ki_coverage *before, const struct ki_coverage *after,
		     const struct ki_cover_diff_options *options, struct ki_cover_diff **out,
		     struct ki_err *err);
void ki_coverage_diff_free(struct ki_cover_diff *d); /* NULL is allowed */

/*
 * Source lines of a coverage's functions, from files with DWARF: vmlinux, modules. A function is
 * found by its name and by how far everything around it has moved from the file's addresses: KASLR,
 * and where modules were loaded, are so taken into account, and a file of another build is refused.
 */
struct ki_cover_lines;

/* The coverage must live as long. */
int ki_cover_lines_new(const struct ki_coverage *c, struct ki_cover_lines **out,
		       struct ki_err *err);
void ki_cover_lines_free(struct ki_cover_lines *l); /* NULL is allowed */

/*
 * Add a file: of the module that is called as the file is (xfs.ko, xfs.ko.debug), else of the
 * kernel. -ENOTSUP: built without libdw. -EINVAL: no DWARF in it, or it does not fit.
 */
int ki_cover_lines_add(struct ki_cover_lines *l, const char *path, struct ki_err *err);

/* The file and line of a function's beginning; NULL: not known. Lives as long as l. */
const char *ki_cover_lines_function(const struct ki_cover_lines *l, size_t function,
				    unsigned int *line);

/*
 * Write c in lcov's format (geninfo(1)). With lines (else NULL) of source lines: a line was
 * executed as often as that of its blocks that was most often; these are added up over the
 * functions that it was compiled into. A line is one that a statement of a known block begins in,
 * inlined or not; blocks that nothing is known of say nothing. Functions without lines are left
 * out.
 *
 * Without lines, each function is a file MODULE/FUNCTION, and its line N + 1 is offset N.
 *
 * Branches are in it with KI_COVER_EDGES.
 */
int ki_coverage_write_lcov(const struct ki_coverage *c, const struct ki_cover_lines *l, FILE *out,
			   struct ki_err *err);

#ifdef __cplusplus
}
#endif

#endif
