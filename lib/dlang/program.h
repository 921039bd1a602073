/* SPDX-License-Identifier: LGPL-2.1-only OR BSD-2-Clause */
/*
 * A compiled D program: the inside of kerninst/dlang.h.
 *
 *	source.c	pragmas; options.c: what they set
 *	parse.c		text to nodes
 *	check.c		nodes to types; names.c, functions.c: what names stand for
 *	probe.c		descriptions to probes; provider.c: the table of providers, stable.c;
 *			hook.c: those that are no functions
 *	code.c		a clause at a probe, to a snippet
 *	put.c		probes to places; cost.c: what that costs
 *	run.c		a program while it runs
 *	consume.c	records to text; outlet.c: where it goes; capture.c: packets
 *	aggregate.c	what aggregations print; bars.c, sort.c, show.c
 */
#ifndef KI_DLANG_PROGRAM_H
#define KI_DLANG_PROGRAM_H

#include "dlang/words/ast.h"
#include "dlang/check/attributes.h"
#include "dlang/probe/hook.h"
#include "dlang/words/index.h"
#include "dlang/print/llquantize.h"
#include "dlang/parse/options.h"
#include "dlang/words/types.h"
#include "kerninst/dlang.h"
#include "kerninst/record.h"
#include "kerninst/splice.h"
#include "kerninst/table.h"

#define KI_D_KEYS	8  /* of a tuple */
#define KI_D_COMPARED	8  /* words of a string that is only compared with a short constant */
#define KI_D_COMM_WORDS 2  /* of a thread's name */
#define KI_D_ARGS	30 /* of printf, beside its format */

/* ---- variables ---- */

enum ki_d_scope { KI_D_GLOBAL_SCOPE, KI_D_SELF_SCOPE, KI_D_THIS_SCOPE };

struct ki_d_var {
	char *name;
	uint8_t scope;
	struct ki_d_type type;
	unsigned int nkeys; /* an associative array; 0: a scalar */
	struct ki_d_type keys[KI_D_KEYS];
	uint32_t number; /* of the global, the thread's word, the local */
	bool declared;
	bool of_kernel; /* a pointer: an address of the kernel has been assigned to it */
	bool indexed;	/* it has parts that are chosen when code runs */
	bool in_memory; /* it has parts, and its address is used: it stands in memory, */
	uint32_t place; /* so many bytes behind where that begins (storage.c) */
	struct ki_table_map *table;   /* of an associative array, and of parts; NULL: words */
	const struct ki_d_node *read; /* of an array: where, and nothing has been assigned yet */
};

/* ---- how a string or a number travels: in a record, or in a key ---- */

enum ki_d_form {
	KI_D_FORM_WORD,	       /* one word, as its type says */
	KI_D_FORM_PROBE,       /* nothing: the probe says it (probefunc) or it is a constant */
	KI_D_FORM_COMM,	       /* KI_D_COMM_WORDS of text */
	KI_D_FORM_TEXT,	       /* one word, a string's number in the session's table */
	KI_D_FORM_NUMBERED,    /* one word, the number of a string that is known beforehand */
	KI_D_FORM_STACK,       /* one word, a stack's number */
	KI_D_FORM_BYTES,       /* of memory, in pieces of ki_d_bytes_piece, a string each */
	KI_D_FORM_SPECULATION, /* one word, the number of one that is active, or 0 */
	KI_D_FORM_ADDRESS,     /* one word, of the kernel; in rows that have been read place.c's */
	KI_D_FORM_USER,	       /* two words, a process and an address */
	KI_D_FORM_PACKET,      /* KI_D_PACKET_WORDS, and bytes as KI_D_FORM_BYTES has them */
};

/* bytes that were taken << 32 | the packet's length; nanoseconds since 1970 */
#define KI_D_PACKET_WORDS 2

unsigned int ki_d_form_words(uint8_t form);

/* ---- aggregations ---- */

struct ki_d_agg_function {
	const char *name;
	uint8_t nargs;	/* at least */
	uint8_t most;	/* arguments */
	uint8_t values; /* words of a row */
	bool counts;	/* one is added, whatever the arguments are */
};

/* A row whose key is the same for all hits of a place has a counter, not a table. */
struct ki_d_cell {
	uint32_t counter;
	uint64_t key[KI_D_KEYS];
};

/* What a key's values had been when it was cleared. hidden: it is not shown until they change. */
struct ki_d_base {
	uint64_t key[KI_TABLE_KEYS];
	uint64_t *values;
	bool hidden;
};

