// SPDX-License-Identifier: GPL-2.0-only
/*
 * What addresses of processes are (lib/record/users.c): files that are not what their path leads
 * to, files that lie, processes that load and unload, end, and give their number to another; and
 * what recordings get of it.
 */
#include "common_elf.h"

#include <errno.h>
#include <fcntl.h>
#include <linux/sched.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <unistd.h>

#include "kerninst/record.h"
#include "record/stacks.h"

/* The how-manieth allocation fails; 0: none. */
static unsigned int fails;

static void *failing(size_t n, size_t size)
{
	return fails && !--fails ? NULL : calloc(n, size);
}

#define calloc failing
#include "../../../lib/record/frames.c"
#undef calloc

#define PLACE ((void *)0x7e0000000000) /* for what is mapped at a certain place */
#define SIZE  65536

static char dir[] = "/tmp/ki-users.XXXXXX";
static uint8_t code[64];
static uint64_t code_at; /* of the function, in any of our files */
static struct ki_users *users;

static const char *file(const char *name)
{
	static char path[2][128];
	static int next;

	next = !next;
	snprintf(path[next], sizeof(*path), "%s/%s", dir, name);
	return path[next];
}

static void write_elf(const char *path, const struct elf_file *f, uint32_t text)
{
	size_t len;
	uint8_t *bytes = elf_make(f, &len);
	Elf64_Ehdr eh;
	Elf64_Shdr sh;
	int fd = open(path, O_WRONLY | O_CREAT | O_EXCL, 0700);

	memcpy(&eh, bytes, sizeof(eh));
	memcpy(&sh, bytes + eh.e_shoff + text * sizeof(sh), sizeof(sh));
	code_at = sh.sh_offset;
	assert_true(fd >= 0);
	assert_int_equal(write(fd, bytes, len), (ssize_t)len);
	assert_int_equal(ftruncate(fd, SIZE), 0);
	close(fd);
	free(bytes);
}

static uint32_t start_elf(struct elf_file *f, const char *function)
{
	uint32_t text;

	elf_start(f, ET_DYN);
	text = elf_section(f, ".text", SHT_PROGBITS, SHF_ALLOC | SHF_EXECINSTR, 0x1000, code,
			   sizeof(code));
	f->sym[elf_symbol(f, function, STT_FUNC, (uint16_t)text, 0x1000)].st_size = sizeof(code);
	return text;
}

/* A program of one function. */
static void make_file(const char *path, const char *function)
{
	struct elf_file f;

	write_elf(path, &f, start_elf(&f, function));
}

static uint8_t *map_at(const char *path, void *at)
{
	int fd = open(path, O_RDONLY);
	void *p = mmap(at, SIZE, PROT_READ | PROT_EXEC, MAP_PRIVATE | (at ? MAP_FIXED : 0), fd, 0);

	assert_true(fd >= 0 && p != MAP_FAILED);
	close(fd);
	return p;
}

/* The function at an address of a process; NULL: nothing is known. */
static const char *function_at(pid_t pid, const void *addr)
{
	struct ki_user_frame frame;

	return ki_users_find(users, (uint32_t)pid, (uintptr_t)addr, &frame) ? frame.symbol : NULL;
}

static int begin(void **state)
{
	(void)state;
	return ki_users_new(&users);
}

static int end(void **state)
{
	(void)state;
	ki_users_free(users);
	users = NULL;
	return 0;
}

/* Its names are said to be a section without bytes, as large as one likes. */
static void names_without_bytes(void **state)
{
	struct elf_file f;
	uint32_t text = start_elf(&f, "far"), none, at;
	uint8_t *p;

	(void)state;
	at = elf_symbol(&f, "away", STT_FUNC, (uint16_t)text, 0x1000);
	f.sym[at].st_name = 1u << 27;
	f.sym[at].st_size = sizeof(code);
	none = elf_section(&f, ".none", SHT_NOBITS, 0, 0, NULL, 200u << 20);
	f.sh[1].sh_link = none;
	write_elf(file("nobits"), &f, text);
	p = map_at(file("nobits"), NULL);
	assert_string_equal(function_at(getpid(), p + code_at), "");
	munmap(p, SIZE);
}

/* Its path leads to another one meanwhile, or from the beginning. */
static void another_file_at_its_path(void **state)
{
	char link[64];
	uint8_t *p;
	bool by_link;

	(void)state;
	make_file(file("lib"), "right");
	make_file(file("other"), "wrong");
	p = map_at(file("lib"), NULL);
	ki_users_look(users, (uint32_t)getpid());
	snprintf(link, sizeof(link), "/proc/self/map_files/%lx-%lx", (unsigned long)p,
		 (unsigned long)p + SIZE);
	by_link = !access(link, R_OK);
	assert_int_equal(rename(file("other"), file("lib")), 0);
	assert_string_equal(function_at(getpid(), p + code_at), "");
	end(NULL);
	begin(NULL); /* and if it is so already when the process is looked at */
	assert_string_equal(function_at(getpid(), p + code_at), by_link ? "right" : "");
	munmap(p, SIZE);
}

