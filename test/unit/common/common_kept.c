// SPDX-License-Identifier: GPL-2.0-only
#include "common_kept.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <unistd.h>

#include <cmocka.h>

char kept_path[] = "/tmp/ki-recording-XXXXXX";
char *kept_bytes;
size_t kept_size;

int kept_make(void **state)
{
	int fd = mkstemp(kept_path);

	(void)state;
	return fd < 0 ? -1 : close(fd);
}

int kept_remove(void **state)
{
	(void)state;
	free(kept_bytes);
	return unlink(kept_path);
}

void kept_read(size_t most)
{
	FILE *f = fopen(kept_path, "r");

	assert_non_null(f);
	free(kept_bytes);
	kept_bytes = malloc(most);
	assert_non_null(kept_bytes);
	kept_size = fread(kept_bytes, 1, most, f);
	fclose(f);
	assert_true(kept_size > 0 && kept_size < most);
}
