// SPDX-License-Identifier: LGPL-2.1-only OR BSD-2-Clause
/*
 * args[]: the typed arguments of probes. Those of providers with a meaning of their own are
 * expressions of arg0 to arg9; those of functions and of tracepoints have the types of the
 * kernel's parameters.
 */
#include <ctype.h>
#include <stdio.h>
#include <string.h>

#include "dlang/check/check.h"
#include "dlang/print/print.h"
#include "dlang/words/names.h"
#include "dlang/parse/parse.h"
#include "dlang/probe/probe.h"
#include "dlang/probe/usdt.h"
#include "dlang/probe/user.h"

#define TASK(n)	   "(struct task_struct *)arg" #n
#define LWP(n)	   "xlate<lwpsinfo_t *>(" TASK(n) ")"
#define PROC(n)	   "xlate<psinfo_t *>(" TASK(n) ")"
#define THIS_CPU   "xlate<cpuinfo_t *>(cpu)"
#define BIO	   "(struct bio *)arg0"
#define BUFFER	   "xlate<bufinfo_t *>(" BIO ")"
#define DEVICE	   "xlate<devinfo_t *>(" BIO ")"
#define NO_FILE	   "xlate<fileinfo_t *>((struct file *)0)"
#define SKB	   "((struct sk_buff *)arg0)"
#define PACKET	   "xlate<pktinfo_t *>(" SKB ")"
#define NO_PACKET  "xlate<pktinfo_t *>((struct sk_buff *)0)"
#define SOCK(n)	   "(struct sock *)arg" #n
#define IN_SOCK(n) "(struct __in_sock *)arg" #n
#define HEADER(n)  "(" SKB "->head + " SKB "->" #n ")"
#define NETWORK	   HEADER(network_header)
#define IP	   "xlate<ipinfo_t *>((struct iphdr *)" NETWORK ")"
#define IP_OF(x)   "xlate<ipinfo_t *>(" x ")"
#define IS(v, t)   "(*(uint8_t *)" NETWORK " >> 4 == " #v " ? (" t ")" NETWORK " : (" t ")0)"
#define CS(n)	   "xlate<csinfo_t *>(" SOCK(n) ")"
#define TCP_OF(x)  "xlate<tcpinfo_t *>(" x ")"
#define TCPS_OF(x) "xlate<tcpsinfo_t *>(" x ")"
#define UDPS_OF(x) "xlate<udpsinfo_t *>(" x ")"
#define TCPLS	   "xlate<tcplsinfo_t *>((int)arg4)"
#define MUTEX	   "(struct mutex *)arg0"
#define RWLOCK	   "(struct rwlock *)arg0"
#define SPINLOCK   "(spinlock_t *)arg0"
#define WAITED	   "(uint64_t)arg1"
#define MOST_ARGS  6
#define OF_IP                                                                                      \
	{                                                                                          \
		PACKET, CS(2), IP, "xlate<ifinfo_t *>(" SKB "->dev)",                              \
			"xlate<ipv4info_t *>(" IS(4, "struct iphdr *") ")",                        \
			"xlate<ipv6info_t *>(" IS(6, "struct ipv6hdr *") ")"                       \
	}
/* What comes in makes a connection what it is then. */
#define BECOMES                                                                                    \
	{                                                                                          \
		NO_PACKET, CS(1), IP_OF(IN_SOCK(1)), TCPS_OF("(struct tcp_sock *)arg3"),           \
			TCP_OF(IN_SOCK(1)), TCPLS                                                  \
	}