static void mappings_are_read_again_once_a_look(void **state)
{
	const void *nothing = (const void *)16;
	uint8_t *p;

	(void)state;
	make_file(file("late"), "late");
	assert_null(function_at(getpid(), nothing)); /* the first time, and again */
	p = map_at(file("late"), NULL);
	assert_null(function_at(getpid(), p + code_at));
	ki_users_look(users, (uint32_t)getpid());
	assert_string_equal(function_at(getpid(), p + code_at), "late");
	munmap(p, SIZE);
	ki_users_look(users, (uint32_t)getpid());
	assert_null(function_at(getpid(), nothing)); /* read again, without it */
	assert_string_equal(function_at(getpid(), p + code_at), "late");
}

/* Code that has no file is known to be nothing, and hides what was there before. */
static void code_without_a_file(void **state)
{
	uint8_t *p;

	(void)state;
	make_file(file("hidden"), "hidden");
	p = map_at(file("hidden"), NULL);
	assert_string_equal(function_at(getpid(), p + code_at), "hidden");
	assert_true(mmap(p, SIZE, PROT_READ | PROT_EXEC, MAP_PRIVATE | MAP_FIXED | MAP_ANONYMOUS,
			 -1, 0) == p);
	ki_users_look(users, (uint32_t)getpid());
	assert_null(function_at(getpid(), (const void *)16));
	assert_null(function_at(getpid(), p + code_at));
	munmap(p, SIZE);
}

/* A process with a file at PLACE, of this number unless that is 0. -EPERM: it may not have it. */
static pid_t start_child(const char *path, pid_t number)
{
	struct clone_args args = {.exit_signal = SIGCHLD,
				  .set_tid = number ? (uintptr_t)&number : 0,
				  .set_tid_size = number ? 1 : 0};
	int ready[2];
	char byte;
	long pid;

	assert_int_equal(pipe(ready), 0);
	pid = syscall(SYS_clone3, &args, sizeof(args));
	if (!pid) {
		map_at(path, PLACE);
		if (write(ready[1], "x", 1) != 1)
			_exit(1);
		pause();
		_exit(0);
	}
	if (pid > 0)
		assert_int_equal(read(ready[0], &byte, 1), 1);
	close(ready[0]);
	close(ready[1]);
	return pid < 0 ? -errno : (pid_t)pid;
}

static void end_child(pid_t pid)
{
	kill(pid, SIGKILL);
	assert_int_equal(waitpid(pid, NULL, 0), pid);
}

static void a_number_goes_to_another_process(void **state)
{
	const uint8_t *place = PLACE;
	pid_t first, second;

	(void)state;
	make_file(file("first"), "first");
	make_file(file("second"), "second");
	first = start_child(file("first"), 0);
	assert_true(first > 0);
	assert_string_equal(function_at(first, place + code_at), "first");
	end_child(first);
	assert_string_equal(function_at(first, place + code_at), "first");
	usleep(20000); /* two ticks: else it has begun at the same time */
	second = start_child(file("second"), first);
	if (second == -EPERM)
		skip();
	assert_int_equal(second, first);
	ki_users_look(users, (uint32_t)first);
	assert_string_equal(function_at(first, place + code_at), "second");
	end_child(second);
}

/* ---- what files get ---- */

static struct {
	struct ki_stacks_head head;
	uint8_t rest[STACKS_PAGE - sizeof(struct ki_stacks_head)];
	struct {
		struct ki_stack_row row;
		uint64_t addr;
	} row[1];
} table;

static struct ki_record_file *create_recording(void)
{
	const struct ki_record_field field = {"s", "", KI_U64, KI_SHOW_STACK};
	const struct ki_instrument in = {
		.id = 1, .name = "i", .point = "p", .fields = &field, .nfields = 1};
	struct ki_record_origin origin = {0};
	struct ki_record_file *out;

	assert_int_equal(ki_record_new(file("rec"), &(struct ki_recorded){&origin, NULL, &in, 1},
				       &out, NULL),
			 0);
	return out;
}

