// SPDX-License-Identifier: GPL-2.0-only
#include "common_exec.h"

#include <asm/prctl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/syscall.h>
#include <unistd.h>

struct exec_memory *exec_mem;
struct exec_cpu exec_in, exec_out;

/* Used by the assembly below. */
extern uint64_t exec_host_rsp;
extern const uint8_t *exec_entry;
uint64_t exec_host_rsp;
const uint8_t *exec_entry;
void exec_go(void);
void exec_back(void);

#define FOR_EACH_REG(op)                                                                           \
	op("rax", 0) op("rcx", 8) op("rdx", 16) op("rbx", 24) op("rbp", 32) op("rsi", 40)          \
		op("rdi", 48) op("r8", 56) op("r9", 64) op("r10", 72) op("r11", 80) op("r12", 88)  \
			op("r13", 96) op("r14", 104) op("r15", 112)
#define LOAD(reg, off)	"mov exec_in+" #off "(%rip), %" reg "\n"
#define STORE(reg, off) "mov %" reg ", exec_out+" #off "(%rip)\n"

/* clang-format off */
__asm__(".text\n"
	".globl exec_go\n"
	".type exec_go, @function\n"
	"exec_go:\n"
	"push %rbx; push %rbp; push %r12; push %r13; push %r14; push %r15\n"
	"mov %rsp, exec_host_rsp(%rip)\n"
	"pushq exec_in+128(%rip)\n"
	"popfq\n"
	"mov exec_in+120(%rip), %rsp\n"
	FOR_EACH_REG(LOAD)
	"jmp *exec_entry(%rip)\n"
	".globl exec_back\n"
	"exec_back:\n"
	FOR_EACH_REG(STORE)
	"mov %rsp, exec_out+120(%rip)\n"
	"mov exec_host_rsp(%rip), %rsp\n"
	"pushfq\n"
	"popq exec_out+128(%rip)\n"
	"cld\n"
	"pop %r15; pop %r14; pop %r13; pop %r12; pop %rbp; pop %rbx\n"
	"ret\n"
	".size exec_go, . - exec_go\n");
/* clang-format on */

void exec_init(void)
{
	void (*back)(void) = exec_back;

	if (exec_mem)
		return;
	exec_mem = mmap(NULL, sizeof(*exec_mem), PROT_READ | PROT_WRITE | PROT_EXEC,
			MAP_PRIVATE | MAP_ANONYMOUS | MAP_32BIT, -1, 0);
	if (exec_mem == MAP_FAILED) {
		perror("exec_init: mmap");
		exit(1);
	}
	memcpy(exec_mem->control + 8, &back, 8);
}

void exec_pad(uint8_t *at, uint32_t number)
{
	uint32_t note = (uint32_t)(uintptr_t)exec_mem->control, back = note + 8;

	memcpy(at, "\xc7\x04\x25", 3); /* movl $number, note */
	memcpy(at + 3, &note, 4);
	memcpy(at + 7, &number, 4);
	memcpy(at + 11, "\xff\x24\x25", 3); /* jmp *back */
	memcpy(at + 14, &back, 4);
}

uint32_t exec_at(const uint8_t *entry)
{
	uint32_t number;

	memset(exec_mem->control, 0xff, 4);
	exec_entry = entry;
	exec_go();
	memcpy(&number, exec_mem->control, 4);
	return number;
}

void exec_set_gs(void *base)
{
	if (syscall(SYS_arch_prctl, ARCH_SET_GS, base)) {
		perror("arch_prctl");
		exit(1);
	}
}

static uint64_t x = 0x9e3779b97f4a7c15;

void exec_seed(uint64_t seed)
{
	x = (seed ^ 0x9e3779b97f4a7c15) | 1;
}

uint64_t exec_random(void)
{
	x ^= x << 13;
	x ^= x >> 7;
	x ^= x << 17;
	return x * 0x2545f4914f6cdd1d;
}
