/* SPDX-License-Identifier: GPL-2.0-only */
#ifndef SHIM_LIST_H
#define SHIM_LIST_H

#include <stddef.h>

/* As much of the kernel's as the driver's files that are compiled in tests need. */
struct list_head {
	struct list_head *next, *prev;
};

#define LIST_HEAD(name) struct list_head name = {&name, &name}

static inline void INIT_LIST_HEAD(struct list_head *h)
{
	h->next = h->prev = h;
}

static inline void list_add(struct list_head *new, struct list_head *h)
{
	new->next = h->next;
	new->prev = h;
	h->next->prev = new;
	h->next = new;
}

static inline void list_add_tail(struct list_head *new, struct list_head *h)
{
	list_add(new, h->prev);
}

static inline void list_del(struct list_head *gone)
{
	gone->prev->next = gone->next;
	gone->next->prev = gone->prev;
	gone->next = gone->prev = NULL;
}

#define SHIM_ENTRY(ptr, type, member) ((type *)(void *)((char *)(ptr)-offsetof(type, member)))

#define list_first_entry(h, type, member) SHIM_ENTRY((h)->next, type, member)
#define list_next_entry(pos, member)	  SHIM_ENTRY((pos)->member.next, __typeof__(*(pos)), member)
#define list_prev_entry(pos, member)	  SHIM_ENTRY((pos)->member.prev, __typeof__(*(pos)), member)

#define list_for_each_entry(pos, h, member)                                                        \
	for (pos = list_first_entry(h, __typeof__(*pos), member); &pos->member != (h);             \
	     pos = list_next_entry(pos, member))

#define list_for_each_entry_safe(pos, n, h, member)                                                \
	for (pos = list_first_entry(h, __typeof__(*pos), member),                                  \
	    n = list_next_entry(pos, member);                                                      \
	     &pos->member != (h); pos = n, n = list_next_entry(n, member))

#endif