static const struct row {
	const char *provider, *name;
	const char *args[MOST_ARGS];
} rows[] = {
	{"dtrace", "BEGIN", {NULL}},
	{"dtrace", "END", {NULL}},
	{"dtrace", "ERROR", {NULL}},
	{"proc", "exec", {"copyinstr(*(uint64_t *)(arg0 + 112))"}}, /* pt_regs.di */
	{"proc", "create", {PROC(0)}},
	{"proc", "exec-failure", {"(int)arg1"}},
	{"proc",
	 "exit",
	 {"curthread->exit_code & 0x7f ? (curthread->exit_code & 0x80 ? 3 : 2) : 1"}},
	{"proc", "lwp-create", {LWP(0), PROC(0)}},
	{"proc", "signal-send", {LWP(0), PROC(1), "(int)arg2"}},
	{"proc", "signal-discard", {LWP(0), PROC(1), "(int)arg2"}},
	{"proc", "signal-clear", {"(int)arg0"}},
	/* What ends a process is told to its threads as a signal 9. */
	{"proc",
	 "signal-handle",
	 {"(int)(arg0 == 9 && (curthread->signal->group_exit_code & 0x7f) ? "
	  "curthread->signal->group_exit_code & 0x7f : arg0)",
	  "(struct kernel_siginfo *)arg1"}},
	{"sched", "off-cpu", {LWP(0), PROC(1)}},
	{"sched", "wakeup", {LWP(0), PROC(1)}},
	{"sched", "enqueue", {LWP(0), PROC(1), THIS_CPU, "(int)0"}},
	{"sched", "dequeue", {LWP(0), PROC(1), THIS_CPU}},
	{"sched", "change-pri", {LWP(0), PROC(1), "(int)(arg2 + 120)"}},
	{"sched", "tick", {"xlate<lwpsinfo_t *>(curthread)", "xlate<psinfo_t *>(curthread)"}},
	{"sched", "surrender", {"xlate<lwpsinfo_t *>(curthread)", "xlate<psinfo_t *>(curthread)"}},
	{"io", "start", {BUFFER, DEVICE, NO_FILE}},
	{"io", "done", {BUFFER, DEVICE, NO_FILE}},
	{"io", "wait-start", {BUFFER, DEVICE, NO_FILE}},
	{"io", "wait-done", {BUFFER, DEVICE, NO_FILE}},
	{"lockstat", "adaptive-acquire", {MUTEX}},
	{"lockstat", "adaptive-acquire-error", {MUTEX, "(int)arg1"}},
	{"lockstat", "adaptive-block", {MUTEX, WAITED}},
	{"lockstat", "adaptive-release", {MUTEX}},
	{"lockstat", "adaptive-spin", {MUTEX, WAITED}},
	{"lockstat", "rw-acquire", {RWLOCK, "(int)arg1"}},
	{"lockstat", "rw-release", {RWLOCK, "(int)arg1"}},
	{"lockstat", "rw-spin", {RWLOCK, WAITED, "(int)arg2"}},
	{"lockstat", "spin-acquire", {SPINLOCK}},
	{"lockstat", "spin-release", {SPINLOCK}},
	{"lockstat", "spin-spin", {SPINLOCK, WAITED}},
	{"ip", "send", OF_IP},
	{"ip", "receive", OF_IP},
	{"tcp",
	 "send",
	 {PACKET, CS(1), IP_OF("(struct tcp_sock *)arg1"), TCPS_OF(SOCK(1)),
	  TCP_OF("(struct tcp_sock *)arg1")}},
	{"tcp",
	 "receive",
	 {PACKET, "xlate<csinfo_t *>(" SKB "->sk)", IP, TCPS_OF(SKB),
	  TCP_OF("(struct tcphdr *)" HEADER(transport_header))}},
	{"tcp",
	 "connect-request",
	 {NO_PACKET, CS(1), IP_OF(SOCK(1)), TCPS_OF(SOCK(1)), TCP_OF(SOCK(1))}},
	{"tcp", "connect-established", BECOMES},
	{"tcp", "connect-refused", BECOMES},
	{"tcp", "accept-established", BECOMES},
	{"tcp",
	 "accept-refused",
	 {PACKET, CS(1), IP_OF("(struct __reset_ip *)" NETWORK), TCPS_OF(SKB),
	  TCP_OF("(struct __reset_hdr *)" HEADER(transport_header))}},
	{"tcp",
	 "state-change",
	 {NO_PACKET, CS(1), IP_OF(SOCK(1)), TCPS_OF("(struct tcp_sock *)arg3"), TCP_OF(SOCK(1)),
	  TCPLS}},
	{"udp",
	 "send",
	 {NO_PACKET, CS(0), IP_OF("(struct udp_sock *)arg0"), UDPS_OF(SOCK(0)),
	  "xlate<udpinfo_t *>(" SOCK(0) ")"}},
	{"udp",
	 "receive",
	 {PACKET, CS(1), IP, UDPS_OF(SOCK(1)),
	  "xlate<udpinfo_t *>((struct udphdr *)" HEADER(transport_header) ")"}},
};

struct resolved {
	const struct row *row;
	const struct ki_d_def *function; /* its parameters from `skip` on */
	unsigned int skip;
	bool is_syscall, is_return, is_written;
	bool is_raw;		  /* it has arg0 to arg9 alone */
	unsigned int nargs;	  /* is_syscall */
	enum ki_d_usdt_says says; /* is_written: what programs say of the argument, */
	struct ki_d_type type;	  /* and its type, if that is so */
};