struct ki_d_agg {
	char *name; /* "": @ */
	const struct ki_d_agg_function *fn;
	unsigned int nkeys;
	struct ki_d_type keys[KI_D_KEYS];
	uint8_t forms[KI_D_KEYS]; /* enum ki_d_form */
	struct ki_linear linear;  /* of lquantize */
	struct ki_d_log log;	  /* of llquantize */
	struct ki_table_map *table;
	ki_vec(struct ki_d_base) base; /* what clear() and trunc() have taken away */
	ki_vec(struct ki_d_cell) cells;
	struct ki_d_index by_key; /* cells */
	uint64_t normal;
	bool renewed; /* min(), max() that are cleared: the first word of a key is the epoch, */
	uint32_t of_epoch; /* which this global has; */
	uint64_t epoch;	   /* rows of others count for nothing */
	bool weighted;	   /* the first word of a key is how often each value of its row counts */
	bool printed;
	uint32_t at; /* where it is first used */
};

/*
 * What code needs that is known when BEGIN begins: a global has it. The number of a string of the
 * program; or, of no text, where the memory of variables begins.
 */
struct ki_d_constant {
	char *text;
	uint32_t global;
};

/* What a name stands for. */
struct ki_d_inline {
	bool known; /* of prelude.c: its text is not the program's */
	char *name;
	struct ki_d_type type;
	unsigned int n; /* parameters */
	char *names[KI_D_KEYS];
	struct ki_d_type types[KI_D_KEYS];
	struct ki_d_node *body;
	unsigned int busy; /* how often its body is being checked now */
};

/* Translators (translate.c); known: its text is not the program's. */
struct ki_d_translated {
	char *name;
	struct ki_d_node *body;
};

struct ki_d_translator {
	struct ki_d_type to, from;
	char *parameter;
	ki_vec(struct ki_d_translated) members;
	uint32_t at;
	bool known;
};

/* ---- clauses ---- */

struct ki_d_pattern {
	char *field[4]; /* provider, module, function, name: globs; "" matches all */
	uint32_t at;
	size_t matched; /* probes */
};

/* An argument of an action that goes into its record. */
struct ki_d_arg {
	const struct ki_d_node *node;
	uint8_t form;
	uint32_t size; /* of KI_D_FORM_BYTES and KI_D_FORM_PACKET */
};

unsigned int ki_d_arg_words(const struct ki_dlang *d, const struct ki_d_arg *a);

struct ki_d_type ki_d_print_type(struct ki_dlang *d, const struct ki_d_node *n); /* of print() */

/* Bytes of memory that trace() prints: of a struct or an array; 0: it prints a value. */
uint64_t ki_d_traced_size(struct ki_dlang *d, const struct ki_d_node *n);

/* What a clause does that its reader sees. */
struct ki_d_action {
	const struct ki_d_node *node; /* the call; NULL: the default action */
	unsigned int nargs;
	struct ki_d_arg args[KI_D_ARGS];
	struct ki_d_agg *aggs[KI_D_ARGS]; /* of printa, clear, ... */
	unsigned int naggs;
	uint32_t batch;
};

/* Actions of one clause with one record. */
struct ki_d_batch {
	uint32_t clause, first, n; /* actions */
	bool begins, ends;	   /* its clause's first, its last, if no branch decides that */
	bool silent;		   /* of commit() or discard(): it has no line */
	bool speculative;	   /* its second word is the speculation's number */
};

struct ki_d_clause {
	uint32_t first, n; /* patterns */
	struct ki_d_node *predicate, *body;
	uint32_t at;
	bool no_body;
	bool asks_return; /* for what the function returns */
	bool asks_first;  /* for arg0, which is the same if it is a system call */
	bool held;	  /* it may fault behind a record, which then counts for nothing */
	bool varies;	  /* which record is its first, or its last, depends on branches */
	uint32_t first_batch, nbatches;
	uint32_t nwritten, written_at; /* of a program's own probe it wants args[nwritten - 1] */
	struct ki_d_attributes least;  /* of what it names */
};

/* Records of no batch: a clause has faulted (probe, clause, fault, address, statement), has come
 * to its end (probe, clause), or is ERROR's and has faulted (the same). */
#define KI_D_RECORD_ERROR  0xfffff0u
#define KI_D_RECORD_DONE   0xfffff1u
#define KI_D_RECORD_DOUBLE 0xfffff2u

/* Faults, as programs see them. */
enum {
	KI_D_BAD_ADDRESS = 1,
	KI_D_ILLEGAL = 3,
	KI_D_DIVISION = 4,
	KI_D_NO_SCRATCH = 5,
	KI_D_BAD_SIZE = 10,
	KI_D_BAD_INDEX = 11
};

