// SPDX-License-Identifier: GPL-2.0-only
#include "lift.h"

#include <elf.h>
#include <fcntl.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <unistd.h>

#include "code/decode/decode.h"
#include "common_exec.h"
#include "kerninst/err.h"

#define LINKED	  0xffffffff80000000ull /* where the kernel is linked, for physical address 0 */
#define LIFTED	  0x40000000ull		/* here; below 2 GiB, as signed displacements reach it */
#define DELTA	  (LIFTED - LINKED)
#define PATCH_GAP 0x1000000ull

struct image {
	uint8_t *bytes;
	size_t len;
	Elf64_Ehdr *eh;
	Elf64_Phdr *ph;
};

static int complain(const char *what)
{
	fprintf(stderr, "lift: %s\n", what);
	return -1;
}

static uint8_t *read_file(const char *path, size_t *len)
{
	int fd = open(path, O_RDONLY | O_CLOEXEC);
	uint8_t *bytes = MAP_FAILED;
	struct stat st;

	if (fd >= 0 && !fstat(fd, &st) && st.st_size > 0) {
		*len = (size_t)st.st_size;
		bytes = mmap(NULL, *len, PROT_READ | PROT_WRITE, MAP_PRIVATE, fd, 0);
	}
	if (fd >= 0)
		close(fd);
	if (bytes == MAP_FAILED)
		perror(path);
	return bytes == MAP_FAILED ? NULL : bytes;
}

/* What the image has at an address at which it is linked. Its per-CPU data is loaded at the one
   that its physical address says. */
static uint8_t *linked_at(const struct image *im, uint64_t addr, size_t len)
{
	for (int i = 0; i < im->eh->e_phnum; i++) {
		const Elf64_Phdr *p = &im->ph[i];
		uint64_t off = addr - LINKED - p->p_paddr;

		if (p->p_type == PT_LOAD && off < p->p_filesz && len <= p->p_filesz - off)
			return im->bytes + p->p_offset + off;
	}
	return NULL;
}

/* Lists of 32-bit addresses, from the file's end on, each after a 0: of words of 32 bits that
   move with the kernel, of such from which that is taken, of words of 64 bits. */
static int relocate(const struct image *im)
{
	static const struct {
		uint8_t len;
		int64_t sign;
	} lists[] = {{4, 1}, {4, -1}, {8, 1}};
	const int32_t *at = (const int32_t *)(im->bytes + (im->len & ~3ull)) - 1;

	for (size_t k = 0; k < 3; k++, at--) {
		if (k == 0 && !*at)
			return complain("no relocations behind the image");
		for (; (const uint8_t *)at > im->bytes && *at; at--) {
			uint8_t *p = linked_at(im, (uint64_t)(int64_t)*at, lists[k].len);
			uint64_t value = 0;

			if (!p)
				return complain("a relocation outside of the image");
			memcpy(&value, p, lists[k].len);
			value += (uint64_t)(lists[k].sign * (int64_t)DELTA);
			memcpy(p, &value, lists[k].len);
		}
	}
	return 0;
}

/* ---- as it is when it has booted ---- */

static const Elf64_Shdr *section(const struct image *im, const char *name)
{
	const Elf64_Shdr *sh = (const Elf64_Shdr *)(im->bytes + im->eh->e_shoff);
	const char *names = (const char *)im->bytes + sh[im->eh->e_shstrndx].sh_offset;

	for (int i = 0; i < im->eh->e_shnum; i++)
		if (!strcmp(names + sh[i].sh_name, name))
			return &sh[i];
	return NULL;
}

/* Jumps to the return thunk become returns, as on a processor that needs no thunk. */
static void returns_go(const struct image *im)
{
	const Elf64_Shdr *sites = section(im, ".return_sites");

	for (uint64_t i = 0; sites && i + 4 <= sites->sh_size; i += 4) {
		uint64_t at = sites->sh_addr + i;
		int32_t distance;
		uint8_t *p;

		memcpy(&distance, im->bytes + sites->sh_offset + i, sizeof(distance));
		p = linked_at(im, at + (uint64_t)(int64_t)distance, 5);
		if (p && *p == 0xe9)
			memcpy(p, "\xc3\xcc\xcc\xcc\xcc", 5);
	}
}

