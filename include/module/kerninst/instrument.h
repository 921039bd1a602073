/* SPDX-License-Identifier: LGPL-2.1-only OR BSD-2-Clause */
/*
 * Instruments written in C: functions of a kernel module that kerninst calls at points of the
 * running kernel. One C file is one module; examples/instrument/ shows one.
 *
 *	#include <kerninst/instrument.h>
 *
 *	KI_COUNTER(big, "reads of more than a page");
 *
 *	KI_INSTRUMENT(pages, "whole pages asked for", (size_t len))
 *	{
 *		if (len > PAGE_SIZE)
 *			ki_count(big, 1);
 *		return len / PAGE_SIZE;
 *	}
 *
 *	KI_INSTRUMENT_MODULE("how much is read");
 *
 * It is built by `kerninst build FILE.c`, loaded by `kerninst load FILE.ko` (or insmod), and called
 * wherever an expression can stand: `kerninst record 'vfs_read=pages(arg2)'`, `kerninst stat --if
 * 'pages(arg2) > 3' vfs_read`.
 *
 * What an instrument may do: read its arguments, call functions of the kernel that may be called
 * there, change its own variables, write records. What it must know: it is called in the middle of
 * whatever code it is attached to: with preemption off, perhaps with locks held, in an interrupt or
 * in an NMI. It must not sleep, take locks that the code may hold, or run long. On one CPU at one
 * level (task, softirq, interrupt, NMI) it is never called in the middle of itself or another
 * instrument: such a hit is skipped and counted (kerninst info). Its parameters, at most six, are
 * integers or pointers; of what is narrower than 64 bits the lower part is passed.
 */
#ifndef KERNINST_INSTRUMENT_H
#define KERNINST_INSTRUMENT_H

#include <linux/atomic.h>
#include <linux/elf.h>
#include <linux/errno.h>
#include <linux/init.h>
#include <linux/kernel.h>
#include <linux/module.h>
#include <linux/moduleparam.h>
#include <linux/static_call.h>
#include <linux/types.h>

/* Of this header: kerninst refuses modules that were built with another one. */
#ifndef KI_INSTRUMENT_VERSION
#define KI_INSTRUMENT_VERSION 1
#endif

/* As the first parameter: which records the call may write, a number; expressions leave it out. */
typedef u32 ki_id_t;

/*
 * As the first parameter, or after ki_id_t: from where it is called. Expressions leave it out,
 * too; it is passed in two registers, so it counts as two of the six parameters.
 */
struct ki_here {
	unsigned long address; /* of the instruction; less the offset: of its function */
	u32 offset : 24;       /* in the function */
	u32 where : 8; /* before it 0, after it 1, the branch is taken 2, the tail jump is over 3
			*/
	u16 order;     /* among what stands at one place: /ORDER */
	u16 point;     /* which of the session's points, from 0 */
};

/*
 * What there is to know of a module stands in an ELF note, which the kernel shows below
 * /sys/module. In all versions the version comes first and then the name.
 */
#define KI_NOTE_FUNCTION 1
#define KI_NOTE_RECORDS	 2
#define KI_NOTE_VALUE	 3

#define KI_NOTE(kind, id, text)                                                                    \
	static const struct {                                                                      \
		struct elf64_note note;                                                            \
		char owner[12];                                                                    \
		u32 version;                                                                       \
		char text_[sizeof(text)];                                                          \
	} ki_note_##kind##_##id __used __aligned(4) __section(".note.kerninst") = {                \
		{9, sizeof(u32) + sizeof(text), kind}, "kerninst", KI_INSTRUMENT_VERSION, text}

/* A function `long NAME PARAMETERS`, and a sentence that says what it is for. */
#define KI_INSTRUMENT(name, sentence, params)                                                      \
	KI_NOTE(KI_NOTE_FUNCTION, name, #name "\0" #params "\0" sentence);                         \
	static notrace noinline __used long ki_instrument_##name params

/*
 * The instrument NAME writes records with these values: "[TYPE ]FIELD[/UNIT],...", as in "u32
 * magic/hex,len/bytes". TYPE is i8 to u64; without one it is u64.
 */
#define KI_RECORDS(name, fields) KI_NOTE(KI_NOTE_RECORDS, name, #name "\0" fields)

/* A number of the module's own, shown by `kerninst instruments -v`. */
#define KI_COUNTER(name, sentence)                                                                 \
	static atomic64_t ki_counter_##name;                                                       \
	KI_NOTE(KI_NOTE_VALUE, name, #name "\0" sentence);                                         \
	module_param_cb(name, &ki_counter_ops, &ki_counter_##name, 0400)
#define ki_count(name, n) ((void)atomic64_add((n), &ki_counter_##name))

/* The same for what `int FUNCTION(char *to, size_t size)` writes as text; it returns the length. */
#define KI_SHOW(name, sentence, function)                                                          \
	static int ki_show_##name(char *to, const struct kernel_param *kp)                         \
	{                                                                                          \
		return function(to, PAGE_SIZE);                                                    \
	}                                                                                          \
	static const struct kernel_param_ops ki_show_ops_##name = {.get = ki_show_##name};         \
	KI_NOTE(KI_NOTE_VALUE, name, #name "\0" sentence);                                         \
	module_param_cb(name, &ki_show_ops_##name, NULL, 0400)

static int ki_counter_get(char *to, const struct kernel_param *kp)
{
	return scnprintf(to, PAGE_SIZE, "%lld\n", (long long)atomic64_read(kp->arg));
}

static const struct kernel_param_ops ki_counter_ops __maybe_unused = {.get = ki_counter_get};

/*
 * Write a record of these values into the ring of who called: 0; -ENOSPC: there was no room, and it
 * is counted as lost; -ENOENT: nothing records here (`kerninst stat`).
 */
#define ki_record(...)                                                                             \
	ki_record_words((const u64[]){__VA_ARGS__},                                                \
			sizeof((const u64[]){__VA_ARGS__}) / sizeof(u64))

int kerninst_record_1(const u64 *words, u32 n);

static notrace int ki_record_none(const u64 *words, u32 n)
{
	return -ENOENT;
}

DEFINE_STATIC_CALL(ki_record_call, ki_record_none);

static __always_inline int ki_record_words(const u64 *words, u32 n)
{
	return static_call(ki_record_call)(words, n);
}

/* The driver stays loaded as long as the module is. */
static int __init ki_instrument_init(void)
{
	typeof(&kerninst_record_1) record = symbol_get(kerninst_record_1);

	if (!record) {
		pr_err("kerninst: load the driver first, of the version that this module was built for\n");
		return -ENODEV;
	}
	static_call_update(ki_record_call, record);
	return 0;
}

static void __exit ki_instrument_exit(void)
{
	symbol_put(kerninst_record_1);
}

/* At the end of the file, once. */
#define KI_INSTRUMENT_MODULE(sentence)                                                             \
	module_init(ki_instrument_init);                                                           \
	module_exit(ki_instrument_exit);                                                           \
	MODULE_LICENSE("GPL");                                                                     \
	MODULE_DESCRIPTION(sentence)

#endif