/*
 * A fault in a word that one instruction takes: its kind; how far behind a pointer a member stands
 * that was wanted, 0 if that is no member, or one further behind; the place in the clause.
 */
#define KI_D_FAULT_KIND	  0xfu
#define KI_D_FAULT_BEHIND 0x7fffu
#define KI_D_FAULT_PLACE  0xfffu
static inline uint32_t ki_d_fault_word(uint32_t kind, uint64_t behind, uint32_t place)
{
	behind = behind > KI_D_FAULT_BEHIND ? 0 : behind;
	place = place > KI_D_FAULT_PLACE ? KI_D_FAULT_PLACE : place;
	return kind | (uint32_t)behind << 4 | place << 19;
}

/* What programs see of the place: an offset. */
static inline unsigned int ki_d_fault_offset(uint64_t word)
{
	return 4 * (unsigned int)(word >> 19 & KI_D_FAULT_PLACE);
}

#define KI_D_SPECULATIONS 1024 /* at once */
#define KI_D_LETS	  4    /* values at once that are computed once (let.c) */
#define KI_D_HELD_LOCALS  15   /* that code keeps for itself */

/* ---- probes ---- */

struct ki_d_provider;

struct ki_d_probe {
	const struct ki_d_provider *provider;
	const struct ki_symbol *sym; /* NULL: BEGIN, END, tick; or not known yet: hook */
	const char *called; /* its provider, if each has a name of its own (pid1234); or NULL */
	const char *module, *function, *name;
	uint64_t nanoseconds;	/* of tick and profile */
	struct ki_point *point; /* inside of sym; NULL: its entry or return */
	struct ki_d_hook *hook; /* NULL: it is at sym, or has no place */
	uint32_t id;		/* what it is listed as */
	uint32_t first, n;	/* its clauses in ki_dlang.uses */
	uint16_t reason;	/* it could not be placed: why */
	char *owned;		/* of the names, what is to be freed */
};

const char *ki_d_provider_name(const struct ki_d_probe *p);

/* Of BEGIN, END, ERROR: its index; UINT32_MAX. */
uint32_t ki_d_probe_named(const struct ki_dlang *d, const char *name);
/* The enabled probe: this probe with this clause. */
uint32_t ki_d_epid(const struct ki_dlang *d, uint32_t probe, uint32_t clause);

/* Is it somewhere in the kernel? BEGIN, END and tick are not. */
static inline bool ki_d_has_place(const struct ki_d_probe *p)
{
	return p->sym || p->hook;
}

/* The line that begins at this byte is line so-and-so of a file. */
struct ki_d_mark {
	uint32_t at;
	unsigned int line;
};

/* The name that a #pragma there is about. */
struct ki_d_about {
	char *name;
	uint32_t at;
};

/* A probe that a program is to have, as it declares it: provide.c, written.c. */
#define KI_D_WRITTEN_ARGS 32
struct ki_d_written_args {
	unsigned int n;
	char *type[KI_D_WRITTEN_ARGS], *name[KI_D_WRITTEN_ARGS]; /* of C; names may be NULL */
};
struct ki_d_written {
	char *provider, *name;
	bool maps; /* what programs of D see is not what it has: */
	struct ki_d_written_args native, seen;
	unsigned int from[KI_D_WRITTEN_ARGS]; /* which of native each of seen is */
};

