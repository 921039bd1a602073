/* SPDX-License-Identifier: LGPL-2.1-only OR BSD-2-Clause */
/*
 * A part of kerninst.h: tables of strings.
 */
#ifndef _UAPI_KERNINST_TEXTS_H
#define _UAPI_KERNINST_TEXTS_H

#include <linux/types.h>

/*
 * KI_IOC_TEXTS: the strings of this session, for helper TEXT: a table in which each string that
 * was met stands once, with a number; so a string is one word, and equal strings are equal words.
 * Number 0 is the empty string. Once in a session; gone when it is closed.
 *
 * Mapped at KI_MAP_TEXTS, `bytes`, PROT_READ: a page with struct ki_texts_head; `rows` words of 64
 * bits, KI_TEXTS_ROW; and the bytes. String number n is the row n - 1; a row that is not 0 does
 * not change any more. A string is put where it stays before its row says so, by one cmpxchg. Two
 * CPUs (or an interrupt and the task it came to) may meet the same one for the first time. Then
 * one of them wins, and the other takes that one. A row is looked for in KI_TEXTS_TRIES places; if
 * there is none, or no place for the bytes, the string becomes the empty one, and `lost` counts
 * it.
 *
 * Errors are those of KI_IOC_STACKS.
 */
struct ki_texts {
	__u32 size;
	__u32 most;    /* bytes of a string, its 0 included: 2..KI_TEXTS_MOST */
	__u32 rows;    /* a power of 2, 512..KI_TEXTS_ROWS */
	__u32 heap;    /* bytes for all strings; a multiple of 4096, up to KI_TEXTS_HEAP */
	__u64 bytes;   /* out */
	__u32 number;  /* out: for KI_TEXT */
	__u32 reason;  /* out */
	__u32 scratch; /* bytes of a piece of scratch memory, at most; 0: none */
	__u32 zero;
};

#define KI_TEXTS_MOST  65536u
#define KI_TEXTS_ROWS  (1u << 22)
#define KI_TEXTS_HEAP  (1u << 30)
#define KI_TEXTS_TRIES 64

/*
 * Scratch memory of the session: pieces are taken round and round, so one lasts until so many bytes
 * have been taken. Before each piece and after it there are bytes that belong to none.
 */
#define KI_TEXTS_SCRATCH (1u << 20)
#define KI_TEXTS_PIECE	 16384u /* bytes of a piece, at most */

#define KI_MAP_TEXTS 0xa0000000

struct ki_texts_head {
	__u64 rows;    /* that are there */
	__u64 lost;    /* strings for which there was no place */
	__u64 used;    /* bytes, rounded up to 8 for each string */
	__u64 refused; /* KI_TEXT_TAKE: all were taken */
};

#define KI_TEXTS_NUMBERS 1024 /* that programs take and give back: KI_TEXT_TAKE */

/* Where a string's bytes are (a multiple of 8, from the first on; not 0), and how many. */
#define KI_TEXTS_ROW(at, tag, len) ((__u64)(at) / 8 << 32 | (__u64)(tag) << 16 | (len))
#define KI_TEXTS_AT(row)	   ((row) >> 32 << 3)
#define KI_TEXTS_LEN(row)	   ((row)&0xffff)

/*
 * What helper TEXT does with its arguments a, b, c; s and t are strings' numbers. A string that is
 * longer than the table allows is cut off.
 */