/* The prototype of what is called at a tracepoint, behind its first parameter. */
static const struct ki_d_def *tracepoint(struct ki_d_checker *c, const char *name)
{
	char type[160];
	struct ki_d_type t;

	snprintf(type, sizeof(type), "btf_trace_%s", name);
	if (ki_d_typedef(&c->d->types, type, &t) || t.base != KI_D_FUNCTION)
		return NULL;
	return ki_d_def_of(&c->d->types, t);
}

static bool is_function_provider(const char *name)
{
	return !strcmp(name, "fbt") || !strcmp(name, "rawfbt");
}

/* NAME1234, but not pid1234: probes that are written into a program, which says where they are. */
static bool is_written(const char *provider)
{
	const size_t n = strlen(provider),
		     digits = strspn(provider + (n < 3 ? n : 3), "0123456789");

	if (ki_d_means_processes(provider))
		return true;
	return n && !isdigit((unsigned char)*provider) && isdigit((unsigned char)provider[n - 1]) &&
	       !strpbrk(provider, "*?[") && !(!strncmp(provider, "pid", 3) && 3 + digits == n);
}

/* f: the fields of a probe's description. */
static bool resolve(struct ki_d_checker *c, const char *const f[4], struct resolved *out)
{
	*out = (struct resolved){.is_return = !strcmp(f[3], "return")};
	for (size_t i = 0; i < sizeof(rows) / sizeof(*rows); i++)
		if (ki_d_field_matches(f[0], rows[i].provider) && !strcmp(f[3], rows[i].name)) {
			out->row = &rows[i];
			return true;
		}
	out->is_syscall = !strcmp(f[0], "syscall") || ki_d_is_lone_syscall(c, f);
	if (out->is_syscall)
		out->nargs = ki_d_syscall_args(f[2]);
	if (is_function_provider(f[0]))
		out->function = ki_d_function_type(
			&c->d->types, strcmp(f[1], KI_D_KERNEL) != 0 ? f[1] : "", f[2]);
	else if (!strcmp(f[0], "rawtp") || !strcmp(f[0], "sdt"))
		out->function = tracepoint(c, f[3]);
	out->is_raw = !strcmp(f[0], "rawfbt");
	out->skip = out->function && !is_function_provider(f[0]);
	out->is_written = is_written(f[0]);
	return out->is_syscall || out->function || out->is_written;
}

/* The argument as an expression of the language; *type: what it is cast to, if that is so. */
static const char *expression(const struct resolved *r, uint64_t i, struct ki_d_type *type,
			      bool *cast, char text[16])
{
	const struct ki_d_def *f = r->function;

	*cast = f != NULL;
	snprintf(text, 16, "arg%u", (unsigned int)i);
	if (r->row)
		return i < MOST_ARGS ? r->row->args[i] : NULL;
	if (r->is_syscall)
		return i < (r->is_return ? 2 : r->nargs) ? text : NULL;
	if (r->is_written) {
		*cast = r->says == KI_D_USDT_TYPE;
		*type = r->type;
		return i < KI_D_USDT_ARGS && r->says != KI_D_USDT_NONE ? text : NULL;
	}
	if (r->is_raw)
		return NULL;
	if (!r->is_return && i + r->skip < f->members.n && i < 10) {
		*type = f->members.v[i + r->skip].type;
		return text;
	}
	if (!r->is_return || i > 1 || (i && f->of.base == KI_D_VOID && !f->of.stars))
		return NULL;
	*cast = i == 1;
	*type = f->of;
	return text;
}

static bool is_same(const struct resolved *a, const struct resolved *b)
{
	if (!a->row || !b->row)
		return a->row == b->row && a->function == b->function &&
		       a->is_written == b->is_written && a->is_syscall == b->is_syscall &&
		       a->is_return == b->is_return;
	for (unsigned int i = 0; i < MOST_ARGS; i++) {
		const char *x = a->row->args[i], *y = b->row->args[i];

		if (!x != !y || (x && strcmp(x, y) != 0))
			return false;
	}
	return true;
}

