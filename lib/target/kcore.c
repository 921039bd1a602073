/* SPDX-License-Identifier: LGPL-2.1-only OR BSD-2-Clause */
/*
 * /proc/kcore: the kernel's memory as the core file of a process. Its program headers say which
 * addresses stand where in it. The driver serves text only; data it leaves to the kernel's own
 * interface, which knows what may be read.
 */
#include "target/kcore.h"

#include <errno.h>
#include <fcntl.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "target/elf.h"
#include "target/priv.h"

static int cannot_open(const char *path, int code, struct ki_err *err)
{
	const char *why = code == -ENOENT ? "the kernel was built without it" : strerror(-code);

	if (code != -EPERM && code != -EACCES)
		return ki_err_set(err, code, 0, "%s: kernel data cannot be read: %s", path, why);
	if (geteuid())
		return ki_err_reason(err, KI_R_NO_PERMISSION, 0, "%s", path);
	if (ki_locked_down())
		return ki_err_reason(err, KI_R_LOCKDOWN, 0, "%s", path);
	return ki_err_reason(err, KI_R_NO_PERMISSION, 0, "%s (CAP_SYS_RAWIO is needed)", path);
}

static int read_headers(struct ki_kcore *k)
{
	Elf64_Ehdr eh;
	int ret = ki_pread(k->fd, &eh, sizeof(eh), 0);

	if (ret)
		return ret;
	if (memcmp(eh.e_ident, ELFMAG, SELFMAG) || eh.e_ident[EI_CLASS] != ELFCLASS64 ||
	    eh.e_type != ET_CORE || eh.e_machine != EM_X86_64 ||
	    eh.e_phentsize != sizeof(Elf64_Phdr))
		return -EINVAL;
	k->nph = eh.e_phnum;
	k->ph = calloc(k->nph + 1, sizeof(*k->ph));
	return k->ph ? ki_pread(k->fd, k->ph, k->nph * sizeof(*k->ph), eh.e_phoff) : -ENOMEM;
}

static int open_core(struct ki_kcore *k, const char *path, struct ki_err *err)
{
	int ret;

	if (k->open)
		return 0;
	k->fd = open(path, O_RDONLY | O_CLOEXEC);
	if (k->fd < 0)
		return cannot_open(path, -errno, err);
	k->open = true;
	ret = read_headers(k);
	if (!ret)
		return 0;
	ki_kcore_close(k);
	if (ret == -EINVAL || ret == -ENODATA)
		return ki_err_set(err, -EINVAL, 0, "%s: not the kernel's memory", path);
	return ki_err_set(err, ret, 0, "%s: %s", path, strerror(-ret));
}

/* The segment that holds addr, or NULL. */
static const Elf64_Phdr *segment(const struct ki_kcore *k, uint64_t addr)
{
	for (size_t i = 0; i < k->nph; i++)
		if (k->ph[i].p_type == PT_LOAD && addr >= k->ph[i].p_vaddr &&
		    addr - k->ph[i].p_vaddr < k->ph[i].p_filesz)
			return &k->ph[i];
	return NULL;
}

int ki_kcore_read(struct ki_kcore *k, const char *path, uint64_t addr, void *buf, size_t len,
		  struct ki_err *err)
{
	int ret = open_core(k, path, err);

	while (!ret && len) {
		const Elf64_Phdr *ph = segment(k, addr);
		uint64_t off = ph ? addr - ph->p_vaddr : 0;
		size_t n;

		if (!ph)
			return ki_err_set(err, -EFAULT, addr,
					  "0x%llx is not in the kernel's memory",
					  (unsigned long long)addr);
		n = ph->p_filesz - off < len ? ph->p_filesz - off : len;
		ret = off > UINT64_MAX - ph->p_offset ? -EFAULT
						      : ki_pread(k->fd, buf, n, ph->p_offset + off);
		if (ret)
			return ki_err_set(err, ret == -ENODATA ? -EFAULT : ret, addr,
					  "%s: 0x%llx, %zu bytes: %s", path,
					  (unsigned long long)addr, n,
					  ret == -ENODATA ? "there are fewer" : strerror(-ret));
		addr += n;
		buf = (char *)buf + n;
		len -= n;
	}
	return ret;
}

void ki_kcore_close(struct ki_kcore *k)
{
	if (k->open)
		close(k->fd);
	free(k->ph);
	*k = (struct ki_kcore){0};
}
