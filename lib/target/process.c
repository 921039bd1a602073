/* SPDX-License-Identifier: LGPL-2.1-only OR BSD-2-Clause */
/*
 * A live process, by /proc: its mappings say which files' code is where, the files have the
 * symbols, and the code itself is read from the process, all of it at once: what is analysed is
 * what runs, whatever has become of the file. The vdso is a file that the kernel has mapped: it is
 * read from memory, and nothing is written there. Code without a file (what a JIT has made) is no
 * text of the target.
 */
#include "target/process.h"

#include <elf.h>
#include <fcntl.h>
#include <stdio.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/uio.h>
#include <unistd.h>

#include "target/kinds.h"
#include "util/search.h"

static const struct ki_process_text *text_at(const struct ki_process *p, uint64_t addr)
{
	size_t lo = KI_FIRST(i, p->text.n, p->text.v[i].end > addr);

	return lo < p->text.n && p->text.v[lo].start <= addr ? &p->text.v[lo] : NULL;
}

int ki_process_peek(int mem, uint64_t addr, void *buf, size_t len)
{
	while (len) {
		ssize_t n = pread(mem, buf, len, (off_t)addr);

		if (n < 0 && errno == EINTR)
			continue;
		if (n <= 0)
			return n ? (errno == EIO ? -EFAULT : -errno) : -ESRCH;
		addr += (size_t)n;
		buf = (char *)buf + n;
		len -= (size_t)n;
	}
	return 0;
}

static int peek(struct ki_target *t, uint64_t addr, void *buf, size_t len, struct ki_err *err)
{
	const struct ki_process *p = t->own;
	int ret = ki_process_peek(p->mem, addr, buf, len);

	if (ret == -ESRCH)
		return ki_err_set(err, ret, addr, "process %d has ended", p->pid);
	if (ret)
		return ki_err_set(err, ret, addr, "process %d: 0x%llx cannot be read: %s", p->pid,
				  (unsigned long long)addr, strerror(-ret));
	return 0;
}

static int process_read(struct ki_target *t, uint64_t addr, void *buf, size_t len,
			enum ki_view view, struct ki_err *err)
{
	const struct ki_process_text *x = text_at(t->own, addr);

	if (view == KI_VIEW_LIVE)
		return peek(t, addr, buf, len, err);
	memcpy(buf, x->bytes + (addr - x->start), len);
	return 0;
}

static const uint8_t *process_view(struct ki_target *t, uint64_t addr, size_t len)
{
	const struct ki_process_text *x = text_at(t->own, addr);

	return x && len <= x->end - addr ? x->bytes + (addr - x->start) : NULL;
}

static int process_read_data(struct ki_target *t, uint64_t addr, void *buf, size_t len,
			     struct ki_err *err)
{
	return peek(t, addr, buf, len, err);
}

/* By the process's own rights: /proc/PID/mem would write into text, too. */
static int process_write_data(struct ki_target *t, uint64_t addr, const void *buf, size_t len,
			      struct ki_err *err)
{
	const struct ki_process *p = t->own;
	uint8_t byte;

	/* The number is still that of the process whose memory has been opened. */
	if (ki_process_peek(p->mem, p->text.v[0].start, &byte, 1))
		return ki_err_set(err, -ESRCH, addr, "process %d has ended", p->pid);
	while (len) {
		const struct iovec from = {(void *)(uintptr_t)buf, len};
		const struct iovec to = {(void *)(uintptr_t)addr, len};
		const ssize_t n = process_vm_writev(p->pid, &from, 1, &to, 1, 0);
		const int error = n < 0 ? errno : EFAULT;

		if (n <= 0)
			return ki_err_set(err, -error, addr,
					  "process %d: 0x%llx cannot be written: %s", p->pid,
					  (unsigned long long)addr, strerror(error));
		addr += (size_t)n;
		buf = (const char *)buf + n;
		len -= (size_t)n;
	}
	return 0;
}

static void process_close(struct ki_target *t)
{
	struct ki_process *p = t->own;

	if (!p)
		return;
	for (size_t i = 0; i < p->text.n; i++)
		free(p->text.v[i].bytes);
	ki_vec_free(&p->text);
	ki_vec_free(&p->rseq);
	ki_vec_free(&p->mapped);
	ki_vec_free(&p->go);
	ki_vec_free(&p->go_exits);
	if (p->mem >= 0)
		close(p->mem);
	if (p->device >= 0)
		close(p->device);
	free(p);
}

