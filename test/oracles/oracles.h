/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * Static oracles: what lib/code says of a whole program, against what others say of the same
 * file: objdump, the linker's symbols and relocations, the kernel's unwind table.
 *
 *	listing.c	what objdump -d prints, as an array
 *	elf.c		sections, symbols, relocations and unwind table, by libelf
 *	bounds.c	boundaries of instructions and blocks
 *	functions.c	functions: places, sizes, parsed ones, cold parts
 *	graph.c		jumps and calls
 *	prog/, switches.sh	tables of jumps, against what the compiler wrote
 *	noreturn.c		functions that do not return
 *	threads.c	the same result by any number of threads
 *
 * A difference has a cause. Some causes are explained here, once and for all; they are counted.
 * One of any other cause is a failure.
 */
#ifndef ORACLES_H
#define ORACLES_H

#include <stdio.h>

#include "kerninst/program.h"
#include "util/vec.h"

enum line_kind {
	LINE_PLAIN,
	LINE_CALL, /* direct ones have a target */
	LINE_JMP,
	LINE_JCC,
	LINE_RET,
	LINE_PAD, /* nop, int3, and what else fills gaps */
	LINE_TRAP,
	LINE_BAD, /* (bad), or prefixes without an instruction */
};

#define LINE_INDIRECT 0x01
#define LINE_NOTRACK  0x02
#define LINE_INDEXED  0x04 /* has a memory operand with an index, scaled by 4 or 8 */
#define LINE_MOVSLQ   0x08
#define LINE_ADD      0x10
#define LINE_MEMORY   0x20 /* jumps or calls by memory */
#define LINE_LOCK     0x40
#define LINE_LOAD     0x100 /* loads a register from memory with an index */
#define LINE_VALUE                                                                                 \
	0x80 /* target: the immediate of a cmp, the address of a lea, or a displacement */

struct line {
	uint64_t addr, target; /* target: of a direct jump or call; or see LINE_VALUE */
	uint16_t flags;
	uint8_t kind;
	char reg[4]; /* that is loaded, or jumped to, without %; "" */
};

struct listing {
	ki_vec(struct line) lines; /* in order */
};

struct reloc {
	uint64_t addr, target;
	const char *external; /* name of what is not in the file; NULL */
};

struct elf_symbol {
	uint64_t addr, size;
	const char *name;
};

struct span {
	uint64_t start, end;
};

struct image {
	const char *path;
	bool relocatable, whole; /* whole: has .symtab */
	void *elf;
	int fd;
	bool code;
	uint64_t *bases;		   /* by section: where it stands; UINT64_MAX: not code */
	ki_vec(struct reloc) relocs;	   /* of code, in order */
	ki_vec(struct elf_symbol) symbols; /* functions, in order */
	ki_vec(uint64_t) unwind;	   /* addresses of the unwind table */
	ki_vec(struct span) alternatives;  /* instructions that others may replace, in order */
};

enum cause {
	/* Explained. */
	CAUSE_FWAIT,
	CAUSE_LOCK,
	CAUSE_OVERLAP,
	CAUSE_ALTERNATIVE,
	CAUSE_BEHIND_NORETURN,
	CAUSE_STATIC_BRANCH,
	CAUSE_NO_SYMBOL,
	CAUSE_INNER_SYMBOL,
	CAUSE_UNPARSED,
	CAUSE_POINTERS,
	CAUSE_LOST_PARENT,
	CAUSE_BELIEVED,
	CAUSE_EXPLAINED = CAUSE_BELIEVED,
	/* Not. */
	CAUSE_BOUNDARY,
	CAUSE_COUNT,
	CAUSE_CODE_OUTSIDE,
	CAUSE_UNWIND,
	CAUSE_START,
	CAUSE_SIZE,
	CAUSE_PARSED,
	CAUSE_TARGET,
	CAUSE_MISSING,
	CAUSE_SURPLUS,
	CAUSE_TABLE,
	CAUSE_NORETURN,
	CAUSE_PARENT,
	CAUSE_THREADS,
	CAUSES,
};

struct check {
	const char *title;
	uint64_t looked_at;
	uint64_t by_cause[CAUSES];
};

enum {
	CHECK_BOUNDS,
	CHECK_UNWIND,
	CHECK_FUNCTIONS,
	CHECK_PARSED,
	CHECK_GRAPH,
	CHECK_TABLES,
	CHECK_NORETURN,
	CHECK_PARENTS,
	CHECK_THREADS,
	CHECKS
};

struct oracles {
	struct check checks[CHECKS];
	unsigned int check; /* the one that goes on */
	bool verbose;
	bool map; /* symbols come from a System.map: no sizes, and all are functions */

	/* The file that is looked at. */
	struct image image;
	struct listing listing;
	struct ki_target *t;
	struct ki_program *p;
	const struct ki_program_function *functions;
	uint32_t nfunctions;
	ki_vec(uint64_t) indirect_thunks, return_thunks;
	uint64_t nparsed, nall;
};

/* listing.c */
int listing_read(struct listing *l, const struct image *im);
/* Number of the first line at or above addr. */
size_t listing_from(const struct listing *l, uint64_t addr);
const struct line *listing_at(const struct listing *l, uint64_t addr);

/* elf.c */
int image_open(struct image *im, const char *path);
void image_close(struct image *im);
bool image_is_empty(const struct image *im); /* no code */
/* Where a section stands, by its name as objdump prints it; UINT64_MAX. */
uint64_t image_base(const struct image *im, const char *section);
const struct reloc *image_reloc(const struct image *im, uint64_t start, uint64_t end);

/* Does addr lie inside an instruction that may be replaced? */
bool image_alternative(const struct image *im, uint64_t addr);

/* The checks. */
void check_bounds(struct oracles *o);
void check_unwind(struct oracles *o);
void check_functions(struct oracles *o);
void check_parsed(struct oracles *o);
void check_parents(struct oracles *o);
void check_graph(struct oracles *o);
void check_tables(struct oracles *o);
void check_noreturn(struct oracles *o);
void check_threads(struct oracles *o);

/* main.c: one difference; what is not explained is printed. */
void differ(struct oracles *o, enum cause cause, uint64_t addr, const char *fmt, ...)
	__attribute__((format(printf, 4, 5)));

/* Functions whose instructions lie in each other on purpose. */
bool overlaps(const struct oracles *o, uint64_t addr);

static inline void looked(struct oracles *o, uint64_t n)
{
	o->checks[o->check].looked_at += n;
}

#endif
