// SPDX-License-Identifier: GPL-2.0-only
/*
 * deep A B: that many writes of 4321 bytes by one way, and by another. Their stacks differ in the
 * last frame only, after 60 with a name of 183 letters.
 */
#include <fcntl.h>
#include <stdlib.h>
#include <unistd.h>

#define LEVELS 60

/* With a frame pointer, and a frame for each call. */
#define FRAMED                                                                                     \
	__attribute__((noipa, optimize("no-omit-frame-pointer", "no-optimize-sibling-calls")))

/* clang-format off */
#define down \
	far_down_where_names_are_so_long_that_sixty_of_them_are_more_than_what_is_shown_of_a_stack_in_a_row_of_a_table_so_that_the_one_who_called_the_first_of_them_stands_behind_what_is_shown
/* clang-format on */

FRAMED static long down(int fd, int levels)
{
	static const char bytes[4321];
	long ret;

	if (levels)
		return down(fd, levels - 1) + 1;
	/* not the library's, which has no frame pointer */
	asm volatile("syscall"
		     : "=a"(ret)
		     : "a"(1L), "D"((long)fd), "S"(bytes), "d"(sizeof(bytes))
		     : "rcx", "r11", "memory");
	return ret;
}

FRAMED static long one_way(int fd)
{
	return down(fd, LEVELS) + 1;
}

FRAMED static long another_way(int fd)
{
	return down(fd, LEVELS) + 2;
}

int main(int argc, char **argv)
{
	int fd = open("/dev/null", O_WRONLY);

	for (int i = argc > 2 ? atoi(argv[1]) : 0; i; i--)
		one_way(fd);
	for (int i = argc > 2 ? atoi(argv[2]) : 0; i; i--)
		another_way(fd);
	usleep(200000); /* its names are looked up while it lives */
	return 0;
}
