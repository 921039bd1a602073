// SPDX-License-Identifier: GPL-2.0-only
/*
 * D programs that are compiled, and those that are refused: where, and with which words.
 */
#include <errno.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include <cmocka.h>

#include "dlang/print/format.h"
#include "dlang/program.h"
#include "dlang/run/rows.h"
#include "kerninst/dlang.h"

static int compile(const char *text, const struct ki_dlang_options *o, struct ki_dlang **d,
		   struct ki_err *err)
{
	*err = (struct ki_err){0};
	return ki_dlang_new(text, o, d, err);
}

static const char *const good[] = {
	"BEGIN",
	"BEGIN { }",
	"BEGIN { exit(0); }",
	"fbt::vfs_read:entry",
	"fbt::vfs_*:entry, fbt:ext4:[a-m]*:return { @[probefunc] = count(); }",
	"syscall:::entry /pid == $pid && execname == \"sh\"/ { @n[execname, arg0] = sum(arg1); }",
	"fbt::vfs_read:entry { self->t = timestamp; }\n"
	"fbt::vfs_read:return /self->t/ { @ = quantize(timestamp - self->t); self->t = 0; }",
	"tick-1s { x++; printf(\"%d %s %x\\n\", x == 0, probename, 0x10); }",
	"tick-1sec { x++; printf(\"%-10d|%5s|%*d\", x, execname, 5, pid); }",
	"BEGIN { a[1, \"x\"] = 3; a[2, execname] += 1; trace(a[1, \"x\"]); a[1, \"x\"] = 0; }",
	"int n; self int m; int64_t a[string, int]; BEGIN { n = 1; self->m = 2; a[\"x\", 1] = 1; }",
	"BEGIN { this->x = 1; trace(this->x ? 2 : 3); }",
	"BEGIN { trace(*(int *)arg0); trace(*((char *)arg1 + 3)); }",
	"BEGIN /1 / 2 == 0/ { trace(3 / 4); }",
	"BEGIN /* a comment */ { trace(1); // another\n }",
	"#!/usr/sbin/dtrace -s\n#pragma D option quiet\nBEGIN { trace(1); }",
	"BEGIN { @q = lquantize(1, -10, 10, 2); @m = min(1); @x = max(-1); @s = stddev(1); }",
	"BEGIN { @a = count(); printa(@a); printa(\"%@d\\n\", @a); trunc(@a, 5); clear(@a); }",
	"BEGIN { trace(1 ^^ 0); trace(1 << 3); trace(~1); trace(!1); trace(-1); }",
	"BEGIN { stack(); ustack(5); @[stack()] = count(); }",
	"BEGIN { trace(stringof(arg0)); trace(copyinstr(arg1)); }",
	"struct s { int a; char b[16]; struct { int c; }; union { int d; long e; } u; int f : 3; };\n"
	"BEGIN { this->p = (struct s *)arg0; trace(this->p->a + this->p->c + this->p->u.d);\n"
	"  trace(this->p->b); printf(\"%s %d\", this->p->b, this->p->b[2]); trace(this->p->f);\n"
	"  trace(sizeof(struct s)); trace(offsetof(struct s, u)); trace(&this->p->u.e); }",
	"typedef unsigned int u_t; typedef struct t { u_t x, *y; } t_t; enum e { A, B = 5, C };\n"
	"BEGIN { trace(((t_t *)arg0)->y[3]); trace(C + (u_t)1); trace(*((struct t *)arg0)->y); }",
	"BEGIN { trace(`jiffies); trace(&`jiffies); trace(vmlinux`max_pfn); trace(sizeof(long)); }",
	"string s; self string t; int a[string, int], b; unsigned long long *p; BEGIN { b = 1; }",
	"BEGIN { s = \"a\"; self->s = strjoin(s, execname); this->s = s; a[s, 1] = probefunc;\n"
	"  trace(a[\"x\", 1]); printf(\"%s\", s > \"b\" ? s : \"b\"); @[self->s, s] = count(); s = 0; }",
	"BEGIN { trace(strlen(basename(dirname(cleanpath(\"/a/b\"))))); trace(lltostr(12, 16));\n"
	"  trace(substr(\"abc\", 1)); trace(index(\"abc\", \"c\")); trace(rindex(\"abc\", \"c\", 1));\n"
	"  trace(strchr(\"abc\", 'b')); trace(strrchr(\"abc\", 98)); trace(strstr(\"abc\", \"b\"));\n"
	"  trace(strtok(\"a b\", \" \")); trace(strtok(NULL, \" \")); trace(toupper(\"a\")); \n"
	"  trace(strtoll(\"12\")); trace(inet_ntoa((void *)arg0)); trace(stringof(\"a\")); }",
	"BEGIN /x++ < 3/ { trace(y = x = 1); trace(x ? x++ : 0); self->a[1, \"b\"] = 2; }",
	"BEGIN /strtok(NULL, \"a\") == NULL && execname != NULL/ { trace((string)\"a\"); }",
	"inline int two = 2; inline string s = \"a\"; inline int sum[int a, int b] = a + b;\n"
	"BEGIN { trace(sum[two, sum[1, 3]]); trace(s); trace(ENOENT + SIGINT); }",
	"BEGIN { trace('ab'); trace(sizeof(int *)); trace((1, 2)); }",
	"BEGIN { p = (char *)alloca(16); *p = 'a'; p[1] = *p; bcopy(p, p + 2, 2); trace(*(p + 2));\n"
	"  q = (int *)copyin(arg0, 8); copyinto(arg0, 4, q); q[1] += 3; tracemem(q, 8); }",
	"struct s { int a; struct { short b, c[4]; } d; };\n"
	"BEGIN { this->s = (struct s *)alloca(sizeof(struct s)); this->s->d.c[1] = 3; this->s->a++; }",
	"BEGIN { i = speculation(); } BEGIN { speculate(i); trace(1); } BEGIN { commit(i); }\n"
	"BEGIN { discard(i); } ERROR { trace(arg1); trace(epid); }",
	"BEGIN { @m = min(1); clear(@m); @x[1] = max(2); trunc(@x); trunc(@x, 1); }",
	"BEGIN { tracemem(arg0, 32); tracemem(&`jiffies, 8, 4); }",
	"BEGIN { if (x = 1) { @[x] = count(); if (x > 2) trace(1); else if (x) {} else ; } else exit(1); }",
	"BEGIN { x = 1; x += 2; x <<= 1; --x; x--; trace(x++ + 1); @ = sum(--x); }",
	NULL,
};

