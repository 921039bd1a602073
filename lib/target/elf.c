/* SPDX-License-Identifier: LGPL-2.1-only OR BSD-2-Clause */
/*
 * Reading ELF files that may be broken, or made to break us.
 *
 * Sections are read with pread, when they are asked for: a mapping would end the process if the
 * file were cut off meanwhile, and most of a kernel with debug information is never looked at.
 * Every section has its place in the file checked. Sections may lie on top of each other in a
 * made-up file, so that 65,000 headers make gigabytes of a megabyte; therefore all that is read
 * is bounded together, by a small multiple of the file's size.
 */
#include "target/elf.h"

#include <errno.h>
#include <fcntl.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#define TIMES 4 /* how often a file's bytes may be read */

int ki_elf_bad(const struct ki_elf *e, const char *fmt, ...)
{
	char what[160];
	va_list ap;

	va_start(ap, fmt);
	vsnprintf(what, sizeof(what), fmt, ap);
	va_end(ap);
	return ki_err_set(e->err, -EINVAL, 0, "%s: %s", e->path, what);
}

int ki_elf_no_memory(const struct ki_elf *e)
{
	return ki_err_set(e->err, -ENOMEM, 0, "%s: out of memory", e->path);
}

int ki_pread(int fd, void *buf, size_t len, uint64_t off)
{
	while (len) {
		ssize_t n = off <= INT64_MAX ? pread(fd, buf, len, (off_t)off) : 0;

		if (n < 0 && errno == EINTR)
			continue;
		if (n <= 0)
			return n ? -errno : -ENODATA;
		buf = (char *)buf + n;
		off += (uint64_t)n;
		len -= (size_t)n;
	}
	return 0;
}

/* Take len bytes at off from the budget. */
static int check(struct ki_elf *e, uint64_t off, uint64_t len)
{
	if (off > e->size || len > e->size - off)
		return ki_elf_bad(e, "a section lies outside the file: is it cut off?");
	if (len > e->budget)
		return ki_elf_bad(e, "its sections lie on top of each other");
	e->budget -= len;
	return 0;
}

int ki_elf_check(struct ki_elf *e, uint32_t section)
{
	return check(e, e->sh[section].sh_offset, e->sh[section].sh_size);
}

/* len bytes at off and a 0. */
static int read_bytes(struct ki_elf *e, uint64_t off, uint64_t len, uint8_t **bytes)
{
	uint8_t *p;
	int ret = check(e, off, len);

	if (ret)
		return ret;
	p = malloc(len + 1);
	if (!p)
		return ki_elf_no_memory(e);
	ret = ki_pread(e->fd, p, len, off);
	if (ret) {
		free(p);
		return ki_err_set(e->err, ret, 0, "%s: %s", e->path,
				  ret == -ENODATA ? "has become shorter" : strerror(-ret));
	}
	p[len] = 0;
	*bytes = p;
	return 0;
}

int ki_elf_read(struct ki_elf *e, uint32_t section, uint8_t **bytes)
{
	const Elf64_Shdr *sh = &e->sh[section];

	return read_bytes(e, sh->sh_offset, sh->sh_type == SHT_NOBITS ? 0 : sh->sh_size, bytes);
}

const char *ki_elf_name(const struct ki_elf *e, uint32_t section)
{
	uint32_t off = e->sh[section].sh_name;

	return off < e->names_len ? e->names + off : "";
}

static int check_header(const struct ki_elf *e)
{
	const Elf64_Ehdr *h = &e->eh;

	if (memcmp(h->e_ident, ELFMAG, SELFMAG))
		return ki_elf_bad(e, "not an ELF file");
	if (h->e_ident[EI_CLASS] != ELFCLASS64 || h->e_ident[EI_DATA] != ELFDATA2LSB ||
	    h->e_machine != EM_X86_64)
		return ki_elf_bad(e, "not for x86-64");
	if (h->e_type != ET_EXEC && h->e_type != ET_DYN && h->e_type != ET_REL)
		return ki_elf_bad(e, "neither a program nor a library nor a relocatable file");
	if (!h->e_shoff)
		return ki_elf_bad(
			e, "it has no section headers: take one that is not stripped of them");
	if (h->e_shentsize != sizeof(Elf64_Shdr))
		return ki_elf_bad(e, "its section headers have a size of %u, not %zu",
				  h->e_shentsize, sizeof(Elf64_Shdr));
	return 0;
}

/* More than 65,279 sections: their number is in the first header. */
static int count_sections(struct ki_elf *e, uint32_t *strings)
{
	Elf64_Shdr first;
	uint64_t n = e->eh.e_shnum;

	*strings = e->eh.e_shstrndx;
	if (!n || *strings == SHN_XINDEX) {
		if (ki_pread(e->fd, &first, sizeof(first), e->eh.e_shoff))
			return ki_elf_bad(
				e, "the section headers lie outside the file: is it cut off?");
		n = n ? n : first.sh_size;
		*strings = *strings == SHN_XINDEX ? first.sh_link : *strings;
	}
	if (n > e->size / sizeof(Elf64_Shdr) || n >= UINT32_MAX)
		return ki_elf_bad(e, "the section headers lie outside the file: is it cut off?");
	e->nsh = (uint32_t)n;
	return 0;
}

static int read_headers(struct ki_elf *e)
{
	uint8_t *bytes;
	uint32_t strings;
	int ret = count_sections(e, &strings);

	if (!ret)
		ret = read_bytes(e, e->eh.e_shoff, (uint64_t)e->nsh * sizeof(Elf64_Shdr), &bytes);
	if (ret)
		return ret;
	e->sh = (void *)bytes;
	if (strings >= e->nsh || e->sh[strings].sh_type != SHT_STRTAB)
		return 0;
	ret = ki_elf_read(e, strings, &bytes);
	if (!ret) {
		e->names = (char *)bytes;
		e->names_len = e->sh[strings].sh_size;
	}
	return ret;
}

int ki_elf_open(struct ki_elf *e, const char *path, struct ki_err *err)
{
	struct stat st;
	int ret;

	*e = (struct ki_elf){.path = path, .err = err};
	e->fd = open(path, O_RDONLY | O_CLOEXEC | O_NONBLOCK);
	if (e->fd < 0)
		return ki_err_set(err, -errno, 0, "%s: %s", path, strerror(errno));
	if (fstat(e->fd, &st) || !S_ISREG(st.st_mode))
		return ki_elf_bad(e, "not a regular file");
	e->size = (uint64_t)st.st_size;
	e->budget = e->size > UINT64_MAX / TIMES ? UINT64_MAX : e->size * TIMES;
	ret = ki_pread(e->fd, &e->eh, sizeof(e->eh), 0);
	if (ret)
		return ret == -ENODATA ? ki_elf_bad(e, "not an ELF file")
				       : ki_err_set(err, ret, 0, "%s: %s", path, strerror(-ret));
	ret = check_header(e);
	return ret ? ret : read_headers(e);
}

void ki_elf_close(struct ki_elf *e)
{
	if (e->fd >= 0)
		close(e->fd);
	free(e->sh);
	free(e->names);
	e->sh = NULL;
	e->names = NULL;
}