struct ki_dlang {
	char *text; /* the source, without pragmas */
	struct ki_dlang_options o;
	char **args;
	char *name; /* $0; NULL: "dtrace" */
	struct ki_d_pool pool;
	struct ki_d_types types;
	struct ki_dlang_where where;
	ki_vec(struct ki_d_mark) marks;
	ki_vec(struct ki_d_about) abouts;
	ki_vec(struct ki_d_pattern) patterns;
	ki_vec(struct ki_d_clause) clauses;
	ki_vec(struct ki_d_var *) vars;
	ki_vec(struct ki_d_agg *) aggs;
	ki_vec(struct ki_d_action) actions;
	ki_vec(struct ki_d_batch) batches;
	ki_vec(struct ki_d_probe) probes;
	ki_vec(uint32_t) uses;		    /* clauses */
	ki_vec(uint32_t) statements;	    /* of each use: the description that it is by */
	ki_vec(struct ki_d_node *) symbols; /* variables of the kernel; value: the address */
	ki_vec(struct ki_d_constant) constants;
	ki_vec(struct ki_d_inline) inlines;
	ki_vec(struct ki_d_translator) translators;
	ki_vec(struct ki_d_process) processes;
	struct ki_d_watch *watch; /* of what processes do later; NULL: nothing is told, */
	int no_watch;		  /* -errno: why */
	ki_vec(struct ki_d_written) written;
	bool providers;		   /* some are declared */
	uint64_t known;		   /* rows of known.c that have been read: bits */
	uint64_t args_used;	   /* bits of $1, $2 ... */
	ki_vec(char *) strings;	   /* of KI_D_FORM_NUMBERED */
	struct ki_d_index by_text; /* strings */
	struct ki_d_settings set;
	bool destroys;	   /* it has destructive actions */
	bool raises;	   /* it sends signals */
	const char *never; /* the name of one that is refused */
	bool scratch_used;
	uint32_t memory; /* bytes of variables that stand in memory */
	bool nulls;	 /* a string variable that is not self-> may become NULL: code_null.c */
	bool exits, users_used, stacks_used, clock_used, texts_used, token_used;
	bool depths_used; /* stacks in variables are asked for their depth: their words have it */
	struct ki_d_run *run;
};

/* ---- passes ---- */

/* Take pragmas out of d->text, and do what they say. */
int ki_d_source(struct ki_dlang *d, struct ki_err *err);
int ki_d_parse(struct ki_dlang *d, struct ki_err *err);
int ki_d_check(struct ki_dlang *d, struct ki_err *err);
/* Clauses' actions, in batches. */
int ki_d_batches(struct ki_dlang *d, struct ki_err *err);

/* "D: line M, column N: ..." of a place in the source; -EINVAL. */
int ki_d_error(const struct ki_dlang *d, struct ki_err *err, uint32_t at, const char *fmt, ...)
	__attribute__((format(printf, 4, 5)));
int ki_d_no_memory(struct ki_err *err);
int ki_d_destroys(struct ki_err *err); /* -EPERM */

/* The same, with the reference's tag. */
int ki_d_fail(struct ki_dlang *d, struct ki_err *err, uint32_t at, const char *tag, const char *fmt,
	      ...) __attribute__((format(printf, 5, 6)));

/* Note where the lexer has found something wrong, unless a place is known already. */
void ki_d_where(struct ki_dlang *d, uint32_t at, unsigned int wrong);

struct ki_d_inline *ki_d_inline_find(const struct ki_dlang *d, const char *name);
void ki_d_inlines_free(struct ki_dlang *d);
void ki_d_translators_free(struct ki_dlang *d);
void ki_d_written_free(struct ki_dlang *d);
/* known.c: declare what that name is of, if it is one that is declared when it is asked for. */
int ki_d_known(struct ki_dlang *d, const char *name, struct ki_err *err);

/* parts.c: words of a variable that has parts; 0: it has none. */
unsigned int ki_d_var_words(struct ki_dlang *d, const struct ki_d_var *v);
/* Why a variable cannot have that type; NULL: it can. */
const char *ki_d_no_parts(struct ki_d_types *t, struct ki_d_type type);
#define KI_D_COPIED 128 /* bytes of a part that is wanted in memory, at most */
/* Is it a variable with parts, or one of its parts? Of it: the variable; is an index no constant?
 */
bool ki_d_in_variable(const struct ki_d_node *n);
const struct ki_d_node *ki_d_part_root(const struct ki_d_node *n);
/* What is copied where its address is wanted: the variable, or the part if that is large. */
const struct ki_d_node *ki_d_copied(struct ki_dlang *d, const struct ki_d_node *n);
bool ki_d_part_moves(const struct ki_d_node *n);

/* How many frames a stack has at most: its depth. */
uint32_t ki_d_stack_frames(const struct ki_dlang *d, struct ki_d_type t);

/* Bytes of a string, its 0 included. */
unsigned int ki_d_strsize(const struct ki_dlang *d);

#define KI_D_STRING_LEAST 2   /* bytes of a string that the driver allows */
#define KI_D_BYTES_PIECE  128 /* of memory, at most */
static inline uint32_t ki_d_bytes_piece(const struct ki_dlang *d)
{
	const unsigned int most = ki_d_strsize(d) - 1;

	return most >= KI_D_BYTES_PIECE	      ? KI_D_BYTES_PIECE
	       : most < KI_D_STRING_LEAST - 1 ? KI_D_STRING_LEAST - 1
					      : most;
}

/* The number of a string, from 1; 0: out of memory. */
uint64_t ki_d_string_number(struct ki_dlang *d, const char *text);

#endif
