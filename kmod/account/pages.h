/* SPDX-License-Identifier: GPL-2.0-only */
#ifndef KI_PAGES_H
#define KI_PAGES_H

#include <linux/types.h>

struct ki_account;
struct page;
struct vm_area_struct;

/* So many more of one kind: -ENOMEM if that is too much for all sessions, -EDQUOT for this one;
   else they are charged until they are given back. ki_lock held. */
int __must_check ki_pages_charge(struct ki_account *a, u64 *all, u64 n) __must_hold(&ki_lock);
u64 ki_pages_total(void); /* that all of all kinds may be */
void ki_pages_give(struct ki_account *a, u64 *all, u64 n) __must_hold(&ki_lock);
u16 ki_pages_reason(int err); /* why there is no such memory */

/* n zeroed pages into v, which is of ki_array; after a failure some of them are there. */
int __must_check ki_pages_take(struct page **v, u64 n);
void ki_pages_free(struct page **v, u64 n); /* and v itself; NULL is allowed, pages too */

/* All of a mapping, which must have that length. */
int __must_check ki_pages_map(struct vm_area_struct *vma, struct page *const *v, u64 n);

/* Pages that the kernel sees as one piece, and user space may only read. Zeros: none. */
struct ki_sheet {
	void *at;
	u64 n;
	struct page **page;
	struct ki_account *account; /* to which they are charged; NULL: not yet */
	u64 *all;		    /* of that kind */
};
/* After a failure the sheet is to be freed, too. */
int __must_check ki_sheet_new(struct ki_sheet *s, struct ki_account *a, u64 *all, u64 n)
	__must_hold(&ki_lock);
void ki_sheet_free(struct ki_sheet *s) __must_hold(&ki_lock);
int __must_check ki_sheet_map(struct vm_area_struct *vma, const struct ki_sheet *s);

#endif