static void test_good(void **state)
{
	(void)state;
	for (size_t i = 0; good[i]; i++) {
		struct ki_dlang *d;
		struct ki_err err;

		if (compile(good[i], NULL, &d, &err))
			fail_msg("%s\n  %s", good[i], err.msg);
		ki_dlang_free(d);
	}
}

static const struct {
	const char *text, *why;
} bad[] = {
	{"", "the program has no clause"},
	{"BEGIN {", "column 8: '}' is expected, but here is the end"},
	{"BEGIN { trace(); }", "column 9: trace() takes 1 argument, not 0"},
	{"BEGIN { trace(1, 2); }", "trace() takes 1 argument, not 2"},
	{"BEGIN { trace(x); }", "column 15: x has no value"},
	{"BEGIN { trace(self->x); }", "self->x has no value"},
	{"BEGIN\n{\n  trace(nothing(1));\n}", "line 3, column 9: no function 'nothing'"},
	{"BEGIN { count(); }", "count() aggregates: @name = count(...)"},
	{"BEGIN { @ = 1; }", "an aggregation is assigned to"},
	{"BEGIN { @ = trace(1); }", "trace() does not aggregate"},
	{"BEGIN { @a = count(); @a = sum(1); }", "@a is made by count() elsewhere"},
	{"BEGIN { @a[1] = count(); @a = count(); }", "@a has 1 keys elsewhere"},
	{"BEGIN { @a[1] = count(); @a[\"x\"] = count(); }", "another type elsewhere"},
	{"BEGIN { printa(@nothing); }", "no aggregation @nothing"},
	{"BEGIN { trace(@x); }", "an aggregation has no value"},
	{"BEGIN { printf(\"%d\"); }", "more conversions than arguments"},
	{"BEGIN { printf(\"x\", 1); }", "fewer conversions than arguments"},
	{"BEGIN { printf(\"%s\", 1); }", "%s cannot print a value of type int"},
	{"BEGIN { printf(\"%d\", \"x\"); }", "%d cannot print a value of type string"},
	{"BEGIN { printf(\"%y\", 1); }", "no such conversion"},
	{"BEGIN { printf(pid); }", "printf begins with a format"},
	{"BEGIN { trace(1 / 0); }", "division by zero"},
	{"BEGIN /execname/ { }", "a predicate is a number"},
	{"BEGIN /execname == 1/ { }", "a string is compared with a number"},
	{"BEGIN { pid = 1; }", "only variables can be assigned to"},
	{"BEGIN { trace(raise(1)); }", "trace() wants a value"},
	{"BEGIN { p = (char *)arg0; *p = 1; }", "only variables can be assigned to"},
	{"BEGIN { trace(alloca(100000)); }", "alloca() of more than 4096 bytes"},
	{"BEGIN { tracemem(arg0, pid); }", "size is a constant"},
	{"BEGIN { tracemem(arg0, 4096); }", "of more than 3712 bytes"},
	{"BEGIN { x = speculate(1); }", "speculate() is a statement of its own"},
	{"BEGIN { speculate(1); exit(0); }", "exit() may not follow speculate()"},
	{"BEGIN { x = \"a\"; x = 1; }", "a value of type int is assigned to one of type string"},
	{"BEGIN { x = 1; trace(x ? \"a\" : 2); }", "a number here"},
	{"BEGIN { trace(strlen(1)); }", "strlen() wants a string here"},
	{"BEGIN { trace(substr(\"a\")); }", "substr() takes at least 2 arguments"},
	{"BEGIN { trace(\"a\" + 1); }", "a string is no number"},
	{"inline int f[int a] = a; BEGIN { trace(f[1, 2]); }", "f takes 1 arguments, not 2"},
	{"inline int f = f; BEGIN { trace(f); }", "f names itself"},
	{"inline int f = 1; inline int f = 2; BEGIN { }", "f is declared twice"},
	{"BEGIN { this->a[1] = 1; }", "this->a cannot be an associative array"},
	{"BEGIN { a[1] = 1; a[1, 2] = 1; }", "a has 1 keys elsewhere, here 2"},
	{"BEGIN { a[1] = 1; trace(a); }", "a is an array"},
	{"BEGIN { trace(*arg0); }", "* wants a pointer"},
	{"BEGIN { trace(*(void *)arg0); }", "has no value"},
	{"BEGIN { if (execname) trace(1); }", "column 13: the condition of if is a number"},
	{"BEGIN { if (1) }", "an expression is expected, not '}'"},
	{"BEGIN { trace(((struct none *)arg0)->x); }", "the struct is not known"},
	{"struct s { int a; }; BEGIN { trace(((struct s *)arg0)->b); }", "b is no member of s"},
	{"struct s { int a; int a; }; BEGIN { }", "a second member a"},
	{"struct s { int a : 33; }; BEGIN { }", "not wider than its type"},
	{"struct s { int a; }; struct s { int b; }; BEGIN { }", "s is declared twice"},
	{"struct s { int a : 3; }; BEGIN { trace(sizeof(((struct s *)arg0)->a)); }", "a bit-field"},
	{"BEGIN { trace(sizeof(void)); }", "the type has no size"},
	{"BEGIN { trace(&pid); }", "a variable of D has no address"},
	{"BEGIN { trace(arg0.x); }", "a struct or union is expected"},
	{"BEGIN { trace(arg0->x); }", "-> wants a pointer"},
	{"a:b:c:d:e { }", "a probe is PROVIDER:MODULE:FUNCTION:NAME"},
	{"fbt::x:entry,", "a probe is expected"},
	{"BEGIN { trace($1); }", "$1 has no value"},
	{"pid$target:::entry { }", "has no value"},
	{"#pragma D option nonsense\nBEGIN",
	 "failed to set option 'nonsense': Invalid option name"},
	{"#pragma D option bufsize=x\nBEGIN",
	 "failed to set option 'bufsize' to 'x': Invalid value for specified option"},
	{"#define X 1\nBEGIN", "invalid control directive: #define"},
	{"BEGIN { trace(1.5); }", "is no number"},
	{"BEGIN { /* ", "a comment without an end"},
	{"BEGIN { @ = lquantize(1, 5, 1, 1); }", "the lower bound is not below"},
	{"BEGIN { @ = lquantize(1, pid, 10, 1); }", "is a constant"},
};

