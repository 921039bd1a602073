/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * The graph of all code, as a file: written in the guest (or on the host, of an image) from a
 * ki_program, and read on the host, where the trace is. Addresses are the low halves of kernel
 * addresses.
 *
 * The file: struct graph_header, the ranges, one byte of marks for each byte of text of each
 * range and one after it, the symbols, the edges, the rows, the symbols' names.
 */
#ifndef KI_TEST_GRAPH_H
#define KI_TEST_GRAPH_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>

#include "kerninst/program.h"

#define GRAPH_MAGIC 0x32485052474b494bull
#define GRAPH_BASE  0xffffffff00000000ull

/* Marks of a byte of text. */
#define MARK_INSN  0x01 /* an instruction begins */
#define MARK_BLOCK 0x02 /* a block begins */
#define MARK_END   0x04 /* a block ends before this byte */
#define MARK_SITE  0x08 /* the kernel rewrites it while it boots */

/* How the names of thunks begin that stand for indirect calls and jumps. */
#define GRAPH_THUNK "__x86_indirect_"

/* Kinds of edges: enum ki_edge_kind, and: */
#define GRAPH_IRET 64 /* iret, sysret, sysexit: KI_EDGE_RETURN to who knows where */

struct graph_header {
	uint64_t magic;
	uint32_t nranges, nsymbols, nedges, nrows, names, zero;
};

struct graph_range {
	uint32_t start, end;
	char module[56];
	uint8_t *marks; /* in the file: NULL */
};

struct graph_symbol {
	uint32_t addr, name; /* name: offset in the names */
	uint32_t flags;	     /* KI_FUNCTION_* */
};

struct graph_edge {
	uint32_t from, to, kind; /* calls too */
};

struct graph_row {
	uint32_t addr, len, reason, target;
};

struct graph {
	struct graph_header h;
	struct graph_range *ranges;
	struct graph_symbol *symbols; /* of one address: next to each other */
	struct graph_edge *edges;     /* in order of (from, to, kind) */
	struct graph_row *rows;
	char *names;
	uint32_t *returns; /* addresses after calls that come back, in order */
	uint32_t *fixups;  /* in order */
	size_t nreturns, nfixups;
	bool chained; /* thunks of indirect calls end in jumps to the return thunk */
};

/* dump.c. Exits with a message when something fails, as everything here. */
void graph_dump(struct ki_target *t, const char *image, FILE *f); /* NULL: the live kernel's */

/* sites.c: set MARK_SITE, by the image's tables; how many places they name. */
size_t sites_mark(const char *image, struct graph_range *ranges, uint32_t n);

/* graph.c */
struct graph *graph_load(const char *path);
void graph_free(struct graph *g);

/* Of the byte at addr: MARK_*; -1: in no range. */
int graph_marks(const struct graph *g, uint32_t addr);
uint8_t *graph_mark_at(const struct graph *g, uint32_t addr);

/* The end of the instruction that begins at addr; 0: none does. */
uint32_t graph_insn_end(const struct graph *g, uint32_t addr);

/* The edges of one instruction. */
const struct graph_edge *graph_edges(const struct graph *g, uint32_t from, size_t *n);

/* The rows that cover addr, by reason; NULL. */
const struct graph_row *graph_row_at(const struct graph *g, uint32_t addr, uint32_t reason);

/* The symbol that covers addr (the first of its address); NULL. */
const struct graph_symbol *graph_symbol_at(const struct graph *g, uint32_t addr);
bool graph_is_function(const struct graph *g, uint32_t addr);
bool graph_is_noreturn(const struct graph *g, uint32_t addr); /* of the function around */
bool graph_is_return(const struct graph *g, uint32_t addr);
bool graph_is_fixup(const struct graph *g, uint32_t addr);

/* The name of the function around; "" in no text, "outside" for 0. */
const char *graph_function(const struct graph *g, uint32_t addr);

/* "vfs_read+0x31"; returns buf. */
char *graph_name(const struct graph *g, uint32_t addr, char *buf, size_t len);

void test_die(const char *what, const char *more) __attribute__((noreturn));
void *test_need(size_t n, size_t size); /* zeroed memory */

#endif
