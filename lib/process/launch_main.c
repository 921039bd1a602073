/* SPDX-License-Identifier: LGPL-2.1-only OR BSD-2-Clause */
/*
 * Where a program's main() is, as the symbols of its file say.
 */
#include "process/launch_main.h"

#include <elf.h>
#include <fcntl.h>
#include <stdio.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <unistd.h>

struct file {
	const uint8_t *bytes;
	size_t size;
};

/* n pieces of `each` bytes from `at` on; NULL: the file does not have them. */
static const void *part(const struct file *f, uint64_t at, uint64_t n, uint64_t each)
{
	return at <= f->size && n <= (f->size - at) / each ? f->bytes + at : NULL;
}

static uint64_t main_of(const struct file *f, const Elf64_Shdr *symbols, const Elf64_Shdr *strings)
{
	const uint64_t n = symbols->sh_size / sizeof(Elf64_Sym);
	const Elf64_Sym *s = part(f, symbols->sh_offset, n, sizeof(*s));
	const char *names = part(f, strings->sh_offset, strings->sh_size, 1);

	for (uint64_t i = 0; s && names && i < n; i++)
		if (ELF64_ST_TYPE(s[i].st_info) == STT_FUNC && s[i].st_shndx != SHN_UNDEF &&
		    s[i].st_name < strings->sh_size &&
		    strings->sh_size - s[i].st_name >= sizeof("main") &&
		    !strcmp(names + s[i].st_name, "main"))
			return s[i].st_value;
	return 0;
}

/* From its entry, as the file says that, to its main(). */
static uint64_t distance(const struct file *f)
{
	const Elf64_Ehdr *head = part(f, 0, 1, sizeof(*head));
	const Elf64_Shdr *all;
	uint64_t found = 0;

	if (!head || memcmp(head->e_ident, ELFMAG, SELFMAG) != 0 ||
	    head->e_ident[EI_CLASS] != ELFCLASS64 || head->e_shentsize != sizeof(*all))
		return 0;
	all = part(f, head->e_shoff, head->e_shnum, sizeof(*all));
	for (unsigned int i = 0; all && !found && i < head->e_shnum; i++)
		if ((all[i].sh_type == SHT_SYMTAB || all[i].sh_type == SHT_DYNSYM) &&
		    all[i].sh_link < head->e_shnum)
			found = main_of(f, &all[i], &all[all[i].sh_link]);
	return found ? found - head->e_entry : 0;
}

uint64_t ki_launch_main(pid_t pid, uint64_t entry)
{
	struct file f = {0};
	struct stat st;
	uint64_t bytes = 0;
	char path[40];
	int fd;

	snprintf(path, sizeof(path), "/proc/%d/exe", pid);
	fd = open(path, O_RDONLY | O_CLOEXEC);
	if (fd < 0)
		return 0;
	if (!fstat(fd, &st) && st.st_size > 0) {
		void *at = mmap(NULL, (size_t)st.st_size, PROT_READ, MAP_PRIVATE, fd, 0);

		f = (struct file){at, at == MAP_FAILED ? 0 : (size_t)st.st_size};
		bytes = distance(&f);
		if (at != MAP_FAILED)
			munmap(at, (size_t)st.st_size);
	}
	close(fd);
	return bytes ? entry + bytes : 0;
}