static void test_bad(void **state)
{
	(void)state;
	for (size_t i = 0; i < sizeof(bad) / sizeof(*bad); i++) {
		struct ki_dlang *d;
		struct ki_err err;

		if (!compile(bad[i].text, NULL, &d, &err))
			fail_msg("%s\n  is compiled", bad[i].text);
		if (!strstr(err.msg, bad[i].why))
			fail_msg("%s\n  %s\n  not: %s", bad[i].text, err.msg, bad[i].why);
		assert_true(err.code < 0);
		assert_null(d);
	}
}

/* Where, and the reference's tag. */
static void test_where(void **state)
{
	static const struct {
		const char *text, *tag;
		unsigned int line, column;
	} rows[] = {
		{"BEGIN\n{\n  trace(x);\n}", "D_IDENT_UNDEF", 3, 9},
		{"BEGIN { trace(1, 2); }", "D_PROTO_LEN", 1, 9},
		{"BEGIN { trace(09); }", "D_INT_DIGIT", 1, 15},
		{"BEGIN { trace(0x1ffffffffffffffff); }", "D_INT_OFLOW", 1, 15},
		{"BEGIN { trace(1 / 0); }", "D_DIV_ZERO", 1, 19},
		{"BEGIN { trace(\"a\n\"); }", "D_STR_NL", 1, 15},
		{"BEGIN /\"a\"/ { }", "D_PRED_SCALAR", 1, 8},
		{"", "D_EMPTY", 1, 1},
	};

	(void)state;
	for (size_t i = 0; i < sizeof(rows) / sizeof(*rows); i++) {
		struct ki_dlang_where where = {0};
		struct ki_dlang_options o = {.size = sizeof(o), .where = &where};
		struct ki_dlang *d;
		struct ki_err err;

		assert_int_not_equal(compile(rows[i].text, &o, &d, &err), 0);
		assert_string_equal(where.tag, rows[i].tag);
		assert_int_equal(where.line, rows[i].line);
		assert_int_equal(where.column, rows[i].column);
	}
}

