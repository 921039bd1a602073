// SPDX-License-Identifier: LGPL-2.1-only OR BSD-2-Clause
/*
 * Types that the arguments of probes have, and what they are translated from in this kernel; names
 * of such values. A row is read when its name is asked for: the kernel's types are large.
 *
 * Where kernels differ, a member has an expression for each, and the first that fits is taken.
 */
#include <string.h>

#include "dlang/words/known.h"
#include "dlang/parse/parse.h"

#define ROWS (sizeof(rows) / sizeof(*rows))

/* A task's state: that it has ended is known otherwise. */
#define STATE(s)                                                                                   \
	"T->exit_state ? SZOMB : " s " == 0 ? (T->on_cpu ? SONPROC : SRUN) : " s                   \
	" & 12 ? SSTOP : SSLEEP"
#define LETTER(s)                                                                                  \
	"T->exit_state ? 'Z' : " s " == 0 ? (T->on_cpu ? 'O' : 'R') : " s " & 12 ? 'T' : 'S'"

/* At the end of its stack, as execve() has left it: how many arguments, their addresses, 0, and
 * those of the environment. Of another process than the current one that is not read. */
#define ARGC "(T->mm && T->mm == curthread->mm ? *(int *)copyin(T->mm->start_stack, 4) : 0)"
/* A process that has been forked has its parent's until its execve(). */
#define HAS_ARGS                                                                                   \
	"T->mm && (T->mm == curthread->mm ||"                                                      \
	" (T->flags & 0x40 && T->real_parent == curthread->group_leader))"