/* Calls of __fentry__ are off until somebody traces. `fentry` is where it is linked. */
static void wait_for_ftrace(const struct image *im, uint64_t fentry)
{
	const Elf64_Shdr *text = section(im, ".text");
	uint8_t *p = text ? im->bytes + text->sh_offset : NULL;

	for (uint64_t i = 0; text && fentry && i + 5 <= text->sh_size; i += 16) {
		int32_t distance;

		memcpy(&distance, p + i + 1, sizeof(distance));
		if (p[i] == 0xe8 && text->sh_addr + i + 5 + (uint64_t)(int64_t)distance == fentry)
			memcpy(p + i, "\x0f\x1f\x44\x00\x00", 5);
	}
}

/* What reads the time does not: it is another one in each call, and not every machine lets a
   process forbid it (PR_SET_TSC). For rdtsc stands "xor %eax, %eax", with a nop for rdtscp. */
static void time_stands(const struct image *im)
{
	const Elf64_Shdr *text = section(im, ".text");
	uint8_t *p = text ? im->bytes + text->sh_offset : NULL;
	uint64_t end = text ? text->sh_size : 0;

	for (uint64_t i = 0; i < end; i += ki_decode_len(p + i, end - i)) {
		if (i + 2 <= end && !memcmp(p + i, "\x0f\x31", 2))
			memcpy(p + i, "\x31\xc0", 2);
		else if (i + 3 <= end && !memcmp(p + i, "\x0f\x01\xf9", 3))
			memcpy(p + i, "\x31\xc0\x90", 3);
	}
}

/* Its headers say where it is now. */
static void move_headers(const struct image *im)
{
	Elf64_Shdr *sh = (Elf64_Shdr *)(im->bytes + im->eh->e_shoff);

	for (int i = 0; i < im->eh->e_phnum; i++)
		if (im->ph[i].p_vaddr >= LINKED)
			im->ph[i].p_vaddr += DELTA;
	for (int i = 0; i < im->eh->e_shnum; i++)
		if (sh[i].sh_addr >= LINKED)
			sh[i].sh_addr += DELTA;
}

static int read_image(const char *path, const char *system_map, struct image *im)
{
	uint64_t fentry = lift_symbol(system_map, "__fentry__");

	im->bytes = read_file(path, &im->len);
	if (!im->bytes)
		return -1;
	im->eh = (Elf64_Ehdr *)im->bytes;
	if (im->len < sizeof(*im->eh) || memcmp(im->eh->e_ident, ELFMAG, SELFMAG) ||
	    im->eh->e_phoff > im->len / 2 || im->eh->e_shoff > im->len)
		return complain("no image of a kernel");
	im->ph = (Elf64_Phdr *)(im->bytes + im->eh->e_phoff);
	returns_go(im);
	wait_for_ftrace(im, fentry ? fentry - DELTA : 0);
	time_stands(im);
	if (relocate(im))
		return -1;
	move_headers(im);
	return 0;
}

/* ---- where it is ---- */

static uint8_t *map_at(uint64_t addr, size_t len, int prot)
{
	uint8_t *p = mmap((void *)(uintptr_t)addr, len, prot, // NOLINT
			  MAP_PRIVATE | MAP_ANONYMOUS | MAP_FIXED_NOREPLACE, -1, 0);

	if (p == MAP_FAILED)
		perror("lift: mmap");
	return p == MAP_FAILED ? NULL : p;
}

static uint64_t page_up(uint64_t addr)
{
	return (addr + LIFT_PAGE - 1) & ~(uint64_t)(LIFT_PAGE - 1);
}

static int map_percpu(const struct image *im, const Elf64_Phdr *p, struct lift *l)
{
	l->percpu_len = page_up(p->p_memsz);
	l->percpu = map_at(LIFTED - PATCH_GAP, l->percpu_len, PROT_READ | PROT_WRITE);
	if (!l->percpu)
		return -1;
	memcpy(l->percpu, im->bytes + p->p_offset, p->p_filesz);
	exec_set_gs(l->percpu);
	return 0;
}

/* One range from the first to the last address: text is what the first executable segment's
   section .text holds, and what stands after it is data. */