/* Sizes and offsets are those of the C compiler. */
static void test_layout(void **state)
{
	struct ki_dlang *d;
	struct ki_err err;
	struct s {
		char a;
		long b;
		int c : 3, d : 30;
		short e[3];
		union {
			char f;
			int g;
		} u;
		struct {
			char h;
		};
	};
	const struct ki_d_node *n;

	(void)state;
	assert_int_equal(compile("struct s { char a; long b; int c : 3, d : 30; short e[3];\n"
				 " union { char f; int g; } u; struct { char h; }; };\n"
				 "BEGIN { trace(sizeof(struct s)); trace(offsetof(struct s, e)); "
				 "trace(offsetof(struct s, u)); trace(offsetof(struct s, h)); }",
				 NULL, &d, &err),
			 0);
	n = d->clauses.v[0].body;
	assert_int_equal(n->kid[0]->value, sizeof(struct s));
	assert_int_equal(n->next->kid[0]->value, offsetof(struct s, e));
	assert_int_equal(n->next->next->kid[0]->value, offsetof(struct s, u));
	assert_int_equal(n->next->next->next->kid[0]->value, offsetof(struct s, h));
	ki_dlang_free(d);
}

/* The running kernel's types, where it has them. */
/* Each argument and member that programs find declared fits the kernel that runs here. */
static const char *const typed[] = {
	"BEGIN { this->p = curpsinfo; trace(this->p->pr_nlwp + this->p->pr_pid + this->p->pr_ppid);\n"
	"  trace(this->p->pr_pgid + this->p->pr_sid + this->p->pr_uid + this->p->pr_euid);\n"
	"  trace(this->p->pr_gid + this->p->pr_egid + this->p->pr_addr + this->p->pr_arglen);\n"
	"  trace(this->p->pr_fname); trace(this->p->pr_psargs); }",
	"BEGIN { this->p = curlwpsinfo; trace(this->p->pr_flag + this->p->pr_lwpid + this->p->pr_pri);\n"
	"  trace(this->p->pr_addr + this->p->pr_state + this->p->pr_onpro);\n"
	"  trace(this->p->pr_name); }",
	"syscall::read:entry { trace(fds[arg0].fi_name); trace(fds[0].fi_offset);\n"
	"  trace(fds[arg0].fi_fs); trace(fds[arg0].fi_oflags); }",
	"io:::start { this->b = args[0]; trace(this->b->b_flags & B_READ); trace(this->b->b_bcount);\n"
	"  trace(this->b->b_bufsize + this->b->b_addr + this->b->b_lblkno + this->b->b_blkno);\n"
	"  trace(this->b->b_resid + this->b->b_error + this->b->b_edev); trace(this->b->b_iodone); }",
	"io:::start,io:::done { @[args[1]->dev_name, args[1]->dev_statname, args[1]->dev_major,\n"
	"  args[1]->dev_minor, args[1]->dev_instance] = count(); trace(args[2]->fi_name); }",
	"proc:::create { trace(args[0]->pr_pid); } proc:::signal-send { trace(args[1]->pr_fname); }\n"
	"sched:::enqueue { trace(args[2]->cpu_id); } proc:::exit { trace(args[0]); }",
	"tcp:::state-change { trace(tcp_state_string[args[5]->tcps_state]); trace(args[1]->cs_cid);\n"
	"  trace(args[3]->tcps_raddr); trace(args[3]->tcps_lport + args[3]->tcps_state); }",
	"tcp:::receive { trace(args[0]->pkt_addr + args[4]->tcp_dport + args[4]->tcp_flags);\n"
	"  trace(args[2]->ip_saddr); trace(args[2]->ip_plength + args[4]->tcp_seq); }\n"
	"tcp:::send { trace(args[2]->ip_daddr); trace(args[4]->tcp_dport + args[3]->tcps_rport); }",
	"ip:::send { trace(args[2]->ip_ver); } ip:::receive { @[args[2]->ip_saddr] = count(); }\n"
	"udp:::send { trace(args[4]->udp_length); } udp:::receive { trace(args[4]->udp_dport); }",
	"fbt::vfs_read:entry { trace(args[0]->f_path.dentry->d_name.name); trace(args[2]); }\n"
	"fbt::vfs_read:return { trace(args[1]); } rawtp:::sched_switch { trace(args[1]->comm); }",
};

