// SPDX-License-Identifier: GPL-2.0-only
/*
 * Variables of threads: one word for each thread and number.
 *
 * Code anywhere in the kernel uses them, so nothing can be allocated or locked: they are in one
 * table of fixed size with open addressing, whose keys are set by compare-and-exchange. A thread
 * looks only for its own words, and nobody else takes them away while it lives: the chain to one
 * only changes in places that held another's. So what a thread has found stays found.
 *
 * A place that has been used and is free again (GONE) does not end a chain. It is used again for
 * the first key that comes by and is not in the rest of the chain. When a thread has ended and will
 * never run again, its words go: the kernel says so by a tracepoint, which is asked only while
 * somebody has variables.
 */
#include <linux/hash.h>
#include <linux/mm.h>
#include <linux/sched.h>
#include <linux/tracepoint.h>

#include "ki.h"

#define KI_THREAD_BITS	 16
#define KI_THREAD_WORDS	 (1u << KI_THREAD_BITS)
#define KI_THREAD_PROBES 64 /* a chain is not followed further */
#define KI_THREAD_GONE	 1

struct ki_thread_word {
	u64 key; /* 0: never used */
	u64 value;
};

static struct ki_thread_word *ki_thread_words;
static struct tracepoint *ki_task_freed;
static bool ki_threads_started;
static u64 ki_numbers_used[8192 / 64]; /* a bit for each number some thread has had a word of */

/* Tasks are aligned to 64 bytes, in one half of the address space; numbers are below 8192. */
static u64 key_of(const struct task_struct *t, u32 n)
{
	return 1ull << 63 | ((unsigned long)t & ((1ul << 47) - 1)) >> 6 << 13 | n;
}

static notrace struct ki_thread_word *place(u64 key, u32 i)
{
	return &ki_thread_words[(hash_64(key, KI_THREAD_BITS) + i) % KI_THREAD_WORDS];
}

/* The word of the key; NULL: there is none, and *free is where it could be, or NULL. */
static notrace struct ki_thread_word *find(u64 key, struct ki_thread_word **free)
{
	u32 i;

	*free = NULL;
	for (i = 0; i < KI_THREAD_PROBES; i++) {
		struct ki_thread_word *w = place(key, i);
		u64 now = READ_ONCE(w->key);

		if (now == key)
			return w;
		if (now <= KI_THREAD_GONE && !*free)
			*free = w;
		if (!now)
			break;
	}
	return NULL;
}

notrace u64 *ki_thread_word(u32 n, bool make)
{
	u64 key = key_of(current, n);
	struct ki_thread_word *w, *free;

	while (!(w = find(key, &free))) {
		u64 was;

		if (!make || !free)
			return NULL;
		was = READ_ONCE(free->key);
		if (was > KI_THREAD_GONE || cmpxchg(&free->key, was, key) != was)
			continue; /* another thread was quicker, or an interrupt of this one */
		free->value = 0;
		set_bit(n % 64, (unsigned long *)&ki_numbers_used[n / 64]);
		return &free->value;
	}
	return &w->value;
}

static void drop(u64 key)
{
	struct ki_thread_word *free, *w = find(key, &free);

	if (w)
		WRITE_ONCE(w->key, KI_THREAD_GONE);
}

static void task_freed(void *unused, struct task_struct *t)
{
	u32 n;

	for (n = 0; n < ARRAY_SIZE(ki_numbers_used); n++) {
		u64 left = READ_ONCE(ki_numbers_used[n]);

		for (; left; left &= left - 1)
			drop(key_of(t, n * 64 + __ffs64(left)));
	}
}

void ki_threads_forget(u32 first, u32 count)
{
	u32 i, n;

	for (i = 0; ki_thread_words && i < KI_THREAD_WORDS; i++) {
		u64 key = READ_ONCE(ki_thread_words[i].key);

		if (key > KI_THREAD_GONE && (key & 8191) - first < count)
			cmpxchg(&ki_thread_words[i].key, key, KI_THREAD_GONE);
	}
	for (n = first; n < first + count; n++)
		clear_bit(n % 64, (unsigned long *)&ki_numbers_used[n / 64]);
}

static void find_tracepoint(struct tracepoint *tp, void *unused)
{
	if (!strcmp(tp->name, "sched_process_free"))
		ki_task_freed = tp;
}

int ki_threads_init(void)
{
	for_each_kernel_tracepoint(find_tracepoint, NULL);
	if (!ki_task_freed) {
		pr_err("kerninst: this kernel does not say when a task is freed: not supported\n");
		return -ENOENT;
	}
	return 0;
}

int ki_threads_start(void)
{
	int err;

	if (ki_threads_started)
		return 0;
	if (!ki_thread_words)
		ki_thread_words = kvcalloc(KI_THREAD_WORDS, sizeof(*ki_thread_words), GFP_KERNEL);
	if (!ki_thread_words)
		return -ENOMEM;
	err = tracepoint_probe_register(ki_task_freed, task_freed, NULL);
	ki_threads_started = !err;
	return err;
}

void ki_threads_stop(void)
{
	if (ki_threads_started)
		tracepoint_probe_unregister(ki_task_freed, task_freed, NULL);
	ki_threads_started = false;
}

void ki_threads_exit(void)
{
	ki_threads_stop();
	tracepoint_synchronize_unregister();
	kvfree(ki_thread_words);
}
