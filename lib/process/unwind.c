// SPDX-License-Identifier: LGPL-2.1-only OR BSD-2-Clause
/*
 * Copies of stacks are unwound by libdw. Its tables are those of the files that the process has
 * mapped, opened as the process sees them, and of the vdso. Memory is only what has been copied:
 * what stands in the process now may be another call's.
 */
#include "process/stack_copies.h"

#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "target/elf.h"

#ifdef HAVE_DW
#include <elfutils/libdwfl.h>
#include <elfutils/version.h>
#if _ELFUTILS_PREREQ(0, 188)
#define CAN_UNWIND
#endif
#endif

#ifdef CAN_UNWIND

#define FRAMES_MOST 4096
#define REG_RSP	    7 /* as DWARF counts */

struct ki_unwinder {
	pid_t pid;
	Dwfl *dwfl;
	const struct ki_stack_copy *copy; /* that is being unwound */
	bool failed;			  /* to read memory, since the last frame */
};

typedef ki_vec(struct ki_stack_frame) frames;

struct walk {
	struct ki_unwinder *u;
	frames all;
	bool no_memory, cut;
	uint64_t rsp; /* of the last frame */
};

/* Where libdw would look for a file: nowhere. */
static int find_no_elf(Dwfl_Module *mod, void **data, const char *module, Dwarf_Addr base,
		       char **path, Elf **elf)
{
	(void)mod, (void)data, (void)module, (void)base, (void)path, (void)elf;
	return -1;
}

static int find_no_debuginfo(Dwfl_Module *mod, void **data, const char *module, Dwarf_Addr base,
			     const char *file, const char *link, GElf_Word crc, char **path)
{
	(void)mod, (void)data, (void)module, (void)base, (void)file, (void)link, (void)crc,
		(void)path;
	return -1;
}

static bool read_part(const struct ki_stack_part *p, uint64_t addr, Dwarf_Word *word)
{
	const uint64_t off = addr - p->addr;

	if (off >= p->len || p->len - off < sizeof(*word))
		return false;
	memcpy(word, p->bytes + off, sizeof(*word));
	return true;
}

static bool read_memory(Dwfl *dwfl, Dwarf_Addr addr, Dwarf_Word *word, void *arg)
{
	struct ki_unwinder *u = arg;

	(void)dwfl;
	if (read_part(&u->copy->own, addr, word) || read_part(&u->copy->other, addr, word))
		return true;
	u->failed = true;
	return false;
}

static bool set_registers(Dwfl_Thread *thread, void *arg)
{
	const struct ki_unwinder *u = arg;
	const struct user_regs_struct *r = &u->copy->regs;
	const Dwarf_Word v[] = {r->rax, r->rdx, r->rcx, r->rbx, r->rsi, r->rdi,
				r->rbp, r->rsp, r->r8,	r->r9,	r->r10, r->r11,
				r->r12, r->r13, r->r14, r->r15, r->rip};

	return dwfl_thread_state_registers(thread, 0, sizeof(v) / sizeof(*v), v);
}

static pid_t no_next(Dwfl *dwfl, void *arg, void **thread)
{
	(void)dwfl, (void)arg, (void)thread;
	return 0;
}

static bool get_thread(Dwfl *dwfl, pid_t tid, void *arg, void **thread)
{
	(void)dwfl, (void)tid;
	*thread = arg;
	return true;
}

static const Dwfl_Thread_Callbacks threads = {.next_thread = no_next,
					      .get_thread = get_thread,
					      .memory_read = read_memory,
					      .set_initial_registers = set_registers};

/* A frame's address is what %rsp is in its caller. */
static int add_frame(Dwfl_Frame *state, void *arg)
{
	struct ki_stack_frame f = {0};
	struct walk *w = arg;
	Dwarf_Addr pc;
	bool exact;

	w->u->failed = false;
	if (!dwfl_frame_pc(state, &pc, &exact) || dwfl_frame_reg(state, REG_RSP, &w->rsp))
		return DWARF_CB_ABORT;
	if (w->all.n)
		w->all.v[w->all.n - 1].frame = w->rsp;
	w->cut = w->all.n == FRAMES_MOST;
	f.addr = pc;
	f.returns = !exact;
	w->no_memory = !w->cut && ki_vec_push(&w->all, f);
	return w->cut || w->no_memory ? DWARF_CB_ABORT : DWARF_CB_OK;
}