static const struct ki_target_ops process_ops = {
	.read = process_read,
	.view = process_view,
	.read_data = process_read_data,
	.write_data = process_write_data,
	.reserved = ki_process_reserved,
	.close = process_close,
};

static int no_access(struct ki_err *err, pid_t pid, int error)
{
	if (error == ENOENT || error == ESRCH)
		return ki_err_set(err, -ESRCH, 0, "process %d: there is no such process", pid);
	if (error == EACCES || error == EPERM)
		return ki_err_reason(err, KI_R_PROCESS_PERMISSION, 0, "process %d", pid);
	return ki_err_set(err, -error, 0, "process %d: %s", pid, strerror(error));
}

/* Is it a program of ours: 64-bit x86? */
static int check_program(pid_t pid, struct ki_err *err)
{
	unsigned char ident[20] = {0};
	char path[40];
	ssize_t n;
	int fd;

	snprintf(path, sizeof(path), "/proc/%d/exe", pid);
	fd = open(path, O_RDONLY | O_CLOEXEC);
	if (fd < 0)
		return no_access(err, pid, errno);
	n = pread(fd, ident, sizeof(ident), 0);
	close(fd);
	if (n == sizeof(ident) && !memcmp(ident, "\177ELF\2\1", 6) && ident[18] == 62)
		return 0;
	return ki_err_reason(err, KI_R_PROCESS_32BIT, 0, "process %d", pid);
}

static int open_memory(struct ki_process *p, struct ki_err *err)
{
	char path[40];

	snprintf(path, sizeof(path), "/proc/%d/mem", p->pid);
	p->mem = open(path, O_RDWR | O_CLOEXEC);
	return p->mem < 0 ? no_access(err, p->pid, errno) : 0;
}

/* The program under /proc/PID/exe, which is there even if the file has been deleted. */
static void find_path(pid_t pid, const char *path, char *out, size_t len)
{
	char exe[4096], link[40];
	ssize_t n;

	snprintf(link, sizeof(link), "/proc/%d/exe", pid);
	n = readlink(link, exe, sizeof(exe) - 1);
	exe[n < 0 ? 0 : n] = 0;
	if (!strcmp(exe, path))
		snprintf(out, len, "%s", link);
	else
		snprintf(out, len, "/proc/%d/root%s", pid, path);
}

bool ki_process_file_of(pid_t pid, const struct ki_mappings *all, const struct ki_mapping *m,
			struct ki_process_found *out)
{
	const char *path = ki_mapping_path(all, m), *slash = strrchr(path, '/');

	if (!m->executable || !m->inode || !slash)
		return false;
	snprintf(out->module, sizeof(out->module), "%s", slash + 1);
	if (strstr(out->module, " (deleted)"))
		*strstr(out->module, " (deleted)") = 0;
	find_path(pid, path, out->from, sizeof(out->from));
	out->f = (struct ki_process_file){.path = out->from,
					  .module = out->module,
					  .map = m->start,
					  .off = m->off,
					  .end = m->end};
	return true;
}

#define VDSO_MOST (1u << 20)

int ki_process_copy(const struct ki_process *p, uint64_t addr, size_t len)
{
	uint8_t *bytes = len <= VDSO_MOST ? malloc(len) : NULL;
	int fd = bytes ? memfd_create("vdso", MFD_CLOEXEC) : -1;

	if (fd >= 0 &&
	    (ki_process_peek(p->mem, addr, bytes, len) || write(fd, bytes, len) != (ssize_t)len)) {
		close(fd);
		fd = -1;
	}
	free(bytes);
	return fd;
}

static int add_vdso(struct ki_target *t, const struct ki_mapping *m, struct ki_symbol_list *list,
		    ki_vec_u32 *modules)
{
	struct ki_process *p = t->own;
	struct ki_process_file f = {.module = "vdso", .map = m->start, .end = m->end};
	char path[40];
	/* It is mapped above all files. Where these say nothing, neither does it. */
	int fd = list->raw.n ? ki_process_copy(p, m->start, m->end - m->start) : -1, ret;

	if (fd < 0)
		return 0;
	snprintf(path, sizeof(path), "/proc/self/fd/%d", fd);
	f.path = path;
	ret = ki_process_add_file(t, list, modules, &f, NULL);
	close(fd);
	if (!ret)
		p->vdso = (struct ki_process_area){m->start, m->end - m->start};
	return ret;
}

static int add_mapping(struct ki_target *t, const struct ki_mappings *all,
		       const struct ki_mapping *m, struct ki_symbol_list *list, ki_vec_u32 *modules,
		       struct ki_err *err)
{
	const struct ki_process *p = t->own;
	struct ki_process_found file;
	int ret;

