/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * Tables of strings: their memory (texts.c); finding and keeping one (intern.c); what helper TEXT
 * does with them (text_op.c, text_path.c, text_process.c, path.c).
 */
#ifndef KI_TEXTS_H
#define KI_TEXTS_H

#include "ki.h"
#include "account/pages.h"

#define KI_TEXTS_TABLES 64 /* at once, those of sessions that have just ended included */
#define KI_TEXTS_PAD	16 /* after what a string may have: reading goes by words */

struct ki_texts_table {
	struct ki_texts_head *head;
	u64 *rows;
	u8 *heap;
	u64 seed;
	u32 mask;     /* number of rows less 1 */
	u32 most;     /* bytes of a string without its 0 */
	u32 size;     /* of the heap */
	u8 **scratch; /* of each CPU: 4 levels of most + KI_TEXTS_PAD */
	struct ki_sheet sheet;
	unsigned long numbers[KI_TEXTS_NUMBERS / 64]; /* bits: less 1, those that are taken */
	u8 *memory;	   /* scratch memory, KI_TEXTS_SCRATCH bytes; NULL: none */
	u32 *ends;	   /* of each KI_BLOCK bytes of it: where the piece ends that they are of */
	u64 blocks;	   /* that have been taken, since ever */
	u32 piece;	   /* bytes of one, at most */
	u32 rooms, stride; /* how many, and bytes of one with those after it */
	u32 *tops;	   /* of each room: bytes that are taken */
	unsigned long *taken; /* bits: those that are a session's */
};

/* A string that is in the table, or is being made. */
struct ki_text_piece {
	const u8 *at;
	u32 len;
};

/* An operation of helper TEXT. Its function says: a string's length in `out`, or a number. */
struct ki_op {
	struct ki_texts_table *t;
	u64 a, b, c;
	struct ki_text_piece s, x; /* a and b, as strings */
	u8 *out;		   /* room for `most` */
	u32 most;
};

#define KI_FAULT (-1)

extern struct ki_texts_table *ki_texts_tables[KI_TEXTS_TABLES];

/* texts.c */
struct vm_area_struct;
int ki_texts_init(void);
int __must_check ki_texts_check(const struct ki_session *s, struct ki_texts *req)
	__must_hold(&ki_lock);
int __must_check ki_texts_take(struct ki_session *s, struct ki_texts *req) __must_hold(&ki_lock);
bool ki_texts_own(const struct ki_session *s, u64 n) __must_hold(&ki_lock);
int __must_check ki_texts_map(struct ki_session *s, struct vm_area_struct *vma);

/* intern.c: between begin and end of helpers.c */
struct ki_text_piece ki_texts_get(const struct ki_texts_table *t, u64 number);
u64 ki_texts_put(struct ki_texts_table *t, const u8 *text, u32 len);

/* text_op.c: helper TEXT, the same */
u64 ki_text_op(u32 what, u64 a, u64 b, u64 c);

/*
 * text_memory.c: a piece: its address, NULL; do n bytes lie inside one, or in what is taken of a
 * room? is it any of this memory? n bytes of the room that `at` is in, of a new one if that is 0;
 * what gives it back.
 */
#define KI_BLOCK 64u
int ki_texts_memory(struct ki_texts_table *t, u32 piece);
void ki_texts_memory_free(struct ki_texts_table *t);
u8 *ki_texts_alloca(struct ki_texts_table *t, u64 n, u64 at);
void ki_texts_give_room(struct ki_texts_table *t, u64 at);
u8 *ki_texts_piece(struct ki_texts_table *t, u64 n);
bool ki_texts_inside(const struct ki_texts_table *t, u64 at, u64 n);
bool ki_texts_scratch(const struct ki_texts_table *t, u64 at);

/* text_path.c: into `to`, which has room for `most`; the length */
u32 ki_text_base(struct ki_text_piece s, u8 *to, u32 most);
u32 ki_text_dir(struct ki_text_piece s, u8 *to, u32 most);
u32 ki_text_clean(struct ki_text_piece s, u8 *to, u32 most);

/* path.c: are the structures of this kernel the known ones? */
int ki_paths_init(void);
extern bool ki_paths_known;
s64 ki_text_do_path(struct ki_op *o);

/* text_process.c */
s64 ki_text_do_arguments(struct ki_op *o);
s64 ki_text_do_copy_out(struct ki_op *o);
s64 ki_text_do_copy_out_text(struct ki_op *o);
s64 ki_text_do_copy_text(struct ki_op *o);

/* text_net.c */
s64 ki_text_do_ipv4(struct ki_op *o);
s64 ki_text_do_ipv6(struct ki_op *o);

/* text_json.c */
s64 ki_text_do_json(struct ki_op *o);

/* string.c: at most `most` bytes, and there is room for 8 more; its length; -EFAULT. */
int ki_string_read(u8 *to, u64 from, u32 most, bool user);

#endif