int ki_unwind(struct ki_unwinder *u, struct ki_stack_copy *c, struct ki_thread_stack *out)
{
	struct walk w = {.u = u};
	bool ended;

	u->copy = c;
	ended = !dwfl_getthread_frames(u->dwfl, c->tid, add_frame, &w);
	u->copy = NULL;
	if (w.no_memory) {
		ki_vec_free(&w.all);
		return -ENOMEM;
	}
	/* To libdw what cannot be read has no caller. */
	out->whole = ended && !u->failed;
	c->missed = u->failed && w.all.n && !c->other.len ? w.rsp : 0;
	if (out->whole && w.all.n)
		w.all.v[w.all.n - 1].frame = w.rsp;
	out->v = w.all.v;
	out->n = w.all.n;
	return 0;
}

/* libdw closes fd if it takes it. */
static void report(struct ki_unwinder *u, const char *name, int fd, uint64_t bias)
{
	if (fd >= 0 && !dwfl_report_elf(u->dwfl, name, name, fd, bias, true))
		close(fd);
}

/* A file that has been replaced is there still as what is mapped. */
static int open_file(struct ki_elf *e, struct ki_process_found *f, pid_t pid)
{
	int ret = ki_elf_open(e, f->from, NULL);

	if (!ret)
		return 0;
	ki_elf_close(e);
	snprintf(f->from, sizeof(f->from), "/proc/%d/map_files/%llx-%llx", pid,
		 (unsigned long long)f->f.map, (unsigned long long)f->f.end);
	return ki_elf_open(e, f->from, NULL);
}

static void report_file(struct ki_unwinder *u, struct ki_process_found *f)
{
	struct ki_elf e;
	uint64_t bias;

	if (!open_file(&e, f, u->pid) && !ki_process_file_bias(&e, &f->f, &bias))
		report(u, f->module, fcntl(e.fd, F_DUPFD_CLOEXEC, 3), bias);
	ki_elf_close(&e);
}

static void report_all(struct ki_unwinder *u, const struct ki_process *p,
		       const struct ki_mappings *maps)
{
	struct ki_process_found f;

	dwfl_report_begin(u->dwfl);
	for (size_t i = 0; i < maps->m.n; i++) {
		const struct ki_mapping *m = &maps->m.v[i];

		if (!strcmp(ki_mapping_path(maps, m), "[vdso]"))
			report(u, "vdso", ki_process_copy(p, m->start, m->end - m->start),
			       m->start);
		else if (ki_process_file_of(u->pid, maps, m, &f))
			report_file(u, &f);
	}
	dwfl_report_end(u->dwfl, NULL, NULL);
}

int ki_unwinder_new(const struct ki_process *p, const struct ki_mappings *maps,
		    struct ki_unwinder **out, struct ki_err *err)
{
	static const Dwfl_Callbacks calls = {.find_elf = find_no_elf,
					     .find_debuginfo = find_no_debuginfo};
	struct ki_unwinder *u = calloc(1, sizeof(*u));

	*out = u;
	if (u)
		u->dwfl = dwfl_begin(&calls);
	if (!u || !u->dwfl)
		return ki_err_set(err, -ENOMEM, 0, "out of memory");
	u->pid = p->pid;
	report_all(u, p, maps);
	if (!dwfl_attach_state(u->dwfl, NULL, u->pid, &threads, u))
		return ki_err_set(err, -EINVAL, 0, "process %d: %s", u->pid, dwfl_errmsg(-1));
	return 0;
}

void ki_unwinder_free(struct ki_unwinder *u)
{
	if (u && u->dwfl)
		dwfl_end(u->dwfl);
	free(u);
}

bool ki_unwinder_has(void)
{
	return true;
}

#else

int ki_unwinder_new(const struct ki_process *p, const struct ki_mappings *maps,
		    struct ki_unwinder **out, struct ki_err *err)
{
	(void)maps;
	*out = NULL;
	return ki_err_set(err, -EOPNOTSUPP, 0, "process %d: built without libdw, so no stacks",
			  p->pid);
}

void ki_unwinder_free(struct ki_unwinder *u)
{
	(void)u;
}

bool ki_unwinder_has(void)
{
	return false;
}

int ki_unwind(struct ki_unwinder *u, struct ki_stack_copy *c, struct ki_thread_stack *out)
{
	(void)u, (void)c, (void)out;
	return -EOPNOTSUPP;
}

#endif
