/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * The live kernel's data, a System.map for it, and modules that come and go.
 */
#include "common_live.h"

#include <elf.h>
#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "target/priv.h"

/* A kernel's memory of two segments: text, and data right after it. */
static char *core_file(void (*spoil)(Elf64_Ehdr *eh, Elf64_Phdr *ph))
{
	struct {
		Elf64_Ehdr eh;
		Elf64_Phdr ph[3];
		uint8_t text[64], data[64];
	} core = {.eh = {.e_type = ET_CORE,
			 .e_machine = EM_X86_64,
			 .e_phoff = sizeof(core.eh),
			 .e_phentsize = sizeof(core.ph[0]),
			 .e_phnum = 3}};

	memcpy(core.eh.e_ident, ELFMAG "\2\1\1", SELFMAG + 3);
	core.ph[0].p_type = PT_NOTE;
	for (int i = 1; i < 3; i++)
		core.ph[i] =
			(Elf64_Phdr){.p_type = PT_LOAD,
				     .p_vaddr = TEXT + 64 * (i == 1),
				     .p_filesz = 64,
				     .p_memsz = 64,
				     .p_offset = offsetof(__typeof__(core), text) + 64 * (i == 1)};
	memset(core.text, 't', 64);
	memset(core.data, 'd', 64);
	if (spoil)
		spoil(&core.eh, core.ph);
	return file_of((const char *)&core, sizeof(core));
}

static int read_core(const char *core, uint64_t addr, void *buf, size_t len, struct ki_err *err)
{
	char *path = file_of(live_symbols, strlen(live_symbols));
	const struct ki_live_env env = {"/dev/null", path, NULL, core, NULL, driver_ioctl};
	struct ki_target *t;
	int ret;

	reset_driver();
	ki_err_clear(err);
	assert_int_equal(ki_live_open(&env, &t, NULL), 0);
	ret = ki_target_read_data(t, addr, buf, len, err);
	if (!ret) {
		memset(buf, 0, len);
		assert_int_equal(ki_target_read_data(t, addr, buf, len, NULL), 0);
	}
	ki_target_free(t);
	drop(path);
	return ret;
}

static void data_of_the_kernel(void **state)
{
	char *core = core_file(NULL), buf[200];
	struct ki_err err;

	(void)state;
	assert_int_equal(read_core(core, TEXT + 62, buf, 4, &err), 0);
	assert_memory_equal(buf, "ttdd", 4);
	assert_int_equal(read_core(core, TEXT, buf, 128, &err), 0);
	assert_int_equal(read_core(core, TEXT, buf, 129, &err), -EFAULT);
	assert_int_equal(err.addr, TEXT + 128);
	assert_int_equal(read_core(core, TEXT - 1, buf, 2, &err), -EFAULT);
	assert_int_equal(read_core(core, UINT64_MAX - 3, buf, 8, &err), -EFAULT);
	drop(core);
}

static void spoil_type(Elf64_Ehdr *eh, Elf64_Phdr *ph)
{
	(void)ph;
	eh->e_type = ET_EXEC;
}

static void spoil_headers(Elf64_Ehdr *eh, Elf64_Phdr *ph)
{
	(void)ph;
	eh->e_phoff = UINT64_MAX - 8;
}

static void spoil_count(Elf64_Ehdr *eh, Elf64_Phdr *ph)
{
	(void)ph;
	eh->e_phnum = UINT16_MAX;
}

static void spoil_offset(Elf64_Ehdr *eh, Elf64_Phdr *ph)
{
	(void)eh;
	ph[1].p_offset = ph[2].p_offset = UINT64_MAX - 2;
}

static void spoil_length(Elf64_Ehdr *eh, Elf64_Phdr *ph)
{
	(void)eh;
	ph[1].p_filesz = ph[2].p_filesz = UINT64_MAX;
}

