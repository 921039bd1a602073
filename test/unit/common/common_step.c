// SPDX-License-Identifier: GPL-2.0-only
#include "common_step.h"

#include <signal.h>
#include <stdio.h>
#include <stdlib.h>

#include "common_exec.h"

#define TRAP_FLAG 0x100

void exec_back(void);

static struct step *now;

static void on_trap(int sig, siginfo_t *info, void *context)
{
	greg_t *regs = ((ucontext_t *)context)->uc_mcontext.gregs;
	const uint8_t *rip = (const uint8_t *)(uintptr_t)regs[REG_RIP];

	(void)sig;
	(void)info;
	if (regs[REG_RIP] == (greg_t)(uintptr_t)exec_back)
		regs[REG_EFL] &= ~TRAP_FLAG;
	if (rip < now->start || rip >= now->end)
		return;
	now->n++;
	if (now->before)
		now->before(now, regs);
}

uint32_t step_at(const uint8_t *entry, struct step *s)
{
	static uint8_t stack[65536];
	const stack_t own = {.ss_sp = stack, .ss_size = sizeof(stack)};
	struct sigaction action = {.sa_sigaction = on_trap, .sa_flags = SA_SIGINFO | SA_ONSTACK},
			 was;
	uint32_t pad;

	if (sigaltstack(&own, NULL) || sigaction(SIGTRAP, &action, &was)) {
		perror("step_at");
		exit(1);
	}
	now = s;
	s->n = 0;
	exec_in.flags |= TRAP_FLAG;
	pad = exec_at(entry);
	exec_in.flags &= ~(uint64_t)TRAP_FLAG;
	sigaction(SIGTRAP, &was, NULL);
	return pad;
}