static const struct ki_d_known_row rows[] = {
	{"caddr_t", "typedef char *caddr_t;"},
	{"mutex_owned", "inline int mutex_owned[struct mutex *__m] ="
			" (((struct mutex *)__m)->owner.counter & ~7) == (int64_t)curthread;"},
	{"mutex_owner", "inline struct task_struct *mutex_owner[struct mutex *__m] ="
			" (struct task_struct *)(((struct mutex *)__m)->owner.counter & ~7);"},
	{"mutex_type_adaptive", "inline int mutex_type_adaptive[struct mutex *__m] = __m, 1;"},
	{"mutex_type_spin", "inline int mutex_type_spin[struct mutex *__m] = __m, 0;"},
	/* The lowest byte: a writer has it, all bits; the next bit: one waits; above: how many
	   read, or, while a writer has it, wait to. It is read once: 1 less has all bits of that
	   byte, and no sign, only of readers. */
	{"rw_read_held",
	 "inline int rw_read_held[rwlock_t *__l] ="
	 " (((((rwlock_t *)__l)->raw_lock.cnts.counter & ~0x100) - 1) & 0x800000ff) == 0xff;"},
	{"rw_write_held", "inline int rw_write_held[rwlock_t *__l] ="
			  " (((rwlock_t *)__l)->raw_lock.cnts.counter & 0xff) == 0xff;"},
	{"rw_iswriter", "inline int rw_iswriter[rwlock_t *__l] ="
			" (((rwlock_t *)__l)->raw_lock.cnts.counter & 0x1ff) != 0;"},
	{"psinfo_t",
	 "typedef struct psinfo { int pr_nlwp, pr_pid, pr_ppid, pr_pgid, pr_sid;"
	 " unsigned int pr_uid, pr_euid, pr_gid, pr_egid; uintptr_t pr_addr;"
	 " unsigned long pr_size, pr_rssize; string pr_fname, pr_psargs; unsigned int pr_arglen,"
	 " pr_ttydev; int pr_projid, pr_taskid, pr_nzomb, pr_poolid, pr_zoneid, pr_contract; char pr_dmodel;"
	 " int pr_wstat; long pr_start; int pr_argc; uintptr_t pr_argv, pr_envp; } psinfo_t;"
	 "translator psinfo_t < struct task_struct *T > {"
	 " pr_nlwp = T->signal->nr_threads; pr_pid = T->tgid; pr_ppid = T->real_parent->tgid;"
	 " pr_pgid = T->signal->pids[PIDTYPE_PGID]->numbers[0].nr;"
	 " pr_sid = T->signal->pids[PIDTYPE_SID]->numbers[0].nr;"
	 " pr_uid = T->cred->uid.val; pr_euid = T->cred->euid.val;"
	 " pr_gid = T->cred->gid.val; pr_egid = T->cred->egid.val; pr_addr = (uintptr_t)T;"
	 " pr_arglen = T->mm ? T->mm->arg_end - T->mm->arg_start : 0;"
	 " pr_ttydev = T->signal->tty ? T->signal->tty->driver->major << 20 |"
	 " T->signal->tty->driver->minor_start + T->signal->tty->index : -1; pr_projid = 0;"
	 " pr_taskid = 0; pr_nzomb = 0; pr_poolid = 0; pr_zoneid = 0; pr_contract = 0; pr_dmodel = 2;"
	 " pr_wstat = T->exit_code; pr_start = T->start_time; pr_argc = " ARGC ";"
	 " pr_argv = T->mm ? T->mm->start_stack + 8 : 0;"
	 " pr_envp = T->mm && T->mm == curthread->mm ? T->mm->start_stack + 16 + 8 * " ARGC " : 0;"
	 " pr_fname = T->comm; pr_psargs = " HAS_ARGS
	 " ? substr(__execargs(), 0, 79) : T->comm; };"},
	{"lwpsinfo_t",
	 "typedef struct lwpsinfo { int pr_flag, pr_lwpid; uintptr_t pr_addr, pr_wchan; char pr_stype;"
	 " int pr_state; char pr_sname; int pr_pri, pr_nice, pr_syscall, pr_onpro, pr_bindpro,"
	 " pr_bindpset, pr_cpu, pr_oldpri; string pr_name, pr_clname; } lwpsinfo_t;"
	 "translator lwpsinfo_t < struct task_struct *T > {"
	 " pr_flag = T->flags; pr_lwpid = T->pid; pr_addr = (uintptr_t)T;"
	 " pr_wchan = 0; pr_stype = 0; pr_state = " STATE("T->__state") "; pr_state = " STATE("T->state") "; pr_sname = " LETTER(
		 "T->__state") "; pr_sname = " LETTER("T->state") ";"
								  " pr_pri = T->prio; pr_bindpro = -1; pr_bindpset = -1; pr_syscall = -1;"
								  " pr_clname = T->policy == 1 ? \"FIFO\" : T->policy == 2 ? \"RR\" : \"TS\";"
								  " pr_name = T->comm;"
								  " pr_onpro = T->thread_info.cpu; };"},
	{"cpuinfo_t",
	 "typedef struct cpuinfo { int cpu_id, cpu_pset, cpu_chip, cpu_lgrp; } cpuinfo_t;"
	 "translator cpuinfo_t < int __c > { cpu_id = __c; cpu_pset = 0; cpu_chip = 0;"
	 " cpu_lgrp = 0; };"},
	{"fileinfo_t", "typedef struct fileinfo { string fi_name; off_t fi_offset; string fi_fs;"
		       " unsigned int fi_oflags; string fi_pathname, fi_dirname, fi_mount;"
		       " } fileinfo_t;"
		       "translator fileinfo_t < struct file *F > {"
		       " fi_name = F ? stringof(F->f_path.dentry->d_name.name) : \"<none>\";"
		       " fi_offset = F ? F->f_pos : 0;"
		       " fi_fs = F ? stringof(F->f_path.dentry->d_sb->s_type->name) : \"<none>\";"
		       " fi_oflags = F ? F->f_flags : 0;"
		       " fi_pathname = F ? d_path(&F->f_path) : \"<none>\";"
		       " fi_dirname = F ? dirname(d_path(&F->f_path)) : \"<none>\";"
		       " fi_mount = F ? __d_path(&F->f_path, 2) : \"<none>\"; };"},
	{"__driver", /* of a major number, as the kernel's table has it */
	 "inline string __driver[int __m] ="
	 " stringof(((struct blk_major_name **)&`major_names)[__m % 255]->name);"},
	{"__disk", /* and which part of it */
	 "inline string __disk[struct gendisk *__d, int __p] = __p ?"
	 " strjoin(stringof(__d->disk_name), lltostr(__p)) : stringof(__d->disk_name);"},
	{"bufinfo_t",
	 "typedef struct bufinfo { int b_flags; unsigned long b_bcount, b_bufsize; uintptr_t"
	 " b_addr; uint64_t b_lblkno, b_blkno; unsigned long b_resid; char *b_iodone; int b_error;"
	 " unsigned int b_edev; } bufinfo_t;"
	 "translator bufinfo_t < struct bio *B > {"
	 " b_flags = (B->bi_opf & 1 ? B_WRITE : B_READ) |"
	 " (B->bi_opf & 1 << __REQ_SYNC ? 0 : B_ASYNC) | B_PHYS;"
	 " b_bcount = B->bi_iter.bi_size; b_bufsize = B->bi_iter.bi_size;"
	 " b_addr = (uintptr_t)B; b_lblkno = B->bi_iter.bi_sector;"
	 " b_blkno = B->bi_iter.bi_sector; b_resid = B->bi_iter.bi_size;"
	 " b_iodone = (char *)B->bi_end_io;"
	 " b_error = B->bi_status; b_edev = B->bi_bdev->bd_dev; };"},
	{"devinfo_t",
	 "typedef struct devinfo { int dev_major, dev_minor, dev_instance;"
	 " string dev_name, dev_statname, dev_pathname; } devinfo_t;"
	 "translator devinfo_t < struct bio *B > {"
	 " dev_major = getmajor(B->bi_bdev->bd_dev); dev_minor = getminor(B->bi_bdev->bd_dev);"
	 " dev_major = B->bi_disk->major; dev_minor = B->bi_disk->first_minor + B->bi_partno;"
	 " dev_name = __driver[getmajor(B->bi_bdev->bd_dev)]; dev_name = __driver[B->bi_disk->major];"
	 " dev_name = stringof(B->bi_bdev->bd_disk->disk_name);"
	 " dev_statname = __disk[B->bi_bdev->bd_disk, B->bi_bdev->bd_partno];"
	 " dev_statname = __disk[B->bi_bdev->bd_disk, (uint8_t)B->bi_bdev->__bd_flags.counter];"
	 " dev_statname = __disk[B->bi_disk, B->bi_partno];"
	 " dev_instance = 0; dev_pathname = \"<unknown>\"; };"},
	{"tcp_state_string",
	 "inline string tcp_state_string[int __s] = __s == 1 ? \"state-established\" : __s == 2 ? \"state-syn-sent\" : __s == 3 ? \"state-syn-received\" : __s == 4 ? \"state-fin-wait1\" : __s == 5 ? \"state-fin-wait2\" : __s == 6 ? \"state-time-wait\" : __s == 7 ? \"state-closed\" : __s == 8 ? \"state-close-wait\" : __s == 9 ? \"state-last-ack\" : __s == 10 ? \"state-listen\" : __s == 11 ? \"state-closing\" : \"<unknown>\";"},
	{"B_WRITE", "inline int B_WRITE = 256;"},
	{"B_READ", "inline int B_READ = 64;"},
	{"curpsinfo", "inline psinfo_t *curpsinfo = xlate<psinfo_t *>(curthread);"},
	{"cwd", "inline string cwd = curthread->fs ? d_path(&curthread->fs->pwd) : \"\";"},
	{"root", "inline string root = curthread->fs ? __d_path(&curthread->fs->root, 1) : \"\";"},
	{"execargs", "inline string execargs = __execargs();"},
	{"curcpu", "inline cpuinfo_t *curcpu = xlate<cpuinfo_t *>(cpu);"},
	{"pset", "inline int pset = curcpu->cpu_pset;"},
	{"chip", "inline int chip = curcpu->cpu_chip;"},
	{"lgrp", "inline int lgrp = curcpu->cpu_lgrp;"},
	{"zonename", "inline string zonename = \"global\";"},
	/* Where a thread's registers are on its stack: its top, or 16 bytes below it where the
	 * kernel is made for FRED. Which, tells %cs: it is the process's. */
	{"uregs", "inline uint64_t uregs[int __i] = __i == 21 ? (uint64_t)curthread->thread.ds"
		  " : __i == 22 ? (uint64_t)curthread->thread.es"
		  " : __i == 23 ? (uint64_t)curthread->thread.fsbase"
		  " : __i == 24 ? (uint64_t)curthread->thread.gsbase"
		  " : __i == 25 ? (uint64_t)curthread->thread.trap_nr"
		  " : *(uint64_t *)((uint64_t)curthread->stack + 16216"
		  " - ((*(uint16_t *)((uint64_t)curthread->stack + 16352) & 3) == 3 ? 0 : 16)"
		  " + 8 * __i);"},
	{"curlwpsinfo", "inline lwpsinfo_t *curlwpsinfo = xlate<lwpsinfo_t *>(curthread);"},
	{"fds", "inline fileinfo_t fds[int __n] ="
		" xlate<fileinfo_t>((uint32_t)__n < curthread->files->fdt->max_fds"
		" ? curthread->files->fdt->fd[__n] : (struct file *)0);"},
};