/* The stack of one frame, written and read: its function. */
static void record_stack(const struct ki_stacks_map *map, bool look, char *function, size_t n)
{
	const struct ki_record rec = {.id = 1, .words = 1, .tsc = 5};
	struct ki_record_file *out = create_recording();
	struct ki_user_frame frame;
	struct ki_recording *r;
	struct ki_stack s;

	assert_int_equal(ki_record_stacks(out, map), 0);
	assert_int_equal(ki_record_stacks(out, map), -EEXIST);
	if (look)
		ki_record_look(out);
	assert_int_equal(ki_record_write(out, &rec, (const uint64_t[]){1}, 0), 0);
	assert_int_equal(ki_record_finish(out, 0, 9, NULL), 0);
	assert_int_equal(ki_recording_new(file("rec"), &r, NULL), 0);
	assert_int_equal(ki_recording_stack(r, 1, &s), 0);
	assert_int_equal(ki_recording_frame(r, &s, 0, &frame), 0);
	snprintf(function, n, "%s", frame.symbol);
	ki_recording_free(r);
}

/* The process has been looked at through one file, and has ended when another one is written. */
static void files_share_what_is_known(void **state)
{
	struct ki_stacks_map map = {.base = (const uint8_t *)&table,
				    .rows = 1,
				    .stride = sizeof(table.row[0]),
				    .frames = 1,
				    .number = 1};
	char function[64];
	pid_t child;

	(void)state;
	make_file(file("shared"), "shared");
	child = start_child(file("shared"), 0);
	table.row[0].row = (struct ki_stack_row){.frames = 1, .tgid = (uint32_t)child};
	table.row[0].addr = (uintptr_t)PLACE + code_at;
	table.head.rows = 1;
	assert_int_equal(ki_stacks_begin(&map), 0);
	record_stack(&map, true, function, sizeof(function));
	assert_string_equal(function, "shared");
	end_child(child);
	record_stack(&map, false, function, sizeof(function));
	assert_string_equal(function, "shared");
	ki_stacks_end(&map);
}

/* Whoever can be measured may have functions with any names. */
static void names_have_an_end(void **state)
{
	static char name[20000], function[20000];
	struct ki_stacks_map map = {.base = (const uint8_t *)&table,
				    .rows = 1,
				    .stride = sizeof(table.row[0]),
				    .frames = 1,
				    .number = 1};
	struct elf_file f;
	uint32_t text = start_elf(&f, "f");
	uint8_t *p;

	(void)state;
	memset(name + 1, 'x', sizeof(name) - 2);
	f.sh[1].sh_link = elf_section(&f, ".names", SHT_STRTAB, 0, 0, name, sizeof(name));
	f.sym[1].st_name = 1;
	write_elf(file("long"), &f, text);
	p = map_at(file("long"), NULL);
	table.row[0].row = (struct ki_stack_row){.frames = 1, .tgid = (uint32_t)getpid()};
	table.row[0].addr = (uintptr_t)p + code_at;
	table.head.rows = 1;
	assert_int_equal(ki_stacks_begin(&map), 0);
	record_stack(&map, true, function, sizeof(function));
	assert_int_equal(strlen(function), 4095);
	ki_stacks_end(&map);
	munmap(p, SIZE);
}

static void no_half_of_it_without_memory(void **state)
{
	struct ki_stacks_map map = {.base = (const uint8_t *)&table, .rows = 1};
	const struct ki_record rec = {.id = 1, .words = 1, .tsc = 5};
	struct ki_record_file *out = create_recording();

	(void)state;
	assert_int_equal(ki_stacks_begin(&map), 0);
	for (unsigned int i = 1; i <= 2; i++) {
		fails = i;
		assert_int_equal(ki_record_stacks(out, &map), -ENOMEM);
		assert_int_equal(fails, 0);
	}
	assert_int_equal(ki_record_write(out, &rec, (const uint64_t[]){1}, 0), 0);
	assert_int_equal(ki_record_stacks(out, &map), 0);
	ki_record_free(out);
	ki_stacks_end(&map);
}

static int make_dir(void **state)
{
	(void)state;
	return mkdtemp(dir) ? 0 : -1;
}

static int remove_dir(void **state)
{
	char command[64];

	(void)state;
	snprintf(command, sizeof(command), "rm -r %s", dir);
	return system(command);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test_setup_teardown(names_without_bytes, begin, end),
		cmocka_unit_test_setup_teardown(another_file_at_its_path, begin, end),
		cmocka_unit_test_setup_teardown(mappings_are_read_again_once_a_look, begin, end),
		cmocka_unit_test_setup_teardown(code_without_a_file, begin, end),
		cmocka_unit_test_setup_teardown(a_number_goes_to_another_process, begin, end),
		cmocka_unit_test(files_share_what_is_known),
		cmocka_unit_test(names_have_an_end),
		cmocka_unit_test(no_half_of_it_without_memory),
	};

	return cmocka_run_group_tests(tests, make_dir, remove_dir);
}
