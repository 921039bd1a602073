// SPDX-License-Identifier: LGPL-2.1-only OR BSD-2-Clause
/*
 * arg0 to arg9, and errno: what a probe's place has of them.
 */
#include <netinet/tcp.h>
#include <string.h>

#include "dlang/code/code.h"

/* Where struct pt_regs has the arguments of a system call: rdi rsi rdx r10 r8 r9. */
static const uint8_t saved[] = {14 * 8, 13 * 8, 12 * 8, 7 * 8, 9 * 8, 8 * 8};

static struct ki_node *number(struct ki_d_gen *g, int64_t value)
{
	return ki_expr_const(g->s, KI_I64, (uint64_t)value);
}

struct ki_node *ki_d_gen_syscall_arg(struct ki_d_gen *g, unsigned int i)
{
	if (i >= sizeof(saved))
		return number(g, 0);
	return ki_expr_load(g->s, KI_U64,
			    ki_expr_binary(g->s, KI_ADD, ki_expr_param(g->s, 0),
					   ki_expr_const(g->s, KI_U64, saved[i])));
}

static struct ki_node *retval(struct ki_d_gen *g)
{
	if (!g->site->regs->at_exit)
		return number(g, 0);
	return ki_expr_cast(g->s, KI_I64, ki_expr_fact(g->s, KI_FACT_RETVAL));
}

#define REGS_IP 128 /* of struct pt_regs */
#define REGS_CS 136

static struct ki_node *interrupted(struct ki_d_gen *g, enum ki_type type, uint64_t offset)
{
	return ki_expr_load(g->s, type,
			    ki_expr_binary(g->s, KI_ADD, ki_expr_param(g->s, 2),
					   ki_expr_const(g->s, KI_U64, offset)));
}

/* Of profile: where the kernel was (arg0), or the process (arg1). */
static struct ki_node *profile_argument(struct ki_d_gen *g, unsigned int i)
{
	struct ki_node *user, *ip;

	if (i > 1)
		return number(g, 0);
	ip = ki_expr_cast(g->s, KI_I64, interrupted(g, KI_U64, REGS_IP));
	user = ki_expr_binary(g->s, KI_AND, interrupted(g, KI_U16, REGS_CS),
			      ki_expr_const(g->s, KI_U64, 3));
	return i ? ki_expr_cond(g->s, user, ip, number(g, 0))
		 : ki_expr_cond(g->s, user, number(g, 0), ip);
}

#define SOCK_STATE 18 /* of struct sock: its state */
#define BIO_BYTES  40 /* of struct bio: bi_iter.bi_size */
#define PAGE	   4096

/* Of what parameter 0 leads to. */
static struct ki_node *field(struct ki_d_gen *g, enum ki_type type, uint64_t offset)
{
	return ki_expr_load(g->s, type,
			    ki_expr_binary(g->s, KI_ADD, ki_expr_param(g->s, 0),
					   ki_expr_const(g->s, KI_U64, offset)));
}

static struct ki_node *pages(struct ki_d_gen *g)
{
	struct ki_node *bytes = field(g, KI_U32, BIO_BYTES);

	bytes = ki_expr_binary(g->s, KI_ADD, ki_expr_cast(g->s, KI_I64, bytes),
			       number(g, PAGE - 1));
	return ki_expr_binary(g->s, KI_SHR, bytes, number(g, __builtin_ctz(PAGE)));
}

static struct ki_node *hook_argument(struct ki_d_gen *g, const struct ki_d_hook *h, unsigned int i)
{
	static const char letters[] = "yrwl";
	static const uint8_t numbers[] = {1, TCP_SYN_RECV, TCP_TIME_WAIT, TCP_LISTEN};
	const int param = ki_d_hook_param(h, i);
	const char letter = ki_d_hook_letter(h, i), *at = letter ? strchr(letters, letter) : NULL;

	if (h->kind == KI_D_HOOK_PROFILE)
		return profile_argument(g, i);
	if (h->user)
		return ki_d_gen_user_argument(g, h->user, i);
	if (at)
		return number(g, numbers[at - letters]);
	switch (letter) {
	case 's':
		return ki_expr_cast(g->s, KI_I64, field(g, KI_U8, SOCK_STATE));
	case 'b':
		return pages(g);
	case 'v':
		return retval(g);
	case 'k':
	case 'K':
		return ki_expr_cast(g->s, KI_I64, ki_d_gen_kept_word(g, 0));
	case 't':
		return ki_expr_cast(g->s, KI_I64,
				    ki_expr_binary(g->s, KI_SUB, ki_d_gen_timestamp(g),
						   ki_d_gen_kept_word(g, 1)));
	case '<':
		return ki_expr_cast(g->s, KI_I64,
				    ki_expr_binary(g->s, KI_SUB, ki_expr_param(g->s, 0),
						   ki_expr_const(g->s, KI_U64, sizeof(uint64_t))));
	default:
		break;
	}
	return param < 0 ? number(g, 0)
			 : ki_expr_cast(g->s, KI_I64, ki_expr_param(g->s, (unsigned int)param));
}

/* Of a return: where it is in the function (of a system call: its value), and its value. */
struct ki_node *ki_d_gen_argument(struct ki_d_gen *g, unsigned int i)
{
	const struct ki_d_site *at = g->site;
	const struct ki_d_hook *h = g->d->probes.v[at->probe].hook;

	if (g->in_error)
		return ki_d_gen_error_argument(g, i);
	if (at->is_trigger) /* tick: where the kernel is, as profile has it */
		return number(g,
			      !i && g->d->probes.v[at->probe].nanoseconds ? (int64_t)at->addr : 0);
	if (at->is_return && h && h->map)
		return hook_argument(g, h, i);
	if (at->is_return && i > 1)
		return number(g, 0);
	if (at->is_return)
		return i || at->is_syscall ? retval(g) : number(g, (int64_t)at->offset);
	if (at->is_syscall)
		return ki_expr_cast(g->s, KI_I64, ki_d_gen_syscall_arg(g, i));
	if (at->regs->at_entry && h)
		return hook_argument(g, h, i);
	return at->regs->at_entry ? ki_expr_cast(g->s, KI_I64, ki_expr_param(g->s, i))
				  : number(g, 0);
}

/* -4095 <= value < 0 ? -value : 0 */
struct ki_node *ki_d_gen_errno(struct ki_d_gen *g)
{
	struct ki_node *is_error;

	if (!g->site->is_return || !g->site->regs->at_exit)
		return number(g, 0);
	is_error = ki_expr_binary(g->s, KI_GE, ki_expr_fact(g->s, KI_FACT_RETVAL),
				  ki_expr_const(g->s, KI_U64, (uint64_t)-4095));
	return ki_expr_cond(g->s, is_error, ki_expr_unary(g->s, KI_NEG, retval(g)), number(g, 0));
}