_Static_assert(ROWS + KI_D_KNOWN_NETWORKS <= 64, "struct ki_dlang.known has a bit for each");

static bool is_typedef(const struct ki_dlang *d, const char *name)
{
	for (size_t i = 0; i < d->types.defs.n; i++)
		if (d->types.defs.v[i]->kind == KI_D_DEF_TYPEDEF && !d->types.defs.v[i]->btf &&
		    !strcmp(d->types.defs.v[i]->name, name))
			return true;
	return false;
}

static int read_row(struct ki_dlang *d, const char *text, struct ki_err *err)
{
	struct ki_d_parser p = {.d = d, .known = true};
	size_t inlines = d->inlines.n;
	bool is_one = true;
	int ret = ki_d_lex(&p, text, err);

	while (!ret && p.lex.now.kind != KI_TOKEN_END && is_one)
		ret = ki_d_parse_declaration(&p, &is_one);
	for (; inlines < d->inlines.n; inlines++)
		d->inlines.v[inlines].known = true;
	return ret;
}

int ki_d_known(struct ki_dlang *d, const char *name, struct ki_err *err)
{
	for (size_t i = 0; i < ROWS + KI_D_KNOWN_NETWORKS; i++) {
		const struct ki_d_known_row *row =
			i < ROWS ? &rows[i] : &ki_d_known_networks[i - ROWS];

		if (d->known >> i & 1 || strcmp(row->name, name) != 0)
			continue;
		d->known |= UINT64_C(1) << i;
		if (is_typedef(d, name) || ki_d_inline_find(d, name))
			return 0;
		return read_row(d, row->text, err);
	}
	return 0;
}