static void data_out_of_reach(void **state)
{
	static const struct {
		void (*spoil)(Elf64_Ehdr *eh, Elf64_Phdr *ph);
		int code;
	} cases[] = {
		{spoil_type, -EINVAL},	 {spoil_headers, -EINVAL}, {spoil_count, -EINVAL},
		{spoil_offset, -EFAULT}, {spoil_length, -EFAULT},
	};
	struct ki_err err;
	char buf[200], *core;

	(void)state;
	for (size_t i = 0; i < sizeof(cases) / sizeof(*cases); i++) {
		core = core_file(cases[i].spoil);
		assert_int_equal(read_core(core, TEXT + 8, buf, 200, &err), cases[i].code);
		assert_int_equal(err.code, cases[i].code);
		drop(core);
	}
	assert_int_equal(read_core("/nonexistent", TEXT, buf, 1, &err), -ENOENT);
	assert_non_null(strstr(err.msg, "/nonexistent"));
	if (geteuid())
		skip();
	core = core_file(NULL); /* of mode 0600 */
	assert_int_equal(seteuid(1), 0);
	assert_int_equal(read_core(core, TEXT, buf, 1, &err), -EPERM);
	assert_int_equal(err.reason, KI_R_NO_PERMISSION);
	assert_int_equal(seteuid(0), 0);
	drop(core);
}

/* Who may not write to it looks at it; who may not do that either is told so. */
static void device_for_reading(void **state)
{
	char *symbols = file_of(live_symbols, strlen(live_symbols)), *device = file_of("", 0);
	const struct ki_live_env env = {device, symbols, NULL, "/nonexistent", NULL, driver_ioctl};
	struct ki_err err = {0};
	struct ki_target *t;

	(void)state;
	if (geteuid())
		skip();
	reset_driver();
	chmod(symbols, 0444);
	chmod(device, 0444);
	assert_int_equal(ki_live_open(&env, &t, &err), 0);
	assert_int_equal(fcntl(ki_target_fd(t), F_GETFL) & O_ACCMODE, O_RDWR);
	ki_target_free(t);
	assert_int_equal(seteuid(1), 0);
	assert_int_equal(ki_live_open(&env, &t, &err), 0);
	assert_int_equal(fcntl(ki_target_fd(t), F_GETFL) & O_ACCMODE, O_RDONLY);
	driver.read_error = -EPERM; /* it has been locked down since */
	assert_int_equal(ki_target_read(t, TEXT, &(char){0}, 1, KI_VIEW_LIVE, &err), -EPERM);
	assert_int_equal(err.reason, KI_R_LOCKDOWN);
	ki_target_free(t);
	assert_int_equal(seteuid(0), 0);
	chmod(device, 0);
	assert_int_equal(seteuid(1), 0);
	ki_err_clear(&err);
	assert_int_equal(ki_live_open(&env, &t, &err), -EPERM);
	assert_int_equal(err.reason, KI_R_NO_PERMISSION);
	assert_int_equal(seteuid(0), 0);
	drop(symbols);
	drop(device);
}

static int open_with_map(const char *map, struct ki_target **t, struct ki_err *err)
{
	char *symbols = file_of(live_symbols, strlen(live_symbols));
	char *path = file_of(map, strlen(map));
	const struct ki_live_env env = {"/dev/null",	symbols, NULL,
					"/nonexistent", path,	 driver_ioctl};
	int ret;

	reset_driver();
	ki_err_clear(err);
	ret = ki_live_open(&env, t, err);
	drop(symbols);
	drop(path);
	return ret;
}

static void symbols_of_a_map(void **state)
{
	static const char *const names[] = {"_stext", "from_the_map", "two", "one"};
	const struct ki_symbol *s;
	struct ki_target *t;
	struct ki_err err;
	size_t n;

	(void)state;
	assert_int_equal(open_with_map("ffffffff81000000 T _stext\n"
				       "ffffffff81000200 t from_the_map\n"
				       "ffffffff81001000 T _etext\n",
				       &t, &err),
			 0);
	s = ki_target_symbols(t, &n);
	assert_int_equal(n, 4);
	for (size_t i = 0; i < n; i++) {
		assert_string_equal(s[i].name, names[i]);
		assert_string_equal(s[i].module, i < 2 ? "" : "m1");
	}
	ki_target_free(t);
	assert_int_equal(open_with_map("ffffffff80000000 T _stext\n"
				       "ffffffff80001000 T _etext\n",
				       &t, &err),
			 -EINVAL);
	assert_non_null(strstr(err.msg, "nokaslr"));
	assert_int_equal(open_with_map("ffffffff81000000 T _stext\n"
				       "ffffffff81001001 T _etext\n",
				       &t, &err),
			 -EINVAL);
	assert_non_null(strstr(err.msg, "ends elsewhere"));
	assert_int_equal(open_with_map("ffffffff81000000 T _stext\n", &t, &err), -EINVAL);
	assert_int_equal(open_with_map("rubbish\n", &t, &err), -EINVAL);
	assert_non_null(strstr(err.msg, ":1: "));
}