static int agree(struct ki_d_checker *c, const struct ki_d_node *n, struct resolved *out)
{
	const struct ki_d_clause *clause = c->clause;
	struct resolved now;

	for (uint32_t i = clause->first; i < clause->first + clause->n; i++) {
		const struct ki_d_pattern *p = &c->d->patterns.v[i];

		if (!resolve(c, (const char *const *)p->field, &now))
			return ki_d_no_arg_types(c, n, (const char *const *)p->field);
		if (i > clause->first && !is_same(&now, out))
			return ki_d_fail(c->d, c->err, n->at, "D_ARGS_MULTI",
					 "args[] is not the same for all probes of the clause");
		*out = now;
	}
	return clause->n
		       ? 0
		       : ki_d_fail(c->d, c->err, n->at, "D_ARGS_NONE", "args[] has no probe here");
}

/* args[i] and its type; *body NULL: there is none. */
static int make(struct ki_d_checker *c, const struct resolved *r, uint64_t i, uint32_t at,
		struct ki_d_node **body, struct ki_d_type *type)
{
	struct ki_d_parser p = {.d = c->d, .known = true};
	char name[16];
	bool cast;
	const char *text = expression(r, i, type, &cast, name);
	int ret;

	*body = NULL;
	if (!text)
		return 0;
	ret = ki_d_lex(&p, text, c->err);
	if (!ret)
		ret = ki_d_parse_expr(&p, body);
	if (!ret && !(*body = ki_d_copy(c->d, *body, NULL, NULL, at)))
		ret = ki_d_no_memory(c->err);
	if (!ret)
		ret = ki_d_check_expr(c, *body);
	if (!ret && !(cast && ki_d_is_scalar(*type)))
		*type = (*body)->type;
	return ret;
}

/* What programs say of args[i] of the clause's probes. */
static int ask_programs(struct ki_d_checker *c, const struct ki_d_node *n, uint64_t i,
			struct resolved *r)
{
	const struct ki_d_pattern *p = &c->d->patterns.v[c->clause->first];
	bool differs = false;

	for (uint32_t k = 0; r->is_written && !differs && k < c->clause->n; k++) {
		const struct resolved was = *r;

		r->says = ki_d_usdt_type(c->d, (const char *const *)p[k].field, i, &r->type);
		differs = r->says == KI_D_USDT_DIFFERS ||
			  (k && (r->says != was.says ||
				 memcmp(&r->type, &was.type, sizeof(r->type)) != 0));
	}
	return differs ? ki_d_fail(c->d, c->err, n->at, "D_ARGS_MULTI",
				   "args[] is not the same for all probes of the clause")
		       : 0;
}

int ki_d_check_args(struct ki_d_checker *c, struct ki_d_node *n)
{
	struct ki_d_node *index = n->kid[1], *body;
	struct resolved r = {0};
	struct ki_d_type type = {0};
	int ret;

	if (!index || index->next)
		return ki_d_fail(c->d, c->err, n->at, "D_ARGS_TYPE",
				 "args[] wants one number that is a constant");
	ret = ki_d_check_expr(c, index);
	if (!ret && !ki_d_is_scalar(index->type))
		ret = ki_d_fail(c->d, c->err, index->at, "D_PROTO_ARG", "args[] wants a number");
	if (!ret && !ki_d_fold_checked(index))
		ret = ki_d_fail(c->d, c->err, n->at, "D_ARGS_TYPE",
				"args[] wants one number that is a constant");
	if (!ret)
		ret = agree(c, n, &r);
	if (!ret)
		ret = ask_programs(c, n, index->value, &r);
	if (!ret)
		ret = make(c, &r, index->value, n->at, &body, &type);
	if (ret || !body)
		return ret ? ret
			   : ki_d_fail(c->d, c->err, n->at, "D_ARGS_IDX",
				       "the probe has no args[%lld]", (long long)index->value);
	c->d->texts_used |= ki_d_is_string(type);
	if (r.is_written && index->value >= c->clause->nwritten) {
		c->clause->nwritten = (uint32_t)index->value + 1;
		c->clause->written_at = n->at;
	}
	n->is_user = r.is_written;
	n->kind = KI_D_CAST;
	n->kid[0] = body;
	n->kid[1] = NULL;
	n->type = n->about = type;
	return 0;
}

/* ---- lists ---- */

/* The type that it is cast or translated to, as the table says it. */
static bool as_written(const char *argument, char *text, size_t size)
{
	const bool cast = *argument == '(' && strchr("suil", argument[1]);
	const char *from = argument + (cast ? 1 : strlen("xlate<")),
		   *to = strchr(argument, cast ? ')' : '>');

	if (!cast && strncmp(argument, "xlate<", strlen("xlate<")) != 0)
		return false;
	snprintf(text, size, "%.*s", (int)(to - from), from);
	return true;
}