enum ki_text_op {
	KI_TEXT_KERNEL,	   /* the string at a, of kernel or current process; KI_TEXT_FAULT */
	KI_TEXT_USER,	   /* at a, of the current process, b bytes with its 0 (0: any);
			      KI_TEXT_FAULT */
	KI_TEXT_COMM,	   /* the name of the current task */
	KI_TEXT_JOIN,	   /* s, then t */
	KI_TEXT_PART,	   /* of s, from byte b (negative: from the end), c bytes (negative: without
			      so many at the end) */
	KI_TEXT_FIRST,	   /* where t begins in s, from byte c on; -1 */
	KI_TEXT_LAST,	   /* where it begins last, at byte c or before; -1 */
	KI_TEXT_FROM,	   /* s from the first character b on; 0 */
	KI_TEXT_FROM_LAST, /* from the last one */
	KI_TEXT_FROM_TEXT, /* s from the first t on, if only KI_TEXT_EMPTY; 0: there is none */
	KI_TEXT_TOKEN,	   /* the first piece of s between characters of t; 0 */
	KI_TEXT_REST,	   /* what is after it, from the character on that ends it */
	KI_TEXT_BASE,	   /* the last part of path s */
	KI_TEXT_DIR,	   /* what is before it */
	KI_TEXT_CLEAN,	   /* path s without //, . and .. */
	KI_TEXT_NUMBER,	   /* a as a text, to base b, 2..36; signed to base 10 */
	KI_TEXT_COMPARE,   /* -1, 0, 1: s is less than, equal to, greater than t, byte by byte; 0 is
			      less than KI_TEXT_EMPTY */
	KI_TEXT_UPPER,
	KI_TEXT_LOWER,
	KI_TEXT_VALUE,	/* the number that s begins with, to base b (0: as C's prefixes say) */
	KI_TEXT_LENGTH, /* of s */
	KI_TEXT_IPV4,	/* the address whose 4 bytes are at a; KI_TEXT_FAULT */
	KI_TEXT_IPV6,  /* whose 16 bytes are there; IPv4 in it: 1.2.3.4, with what is before if b */
	KI_TEXT_TAKE,  /* the lowest number of 1..a (KI_TEXTS_NUMBERS) that is free: it is taken; 0
			*/
	KI_TEXT_TAKEN, /* a, if that number is taken; 0 */
	KI_TEXT_GIVE,  /* it is free again: a, if it was taken; 0 */
	KI_TEXT_SCRATCH,    /* a bytes of scratch memory, all 0: the address; KI_TEXT_SECOND: more
			       than a piece may have */
	KI_TEXT_COPYIN,	    /* the same, of b bytes, with those at a of the current process */
	KI_TEXT_COPY,	    /* c bytes of the kernel at a to b, inside one piece: 0; KI_TEXT_SECOND:
			       it is not inside */
	KI_TEXT_COPY_USER,  /* of the current process */
	KI_TEXT_STORE,	    /* the lower c bytes of b to a, inside one piece: 0; KI_TEXT_FAULT */
	KI_TEXT_BYTES,	    /* the string of the b bytes at a, whatever they are; KI_TEXT_FAULT */
	KI_TEXT_UNREADABLE, /* 1: the b bytes at a cannot be read, or are scratch memory and not
			       inside one piece; 0 */
	KI_TEXT_PATH,	    /* of the struct path at a, KI_PATH_* in b; KI_TEXT_FAULT */
	KI_TEXT_ARGUMENTS,  /* of the current process, with spaces between; of others nothing */
	/* To the current process. Who may load modules may send code that does this. */
	KI_TEXT_COPY_OUT,      /* c bytes (KI_TEXTS_PIECE) of the kernel at a to b: 0;
				  KI_TEXT_FAULT; KI_TEXT_SECOND: b cannot be written to */
	KI_TEXT_COPY_OUT_TEXT, /* s and a 0, at most c bytes, to b: 0; KI_TEXT_SECOND */

	KI_TEXT_COPY_TEXT, /* s, and as many 0 as c bytes take, to b, inside one piece: 0;
			      KI_TEXT_SECOND */
	KI_TEXT_BYTE,	   /* byte b of s; 0 after its end */
	KI_TEXT_JSON,	   /* of s, which is JSON, the number, word or string (escapes as they are)
			      at path t: names and numbers with . [ ] between them; 0: there is none */
	/* An activation's room of scratch memory: where any byte of it is, or 0: none yet. */
	KI_TEXT_ALLOCA,	     /* a more bytes of room b, all 0: the address; KI_TEXT_SECOND: more
				than a room has, or there is none */
	KI_TEXT_ALLOCA_USER, /* the same, b bytes of room c, with those at a of the current process
			      */
	KI_TEXT_GIVE_ROOM,   /* room a is free again: 0 */
	KI_TEXT_OPS
};

/* A path is as the current process sees it, from its root on, but: */
#define KI_PATH_WHOLE 1u /* from the root of the mounts on */
#define KI_PATH_MOUNT 2u /* of where the file's mount stands */

#define KI_TEXT(table, op) ((__u32)(table) << 8 | (op))
#define KI_TEXT_FAULT	   (~0ull) /* what a was to lead to cannot be read */
#define KI_TEXT_SECOND	   (~1ull)
#define KI_TEXT_EMPTY	   (~2ull) /* the empty string, where 0 means that there is none */

#endif