static int map_image(const struct image *im, struct lift *l)
{
	const Elf64_Shdr *sh = (const Elf64_Shdr *)(im->bytes + im->eh->e_shoff);
	uint64_t start = UINT64_MAX, end = 0;

	for (int i = 0; i < im->eh->e_phnum; i++) {
		const Elf64_Phdr *p = &im->ph[i];

		if (p->p_type != PT_LOAD || p->p_vaddr < LIFTED)
			continue;
		start = p->p_vaddr < start ? p->p_vaddr : start;
		end = p->p_vaddr + p->p_memsz > end ? p->p_vaddr + p->p_memsz : end;
	}
	l->text = start;
	l->text_end = page_up(sh[1].sh_addr + sh[1].sh_size);
	l->data = l->text_end;
	l->data_end = page_up(end);
	if (!map_at(start, l->data_end - start, PROT_READ | PROT_WRITE | PROT_EXEC))
		return -1;
	l->patch = map_at(l->data_end + PATCH_GAP, LIFT_PATCH, PROT_READ | PROT_WRITE | PROT_EXEC);
	for (int i = 0; i < im->eh->e_phnum; i++) {
		const Elf64_Phdr *p = &im->ph[i];

		if (p->p_type == PT_LOAD && p->p_vaddr >= LIFTED)
			memcpy((void *)(uintptr_t)p->p_vaddr, im->bytes + p->p_offset, // NOLINT
			       p->p_filesz);
		else if (p->p_type == PT_LOAD && map_percpu(im, p, l))
			return -1;
	}
	return l->patch ? 0 : -1;
}

/* ---- as a target ---- */

/* kallsyms' lines, with addresses that have moved. */
static int move_map(const char *path, int fd)
{
	FILE *in = fopen(path, "re"), *out = fdopen(dup(fd), "w");
	char line[1024], *rest;

	while (in && out && fgets(line, sizeof(line), in)) {
		uint64_t addr = strtoull(line, &rest, 16);

		fprintf(out, "%016llx%s",
			(unsigned long long)(addr >= LINKED ? addr + DELTA : addr), rest);
	}
	if (!in)
		perror(path);
	if (in)
		fclose(in);
	return !in || !out || fclose(out) ? -1 : 0;
}

static int open_target(const struct image *im, const char *system_map, struct lift *l)
{
	int image = memfd_create("vmlinux", MFD_CLOEXEC), map = memfd_create("map", MFD_CLOEXEC);
	char image_path[32], map_path[32];
	struct ki_err err = {0};
	int rc = -1;

	snprintf(image_path, sizeof(image_path), "/proc/self/fd/%d", image);
	snprintf(map_path, sizeof(map_path), "/proc/self/fd/%d", map);
	if (image >= 0 && map >= 0 && write(image, im->bytes, im->len) == (ssize_t)im->len &&
	    !move_map(system_map, map)) {
		rc = ki_target_new_with_map(image_path, map_path, &l->target, &err);
		if (rc)
			complain(err.msg);
	}
	close(image);
	close(map);
	return rc ? -1 : 0;
}

int lift_open(const char *vmlinux, const char *system_map, struct lift *l)
{
	struct image im = {0};
	int rc;

	*l = (struct lift){0};
	rc = read_image(vmlinux, system_map, &im) || open_target(&im, system_map, l) ||
	     map_image(&im, l);
	if (im.bytes)
		munmap(im.bytes, im.len);
	if (rc)
		lift_close(l);
	return rc ? -1 : 0;
}

void lift_close(struct lift *l)
{
	ki_target_free(l->target);
	l->target = NULL;
}

uint64_t lift_symbol(const char *system_map, const char *name)
{
	FILE *in = fopen(system_map, "re");
	char line[1024], found[256];
	uint64_t addr = 0;

	while (in && !addr && fgets(line, sizeof(line), in)) {
		char *rest;
		uint64_t at = strtoull(line, &rest, 16);

		if (sscanf(rest, " %*c %255s", found) == 1 && !strcmp(found, name))
			addr = at >= LINKED ? at + DELTA : at;
	}
	if (in)
		fclose(in);
	return addr;
}

uint64_t lift_moved(const struct lift *l, uint64_t linked)
{
	uint64_t addr = linked + DELTA;

	return linked >= LINKED && addr >= l->text && addr < l->data_end ? addr : 0;
}