static bool has_operand(const struct ki_d_user *u, unsigned int arg)
{
	for (uint32_t i = 0; i < u->n; i++)
		if (!u->places[i].asks && u->places[i].args[arg].kind != KI_D_NO_OPERAND)
			return true;
	return false;
}

bool ki_dlang_argument(struct ki_dlang *d, size_t i, unsigned int arg, char *text, size_t size)
{
	const struct ki_d_probe *p = &d->probes.v[i];
	const char *const fields[] = {ki_d_provider_name(p), p->module, p->function, p->name};
	const struct ki_d_user *u = p->hook ? p->hook->user : NULL;
	struct ki_d_clause none = {0};
	struct ki_err err;
	struct ki_d_checker c = {.d = d, .err = &err, .clause = &none};
	const struct ki_dlang_where was = d->where;
	struct ki_d_node *body = NULL;
	struct ki_d_type type = {0};
	struct resolved r;
	const bool is = resolve(&c, fields, &r);
	size_t len;
	int ret;

	if (is && r.is_written)
		r.says = ki_d_usdt_type(d, fields, arg, &r.type);
	ret = is ? make(&c, &r, arg, 0, &body, &type) : 0;
	d->where = was;
	if (ret || !body || (r.is_written && u && !has_operand(u, arg)))
		return false;
	if (r.row && as_written(r.row->args[arg], text, size))
		return true;
	type.called = NULL; /* numbers by C's names for them */
	ki_d_type_base(&d->types, type, text, size);
	len = strlen(text);
	snprintf(text + len, size - len, "%s%.*s", type.stars ? " " : "", type.stars,
		 "****************");
	return true;
}

/* ---- clauses of probes that have the same from different places ---- */

static bool names_args(const struct ki_d_node *list)
{
	for (const struct ki_d_node *n = list; n; n = n->next) {
		if (n->kind == KI_D_NAME && !strcmp(n->text, "args"))
			return true;
		for (unsigned int i = 0; i < 3; i++)
			if (names_args(n->kid[i]))
				return true;
	}
	return false;
}

/* Are the types the same? An argument begins with xlate<its type>. */
static bool is_like(const struct row *a, const struct row *b)
{
	for (unsigned int i = 0; i < MOST_ARGS; i++) {
		const char *x = a->args[i], *y = b->args[i];

		if (!x || !y)
			continue;
		if (strncmp(x, y, strcspn(x, ">") + 1) != 0)
			return false;
	}
	return true;
}

/* From which of the clause's patterns on args[] is like that of the first, and yet another one? */
static uint32_t split_at(struct ki_d_checker *c, const struct ki_d_clause *clause)
{
	const struct ki_d_pattern *p = &c->d->patterns.v[clause->first];
	struct resolved first, now;

	if (clause->n < 2 || !(names_args(clause->predicate) || names_args(clause->body)) ||
	    !resolve(c, (const char *const *)p->field, &first) || !first.row)
		return 0;
	for (uint32_t i = 1; i < clause->n; i++) {
		if (!resolve(c, (const char *const *)p[i].field, &now) || !now.row ||
		    !is_like(first.row, now.row))
			return 0;
		if (!is_same(&now, &first))
			return i;
	}
	return 0;
}

static int copy_of(struct ki_d_checker *c, struct ki_d_node *list, struct ki_d_node **out)
{
	for (; list; list = list->next, out = &(*out)->next)
		if (!(*out = ki_d_copy(c->d, list, NULL, NULL, UINT32_MAX)))
			return ki_d_no_memory(c->err);
	*out = NULL;
	return 0;
}

int ki_d_split_clauses(struct ki_d_checker *c)
{
	int ret = 0;

	for (size_t i = 0; !ret && i < c->d->clauses.n; i++) {
		const uint32_t at = split_at(c, &c->d->clauses.v[i]);
		struct ki_d_clause rest = c->d->clauses.v[i];

		if (!at)
			continue;
		rest.first += at;
		rest.n -= at;
		ret = copy_of(c, c->d->clauses.v[i].predicate, &rest.predicate);
		if (!ret)
			ret = copy_of(c, c->d->clauses.v[i].body, &rest.body);
		if (!ret && ki_vec_push(&c->d->clauses, rest))
			ret = ki_d_no_memory(c->err);
		if (ret)
			break;
		memmove(&c->d->clauses.v[i + 2], &c->d->clauses.v[i + 1],
			(c->d->clauses.n - i - 2) * sizeof(rest));
		c->d->clauses.v[i].n = at;
		c->d->clauses.v[i + 1] = rest;
	}
	return ret;
}