static void rewrite(const char *path, const char *content)
{
	FILE *f = fopen(path, "w");

	assert_non_null(f);
	fputs(content, f);
	fclose(f);
}

static size_t rows_now(struct ki_target *t)
{
	const struct ki_reserved_row *rows;
	size_t n;

	assert_int_equal(ki_target_reserved(t, 0, UINT64_MAX, &rows, &n, NULL), 0);
	return n;
}

static int facts_freed;

static void free_facts(void *facts)
{
	(void)facts;
	facts_freed++;
}

static void modules_come_and_go(void **state)
{
	char *path = file_of(live_symbols, strlen(live_symbols));
	const struct ki_live_env env = {"/dev/null",	path, NULL,
					"/nonexistent", NULL, driver_ioctl};
	struct ki_err err = {0};
	struct ki_target *t;
	bool changed = true;

	(void)state;
	reset_driver();
	assert_int_equal(ki_live_open(&env, &t, NULL), 0);
	assert_int_equal(rows_now(t), 10);
	t->facts = &facts_freed;
	t->facts_free = free_facts;
	driver.rows = 12;
	assert_int_equal(ki_target_refresh(t, &changed, &err), 0);
	assert_false(changed);
	assert_int_equal(rows_now(t), 10);
	assert_int_equal(facts_freed, 0);
	/* A module goes. */
	rewrite(path, "ffffffff81000000 T _stext\nffffffff81000100 t a\n");
	assert_int_equal(ki_target_refresh(t, &changed, &err), 0);
	assert_true(changed);
	assert_int_equal(facts_freed, 1);
	assert_null(t->facts);
	assert_int_equal(rows_now(t), 12);
	assert_null(ki_target_symbol_named(t, "m1", "one", NULL));
	assert_non_null(ki_target_symbol_named(t, "", "a", NULL));
	assert_null(ki_target_symbol_at(t, MOD));
	/* Only a name differs. */
	rewrite(path, "ffffffff81000000 T _stext\nffffffff81000100 t b\n");
	assert_int_equal(ki_target_refresh(t, &changed, &err), 0);
	assert_true(changed);
	assert_non_null(ki_target_symbol_named(t, "", "b", NULL));
	/* What cannot be read changes nothing. */
	rewrite(path, "");
	assert_int_equal(ki_target_refresh(t, &changed, &err), -EACCES);
	assert_false(changed);
	assert_int_equal(err.reason, KI_R_NO_SYMBOLS);
	assert_non_null(ki_target_symbol_named(t, "", "b", NULL));
	rewrite(path, live_symbols);
	assert_int_equal(ki_target_refresh(t, &changed, NULL), 0);
	assert_true(changed);
	assert_string_equal(ki_target_symbol_at(t, MOD)->name, "two");
	ki_target_free(t);
	drop(path);
}

static void much_text_in_one_call(void **state)
{
	const size_t len = 3 * (size_t)KI_READ_MAX + 5;
	uint8_t *buf = malloc(len);
	struct ki_target *t;
	struct ki_err err;

	(void)state;
	assert_non_null(buf);
	reset_driver();
	driver.text_end = TEXT + len;
	assert_int_equal(open_live(live_symbols, &t, &err), 0);
	driver.calls = 0;
	assert_int_equal(ki_target_read(t, TEXT, buf, len, KI_VIEW_LIVE, &err), 0);
	assert_true(driver.calls <= 5);
	for (size_t i = 0; i < len; i += 4093)
		assert_int_equal(buf[i], (uint8_t)((TEXT + i) * 31));
	ki_target_free(t);
	free(buf);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(data_of_the_kernel),	 cmocka_unit_test(data_out_of_reach),
		cmocka_unit_test(symbols_of_a_map),	 cmocka_unit_test(modules_come_and_go),
		cmocka_unit_test(much_text_in_one_call), cmocka_unit_test(device_for_reading),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