static void test_kernel_types(void **state)
{
	struct ki_dlang *d;
	struct ki_err err;

	(void)state;
	if (access("/sys/kernel/btf/vmlinux", R_OK))
		skip();
	if (compile("BEGIN { trace(curthread->comm); trace(curthread->real_parent->pid);\n"
		    "  trace(((struct file *)arg0)->f_inode->i_ino); trace((pid_t)arg1);\n"
		    "  trace(curthread->se.vruntime); trace(sizeof(struct task_struct)); }",
		    NULL, &d, &err))
		fail_msg("%s", err.msg);
	assert_true(ki_d_function_type(&d->types, "vmlinux", "vfs_read")->members.n == 4);
	ki_dlang_free(d);
	for (size_t i = 0; i < sizeof(typed) / sizeof(*typed); i++) {
		if (compile(typed[i], NULL, &d, &err))
			fail_msg("%s\n  %s", typed[i], err.msg);
		ki_dlang_free(d);
	}
	assert_int_not_equal(compile("BEGIN { trace(curthread->nothing); }", NULL, &d, &err), 0);
	assert_non_null(strstr(err.msg, "nothing is no member of task_struct"));
}

static void test_macros(void **state)
{
	static const char *const args[] = {"17", "text"};
	struct ki_dlang_options o = {.size = sizeof(o), .args = args, .nargs = 2, .target = 42};
	struct ki_dlang *d;
	struct ki_err err;

	(void)state;
	assert_int_equal(compile("BEGIN { trace($1 + $target); trace($$2); }", &o, &d, &err), 0);
	ki_dlang_free(d);
	assert_int_not_equal(compile("BEGIN { trace($1); }", &o, &d, &err), 0);
	assert_non_null(strstr(err.msg, "argument $2 is not used"));
	assert_int_equal(compile("#pragma D option argref\nBEGIN { trace($1); }", &o, &d, &err), 0);
	ki_dlang_free(d);
	assert_int_equal(
		compile("#pragma D option defaultargs\nBEGIN { trace($1 + $3); trace($$2); "
			"trace($$4); }",
			&o, &d, &err),
		0);
	ki_dlang_free(d);
	o.nargs = 1;
	assert_int_equal(compile("fbt::f$1:entry { }", &o, &d, &err), 0);
	assert_string_equal(d->patterns.v[0].field[2], "f17");
	ki_dlang_free(d);
	assert_int_equal(compile("BEGIN { trace($2); }", &o, &d, &err), -EINVAL);
	assert_non_null(strstr(err.msg, "$2 has no value"));
	o.size = 1;
	assert_int_equal(compile("BEGIN", &o, &d, &err), -EINVAL);
}

