/* SPDX-License-Identifier: LGPL-2.1-only OR BSD-2-Clause */
/*
 * Tables: a part of kerninst.h.
 */
#ifndef _UAPI_KERNINST_TABLE_H
#define _UAPI_KERNINST_TABLE_H

#include <linux/types.h>

/*
 * KI_IOC_TABLE: a table of this session, for its long chunks (helper TABLE): rows that are found by
 * their keys, of `keys` words, and have `values` words each. A session may have several; they are
 * gone when it is closed. A bank is a set of rows: without KI_TABLE_SHARED each CPU has one, and
 * who reads adds up what different banks have of one key; with it there is one for all.
 *
 * Mapped at `offset`, `banks` times `stride` bytes, PROT_READ: of each bank a page with struct
 * ki_table_head, and after it `rows` times 1 + keys + values words of 64 bits: the state of the
 * row, its key, its values.
 *
 * The state: in bits 0-1 enum ki_row; in bits 32-63 a digest of the key; between them, of a shared
 * table, a number that another one follows each time the row changes. A row is there when it is
 * KI_ROW_READY: its key is whole then, its values are those that it began with or later ones, each
 * of some moment. In a bank of a CPU a row that is there stays, with its key, and a key may have
 * several rows: an interrupt makes one of its own if it comes just when one is being made. In a
 * shared table a key has one row. Who reads one, and finds the same state before and after that,
 * has words that were there at one moment.
 *
 * Each change that is asked for is done, wholly, or counted as lost: in a head's `lost`. A change
 * is lost if all places where a key may be are taken by others: KI_TABLE_PROBES of them, or all
 * rows if there are fewer. It is lost if a bucket's number is beyond the last value. In a shared
 * table it is lost if another works on the row too long, above all one that an NMI has
 * interrupted.
 *
 * -ENOMEM also if all tables together would take more than 1/8 of the machine's memory; -ENOSPC if
 * there are too many.
 */
struct ki_table_request {
	__u32 size;
	__u32 flags;  /* KI_TABLE_* */
	__u32 keys;   /* 1..KI_TABLE_KEYS */
	__u32 values; /* 1..KI_TABLE_VALUES */
	__u32 rows;   /* of a bank: a power of 2, 1..KI_TABLE_ROWS */
	__u32 banks;  /* out */
	__u64 init;   /* user memory: __u64[values] that a row begins with; 0: zeros */
	__u64 stride; /* out: bytes of a bank */
	__u64 offset; /* out: of the mapping */
	__u32 number; /* out: for KI_TABLE_OP */
	__u32 reason; /* out */
};

#define KI_TABLE_SHARED 0x1

#define KI_TABLE_KEYS	12
#define KI_TABLE_VALUES 65535
#define KI_TABLE_ROWS	(1u << 20)
#define KI_TABLE_PROBES 64

struct ki_table_head {
	__u64 used; /* rows that are there */
	__u64 lost; /* changes that were asked for and not done */
};

enum ki_row { KI_ROW_FREE, KI_ROW_BUSY, KI_ROW_READY, KI_ROW_DEAD };

#define KI_ROW_KIND(state) ((state)&3)

/*
 * What helper TABLE does, to the value with that index, or from it on; x is the helper's second
 * argument. What is not there is made, but by GET and DELETE. The result: of GET the value, 0 if
 * there is no row; else 1 if it is done and 0 if it is lost.
 *
 * In a bank of a CPU, ADD, COUNT and LOG2 are one instruction; MIN and MAX are tried again if
 * another comes between, and of STATS each word is exact by itself. In a shared table a row is
 * changed by one at a time.
 */
enum ki_table_op {
	KI_TABLE_GET,	 /* shared tables only */
	KI_TABLE_SET,	 /* shared tables only */
	KI_TABLE_DELETE, /* shared tables only: the row */
	KI_TABLE_ADD,	 /* += x */
	KI_TABLE_MIN,	 /* the smaller one, signed */
	KI_TABLE_MAX,
	KI_TABLE_UMIN, /* unsigned */
	KI_TABLE_UMAX,
	KI_TABLE_COUNT, /* += 1, to the x-th value after it */
	KI_TABLE_LOG2,	/* += 1, to one of 65: 0 for x = 0, n for x of 2^(n-1) to 2^n - 1 */
	KI_TABLE_STATS, /* 6: += 1, += x, MIN, MAX, and the sum of squares, in 128 bits */
	KI_TABLE_OPS
};

#define KI_TABLE_LOG2_WORDS  65
#define KI_TABLE_STATS_WORDS 6

/*
 * What %edi is for helper TABLE: the session's table, the operation, the value's index. It is put
 * there the moment before the call (mov $imm32, %edi).
 */
#define KI_TABLE_OP(table, op, value) ((table) << 20 | (op) << 16 | (value))

#endif
