/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * libFuzzer: any bytes as the System.map of one small program of our own.
 */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <unistd.h>

#include <elf.h>

#include "kerninst/target.h"

#define TEXT 0xffffffff81000000ull
#define DATA 0xffffffff82000000ull

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

static struct {
	Elf64_Ehdr eh;
	Elf64_Shdr sh[3];
	uint8_t text[256], data[256];
} file;

static void check(bool holds)
{
	if (!holds)
		abort();
}

static void make_file(void)
{
	memcpy(file.eh.e_ident, ELFMAG, SELFMAG);
	file.eh.e_ident[EI_CLASS] = ELFCLASS64;
	file.eh.e_ident[EI_DATA] = ELFDATA2LSB;
	file.eh.e_type = ET_EXEC;
	file.eh.e_machine = EM_X86_64;
	file.eh.e_shoff = offsetof(__typeof__(file), sh);
	file.eh.e_shentsize = sizeof(file.sh[0]);
	file.eh.e_shnum = 3;
	file.sh[1] = (Elf64_Shdr){.sh_type = SHT_PROGBITS,
				  .sh_flags = SHF_ALLOC | SHF_EXECINSTR,
				  .sh_addr = TEXT,
				  .sh_offset = offsetof(__typeof__(file), text),
				  .sh_size = sizeof(file.text)};
	file.sh[2] = (Elf64_Shdr){.sh_type = SHT_PROGBITS,
				  .sh_flags = SHF_ALLOC,
				  .sh_addr = DATA,
				  .sh_offset = offsetof(__typeof__(file), data),
				  .sh_size = sizeof(file.data)};
	/* Tables whose entries lead into the text, wherever they are said to be. */
	for (size_t i = 0; i + 4 <= sizeof(file.data); i += 4) {
		int32_t off = (int32_t)(TEXT + i / 2 - (DATA + i));

		memcpy(file.data + i, &off, 4);
	}
	for (size_t i = 0; i < sizeof(file.text); i += 2)
		memcpy(file.text + i, "\x0f\x0b", 2);
}

static const char *path_of(int fd, char path[64])
{
	snprintf(path, 64, "/proc/self/fd/%d", fd);
	return path;
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	static int image = -1;
	const struct ki_reserved_row *row;
	const struct ki_symbol *s;
	struct ki_err err = {0};
	struct ki_target *t;
	char a[64], b[64];
	int ret, map = memfd_create("map", MFD_CLOEXEC);
	size_t n;

	if (image < 0) {
		make_file();
		image = memfd_create("image", MFD_CLOEXEC);
		check(write(image, &file, sizeof(file)) == sizeof(file));
	}
	check(map >= 0 && write(map, data, size) == (ssize_t)size);
	ret = ki_target_new_with_map(path_of(image, a), path_of(map, b), &t, &err);
	close(map);
	if (ret) {
		check(ret < 0 && err.code == ret && *err.msg && !strchr(err.msg, '\n'));
		return 0;
	}
	s = ki_target_symbols(t, &n);
	check(n > 0);
	for (size_t i = 0; i < n; i++)
		check(s[i].addr >= TEXT && s[i].addr < TEXT + sizeof(file.text) && s[i].size);
	check(!ki_target_reserved(t, 0, UINT64_MAX, &row, &n, &err));
	for (size_t i = 0; i < n; i++)
		check(row[i].addr >= TEXT && row[i].addr - TEXT + row[i].len <= sizeof(file.text));
	ki_target_free(t);
	return 0;
}
