/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * Run a piece of machine code with every register and flag given, and see what it made of them.
 *
 * Memory below 2 GiB, writable and executable, holds everything the code can reach: itself,
 * data, a stack, and pads: places where it ends. A pad notes its number and comes back here.
 */
#ifndef COMMON_EXEC_H
#define COMMON_EXEC_H

#include <stdint.h>

enum { RAX, RCX, RDX, RBX, RBP, RSI, RDI, R8, R9, R10, R11, R12, R13, R14, R15, EXEC_REGS };

#define EXEC_FLAGS 0x8d5 /* OF SF ZF AF PF CF */
#define EXEC_DATA  512	 /* bytes */
#define EXEC_STACK 512

struct exec_cpu {
	uint64_t r[EXEC_REGS];
	uint64_t rsp;
	uint64_t flags;
};

struct exec_memory {
	uint8_t control[4096]; /* pad number, return trampoline */
	uint8_t code[16384];
	uint8_t patch[16384];
	uint8_t data[4096]; /* the code uses EXEC_DATA bytes in its middle */
	uint8_t stack[4096];
};

extern struct exec_memory *exec_mem;
extern struct exec_cpu exec_in, exec_out;

void exec_init(void);

#define EXEC_PAD_LEN 18
/* Write a pad. */
void exec_pad(uint8_t *at, uint32_t number);

/* Run from entry with exec_in until a pad: its number; exec_out is filled. */
uint32_t exec_at(const uint8_t *entry);

/* The base of %gs of this process. */
void exec_set_gs(void *base);

/* A reproducible sequence of numbers; another one. */
uint64_t exec_random(void);
void exec_seed(uint64_t seed);

#endif
