// SPDX-License-Identifier: GPL-2.0-only
/*
 * pages: tells the plugin `fetch` which of the driver's memory is mapped in pages of 2 MiB, as the
 * driver says, by instructions that it looks for; and prints how many those are.
 */
#include <fcntl.h>
#include <stdint.h>
#include <stdio.h>
#include <string.h>
#include <sys/ioctl.h>
#include <sys/mman.h>

#include "uapi/kerninst.h"

#define LARGE	 21
#define MARK_LEN 8

/* Another instruction at each place, because the plugin looks at one when it is translated. */
static uint8_t *put_mark(uint8_t *code, uint8_t what, uint64_t addr)
{
	uint8_t mark[MARK_LEN] = {0x0f, 0x1f, 0x84, what};
	uint32_t page = (uint32_t)(addr >> LARGE);

	memcpy(mark + 4, &page, sizeof(page));
	memcpy(code, mark, MARK_LEN);
	return code + MARK_LEN;
}

int main(void)
{
	struct ki_info info = {.size = sizeof(info)};
	int fd = open(KI_DEVICE, O_RDONLY | O_CLOEXEC), n = 0;
	uint8_t *code =
		mmap(NULL, 4096, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
	uint8_t *at = code;

	if (fd < 0 || ioctl(fd, KI_IOC_INFO, &info) || code == MAP_FAILED) {
		perror("pages: " KI_DEVICE);
		return 1;
	}
	at = put_mark(at, 2, 0);
	for (int i = 0; i < 64; i++)
		if (info.large >> i & 1) {
			at = put_mark(at, 1, info.large_start + ((uint64_t)i << LARGE));
			n++;
		}
	*at = 0xc3; /* ret */
	if (mprotect(code, 4096, PROT_READ | PROT_EXEC)) {
		perror("pages");
		return 1;
	}
	((void (*)(void))(uintptr_t)code)();
	return printf("%d\n", n) < 0;
}