	if (!strcmp(ki_mapping_path(all, m), "[vdso]"))
		ret = add_vdso(t, m, list, modules);
	else if (ki_process_file_of(p->pid, all, m, &file))
		ret = ki_process_add_file(t, list, modules, &file.f, NULL);
	else
		return 0;
	/* A file that has gone, or is none of code, has no symbols: what it maps is left out. */
	return ret == -ENOMEM ? ki_err_set(err, ret, 0, "out of memory for the symbols") : 0;
}

/* Read all text. What has been unmapped meanwhile is zeros: no function has that. */
static int read_text(struct ki_target *t, struct ki_err *err)
{
	struct ki_process *p = t->own;

	for (size_t i = 0; i < t->ranges.n; i++) {
		const struct ki_text_range *r = &t->ranges.v[i];
		struct ki_process_text x = {r->start, r->end, calloc(1, r->end - r->start)};
		int ret;

		if (!x.bytes || ki_vec_push(&p->text, x)) {
			free(x.bytes);
			return ki_err_set(err, -ENOMEM, 0, "out of memory for the text");
		}
		ret = peek(t, x.start, x.bytes, x.end - x.start, err);
		if (ret == -ESRCH)
			return ret;
	}
	return 0;
}

static void mask_breakpoints(struct ki_process *p, const struct ki_mappings *all)
{
	struct ki_process_found file;

	for (size_t i = 0; i < all->m.n; i++)
		if (ki_process_file_of(p->pid, all, &all->m.v[i], &file))
			ki_process_mask_breakpoints(p, &file.f);
}

static int fill(struct ki_target *t, struct ki_err *err)
{
	struct ki_process *p = t->own;
	struct ki_symbol_list list = {0};
	ki_vec_u32 modules = {0};
	struct ki_mappings all;
	int ret = ki_mappings_read(&all, p->pid);

	if (ret)
		ret = no_access(err, p->pid, -ret);
	else if (ki_process_list_files(&all, &p->mapped))
		ret = ki_err_set(err, -ENOMEM, 0, "out of memory");
	for (size_t i = 0; !ret && i < all.m.n; i++)
		ret = add_mapping(t, &all, &all.m.v[i], &list, &modules, err);
	if (!ret && !t->ranges.n)
		ret = ki_err_set(err, -ENOENT, 0, "process %d: none of its code is that of a file",
				 p->pid);
	if (!ret)
		ret = ki_target_finish(t, &list, modules.v, err);
	ki_symbol_list_free(&list);
	ki_vec_free(&modules);
	if (!ret)
		ret = read_text(t, err);
	if (!ret)
		mask_breakpoints(p, &all);
	ki_mappings_free(&all);
	return ret;
}

/* Is it where its program begins? Only somebody who holds it can see it there. */
static bool is_at_entry(pid_t pid)
{
	unsigned long long pc = 0, entry = 0, row[2];
	char path[40];
	FILE *f;

	snprintf(path, sizeof(path), "/proc/%d/syscall", pid);
	f = fopen(path, "re");
	if (!f || fscanf(f, "-1 %*x %llx", &pc) != 1)
		pc = 0;
	if (f)
		fclose(f);
	snprintf(path, sizeof(path), "/proc/%d/auxv", pid);
	f = fopen(path, "re");
	while (f && fread(row, sizeof(row), 1, f) == 1 && row[0])
		if (row[0] == AT_ENTRY)
			entry = row[1];
	if (f)
		fclose(f);
	return pc && pc == entry;
}

int ki_target_new_process(pid_t pid, struct ki_target **out, struct ki_err *err)
{
	struct ki_process *p;
	struct ki_target *t;
	int ret;

	if (pid <= 0)
		return ki_err_set(err, -EINVAL, 0, "%d is no number of a process", pid);
	ret = ki_target_new(&t, KI_TARGET_PROCESS, &process_ops, err);
	if (ret)
		return ret;
	t->own = p = calloc(1, sizeof(*p));
	if (!p)
		ret = ki_err_set(err, -ENOMEM, 0, "out of memory");
	else
		*p = (struct ki_process){.pid = pid, .mem = -1, .device = -1};
	if (!ret)
		ret = check_program(pid, err);
	if (!ret)
		ret = open_memory(p, err);
	if (!ret)
		ret = fill(t, err);
	if (!ret)
		p->begun = !is_at_entry(pid);
	if (ret)
		ki_target_free(t);
	else
		*out = t;
	return ret;
}