/* Fields are aligned to the right, a predicate's / may divide. */
static void test_shape(void **state)
{
	struct ki_dlang *d;
	struct ki_err err;

	(void)state;
	assert_int_equal(compile("entry, f:entry, m:f:entry, p:m:f:entry /4/2 == 2/ { trace(1); }",
				 NULL, &d, &err),
			 0);
	assert_int_equal(d->clauses.n, 1);
	assert_int_equal(d->patterns.n, 4);
	assert_string_equal(d->patterns.v[0].field[3], "entry");
	assert_string_equal(d->patterns.v[0].field[0], "");
	assert_string_equal(d->patterns.v[2].field[1], "m");
	assert_string_equal(d->patterns.v[3].field[0], "p");
	assert_int_equal(d->clauses.v[0].predicate->op, KI_EQ);
	ki_dlang_free(d);
}

/* Actions before a change of a variable travel apart from those after it. */
static void test_batches(void **state)
{
	struct ki_dlang *d;
	struct ki_err err;

	(void)state;
	assert_int_equal(
		compile("BEGIN { trace(1); trace(execname); x = 1; trace(x); }", NULL, &d, &err),
		0);
	assert_int_equal(d->batches.n, 2);
	assert_int_equal(d->batches.v[0].n, 2);
	assert_true(d->batches.v[0].begins && !d->batches.v[0].ends);
	assert_true(!d->batches.v[1].begins && d->batches.v[1].ends);
	ki_dlang_free(d);
	assert_int_equal(compile("BEGIN { @ = count(); } END", NULL, &d, &err), 0);
	assert_int_equal(d->clauses.v[0].nbatches, 0);
	assert_int_equal(d->clauses.v[1].nbatches, 1);
	ki_dlang_free(d);
}

static void printed(const char *fmt, struct ki_d_type t, uint64_t value, const char *text,
		    const char *want)
{
	const char *why = NULL;
	struct ki_d_spec s;
	char *out;
	size_t len;
	FILE *f = open_memstream(&out, &len);

	assert_int_equal(ki_d_format_next(&fmt, &s, &why), 1);
	if (text)
		ki_d_format_string(f, &s, s.width, text);
	else
		ki_d_format_number(f, &s, s.width, t, value);
	fclose(f);
	assert_string_equal(out, want);
	free(out);
}

static void test_formats(void **state)
{
	const struct ki_d_type i32 = ki_d_int(KI_I32), u64 = ki_d_int(KI_U64);

	(void)state;
	printed("%d", i32, (uint64_t)-1, NULL, "-1");
	printed("%x", i32, (uint64_t)-1, NULL, "ffffffff");
	printed("%lld", u64, 5, NULL, "5");
	printed("%d", u64, (uint64_t)-1, NULL, "18446744073709551615");
	printed("%p", u64, 97, NULL, "61");
	printed("%S", i32, 0, "a\n\033\"", "a\\n\\033\\\"");
	printed("%5.1f", i32, 3, NULL, "  3.0");
	printed("%C", i32, 7, NULL, "\\a");
	printed("%05d", i32, 42, NULL, "00042");
	printed("%-5d|", i32, 42, NULL, "42   ");
	printed("%#x", u64, 255, NULL, "0xff");
	printed("%c", i32, 'x', NULL, "x");
	printed("%s", i32, 0, "text", "text");
	printed("%8s", i32, 0, "text", "    text");
	printed("%-8s", i32, 0, "text", "text    ");
	printed("%.2s", i32, 0, "text", "te");
}

static void test_buckets(void **state)
{
	(void)state;
	assert_int_equal(ki_d_bucket_low(63), 0);
	assert_int_equal(ki_d_bucket_low(64), 1);
	assert_int_equal(ki_d_bucket_low(65), 2);
	assert_int_equal(ki_d_bucket_low(62), -1);
	assert_int_equal(ki_d_bucket_low(61), -2);
	assert_int_equal(ki_d_bucket_low(73), 512);
}

/* No program makes it read or write what is not there: each good one cut at each byte. */
static void test_cut(void **state)
{
	(void)state;
	for (size_t i = 0; good[i]; i++)
		for (size_t n = 0; n < strlen(good[i]); n++) {
			char *text = strndup(good[i], n);
			struct ki_dlang *d;
			struct ki_err err;

			assert_non_null(text);
			if (!compile(text, NULL, &d, &err))
				ki_dlang_free(d);
			free(text);
		}
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_good),	cmocka_unit_test(test_bad),
		cmocka_unit_test(test_macros),	cmocka_unit_test(test_where),
		cmocka_unit_test(test_layout),	cmocka_unit_test(test_kernel_types),
		cmocka_unit_test(test_shape),	cmocka_unit_test(test_batches),
		cmocka_unit_test(test_formats), cmocka_unit_test(test_buckets),
		cmocka_unit_test(test_cut),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
