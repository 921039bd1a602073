// SPDX-License-Identifier: LGPL-2.1-only OR BSD-2-Clause
/*
 * What modules say of their instruments is in ELF notes of their own (.note.kerninst). The kernel
 * shows the notes of each loaded module below /sys/module/MODULE/notes, so neither the driver nor
 * the module's file is needed; and of a file they are read just so. Nobody's word is taken for it:
 * lengths are compared with what is there.
 *
 * Where a function is, notes do not say, because everybody may read them; root finds it in
 * /proc/kallsyms.
 */
#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "kerninst/callable.h"
#include "target/elf.h"
#include "util/vec.h"

#define SECTION	   ".note.kerninst"
#define OWNER	   "kerninst"
#define NOTES_MAX  (1u << 20)
#define SYMBOL_LEN 256

enum note_kind { NOTE_FUNCTION = 1, NOTE_RECORDS, NOTE_VALUE };

struct ki_callables {
	ki_vec(struct ki_callable) rows;
	ki_vec(char *) strings;
};

static int no_memory(struct ki_err *err)
{
	return ki_err_set(err, -ENOMEM, 0, "instruments: out of memory");
}

/* A copy that lives with the list; NULL: out of memory. */
static const char *keep(struct ki_callables *c, const char *text)
{
	char *copy = strdup(text);

	if (copy && ki_vec_push(&c->strings, copy)) {
		free(copy);
		copy = NULL;
	}
	return copy;
}

/* ---- one note ---- */

/* The next string of a description, or "" after the last; a 0 stands after all. */
static const char *next_string(const char **at, const char *end)
{
	const char *s = *at < end ? *at : "";

	*at += strlen(s) + 1;
	return s;
}

/* Is that what stands at the beginning, as a word? Then go after it and the comma. */
static bool takes(const char **params, const char *type)
{
	size_t len = strlen(type);
	const char *end = *params + strspn(*params, "( ");

	if (strncmp(end, type, len) != 0 || !strchr(" ,)", end[len]))
		return false;
	*params = strchr(end, ',');
	*params = *params ? *params + 1 : "";
	return true;
}

/* "(void)", "(size_t len, int (*f)(int, int))" */
static void count_params(struct ki_callable *f)
{
	size_t blank = strspn(f->prototype, "( ");
	const char *at = f->prototype;
	int depth = 0;

	f->takes_id = takes(&at, "ki_id_t");
	f->takes_here = takes(&at, "struct ki_here");
	if (!strcmp(f->prototype + blank, "void)") || !strcmp(f->prototype + blank, ")"))
		return;
	f->nparams = 1 + f->takes_here;
	for (const char *p = f->prototype; *p; p++) {
		depth += (*p == '(') - (*p == ')');
		f->nparams += *p == ',' && depth == 1;
	}
}

static struct ki_callable *function_of(struct ki_callables *c, const char *module, const char *name)
{
	for (size_t i = 0; i < c->rows.n; i++)
		if (!c->rows.v[i].is_value && !strcmp(c->rows.v[i].module, module) &&
		    !strcmp(c->rows.v[i].name, name))
			return &c->rows.v[i];
	return NULL;
}

static struct ki_callable *row_of(struct ki_callables *c, const char *module, const char *name)
{
	struct ki_callable new = {.prototype = "", .sentence = "", .records = ""};

	new.module = keep(c, module);
	new.name = keep(c, name);
	return new.module &&new.name && !ki_vec_push(&c->rows, new) ? &c->rows.v[c->rows.n - 1]
								    : NULL;
}

/* Of a function there may be two notes, in any order. */
static int add_note(struct ki_callables *c, const char *module, uint32_t kind, const char *text,
		    const char *end, uint32_t version)
{
	const char *name = next_string(&text, end), *kept = "";
	struct ki_callable *f = kind == NOTE_VALUE ? NULL : function_of(c, module, name);

	f = f ? f : row_of(c, module, name);
	if (!f)
		return -ENOMEM;
	f->version = version;
	f->is_value = kind == NOTE_VALUE;
	if (version != KI_INSTRUMENT_ABI)
		return 0;
	if (kind == NOTE_FUNCTION) {
		f->prototype = kept = keep(c, next_string(&text, end));
		if (kept)
			count_params(f);
	}
	if (kept)
		kept = keep(c, next_string(&text, end));
	if (!kept)
		return -ENOMEM;
	*(kind == NOTE_RECORDS ? &f->records : &f->sentence) = kept;
	return 0;
}

/* All notes; a 0 stands after them. What is not as it should be ends them. */
static int add_notes(struct ki_callables *c, const char *module, const uint8_t *notes, size_t len)
{
	Elf64_Nhdr h;
	size_t at = 0;
	int ret = 0;

	while (!ret && at + sizeof(h) + 12 + 4 <= len) {
		const char *body = (const char *)notes + at + sizeof(h);
		uint32_t version;

		memcpy(&h, notes + at, sizeof(h));
		if (h.n_namesz != sizeof(OWNER) || memcmp(body, OWNER, sizeof(OWNER)) != 0 ||
		    h.n_descsz < 5 || h.n_descsz > len - at - sizeof(h) - 12)
			break;
		body += 12;
		memcpy(&version, body, sizeof(version));
		if (body[h.n_descsz - 1])
			break;
		if (h.n_type >= NOTE_FUNCTION && h.n_type <= NOTE_VALUE)
			ret = add_note(c, module, h.n_type, body + 4, body + h.n_descsz, version);
		at += sizeof(h) + 12 + ((h.n_descsz + 3u) & ~3u);
	}
	return ret;
}

/* ---- where they come from ---- */

/* All of it: sysfs gives a page at a time, at most. */
static size_t read_notes(int fd, uint8_t *notes)
{
	size_t len = 0;
	ssize_t n;

	do {
		n = read(fd, notes + len, NOTES_MAX - len);
		if (n > 0)
			len += (size_t)n;
	} while (n > 0 || (n < 0 && errno == EINTR));
	return len;
}

static int read_loaded(struct ki_callables *c, const char *dir, const char *module)
{
	uint8_t *notes;
	char *path;
	int fd, ret;

	if (asprintf(&path, "%s/%s/notes/" SECTION, dir, module) < 0)
		return -ENOMEM;
	fd = open(path, O_RDONLY | O_CLOEXEC);
	free(path);
	if (fd < 0)
		return 0; /* it has none */
	notes = calloc(1, NOTES_MAX + 1);
	ret = notes ? add_notes(c, module, notes, read_notes(fd, notes)) : -ENOMEM;
	free(notes);
	close(fd);
	return ret;
}

static int read_directory(struct ki_callables *c, const char *path, struct ki_err *err)
{
	DIR *dir = opendir(path);
	struct dirent *e;
	int ret = 0;

	if (!dir)
		return ki_err_set(err, -errno, 0, "%s: %s", path, strerror(errno));
	while (!ret && (e = readdir(dir)))
		if (*e->d_name != '.')
			ret = read_loaded(c, path, e->d_name);
	closedir(dir);
	return ret ? no_memory(err) : 0;
}

/* As the kernel will call it: the file's name without .ko, with _ for -. */
static void module_name(const char *path, char name[64])
{
	const char *base = strrchr(path, '/');

	snprintf(name, 64, "%s", base ? base + 1 : path);
	name[strcspn(name, ".")] = 0;
	for (char *p = name; *p; p++)
		if (*p == '-')
			*p = '_';
}

static int read_file(struct ki_callables *c, const char *path, struct ki_err *err)
{
	struct ki_elf elf;
	int ret = ki_elf_open(&elf, path, err);
	char module[64];

	module_name(path, module);
	for (uint32_t i = 0; !ret && i < elf.nsh; i++) {
		uint8_t *bytes;

		if (strcmp(ki_elf_name(&elf, i), SECTION) != 0 || elf.sh[i].sh_type != SHT_NOTE)
			continue;
		ret = ki_elf_read(&elf, i, &bytes);
		if (ret)
			break;
		if (add_notes(c, module, bytes, elf.sh[i].sh_size))
			ret = no_memory(err);
		free(bytes);
	}
	ki_elf_close(&elf);
	return ret;
}

int ki_callables_read(const char *path, struct ki_callables **out, struct ki_err *err)
{
	const char *from = path ? path : "/sys/module";
	struct stat st;
	int ret;

	*out = NULL;
	if (stat(from, &st))
		return ki_err_set(err, -errno, 0, "%s: %s", from, strerror(errno));
	*out = calloc(1, sizeof(**out));
	if (!*out)
		return no_memory(err);
	ret = S_ISDIR(st.st_mode) ? read_directory(*out, from, err) : read_file(*out, from, err);
	if (ret) {
		ki_callables_free(*out);
		*out = NULL;
	}
	return ret;
}

void ki_callables_free(struct ki_callables *c)
{
	if (!c)
		return;
	for (size_t i = 0; i < c->strings.n; i++)
		free(c->strings.v[i]);
	ki_vec_free(&c->strings);
	ki_vec_free(&c->rows);
	free(c);
}

const struct ki_callable *ki_callables_all(const struct ki_callables *c, size_t *n)
{
	*n = c->rows.n;
	return c->rows.v;
}

/* ---- by name ---- */

static int check_usable(const struct ki_callable *f, struct ki_err *err)
{
	if (f->version != KI_INSTRUMENT_ABI)
		return ki_err_reason(err, KI_R_INSTRUMENT_VERSION, 0, "%s:%s: version %u, not %u",
				     f->module, f->name, f->version, KI_INSTRUMENT_ABI);
	if (!*f->prototype || f->nparams > KI_CALLABLE_PARAMS)
		return ki_err_set(err, -EINVAL, 0,
				  "%s:%s%s: an instrument has at most %d parameters", f->module,
				  f->name, f->prototype, KI_CALLABLE_PARAMS);
	return 0;
}

int ki_callables_find(const struct ki_callables *c, const char *name,
		      const struct ki_callable **out, struct ki_err *err)
{
	*out = NULL;
	for (size_t i = 0; i < c->rows.n; i++) {
		const struct ki_callable *f = &c->rows.v[i];

		if (f->is_value || strcmp(f->name, name) != 0)
			continue;
		if (*out)
			return ki_err_set(err, -EEXIST, 0, "instrument %s: in modules %s and %s",
					  name, (*out)->module, f->module);
		*out = f;
	}
	if (!*out)
		return ki_err_set(err, -ENOENT, 0, "no loaded module has an instrument %s", name);
	return check_usable(*out, err);
}

/* "ffffffffc0201000 t ki_instrument_NAME\t[MODULE]" */
static bool is_symbol(const char *line, const struct ki_callable *c, uint64_t *addr)
{
	char name[SYMBOL_LEN], module[SYMBOL_LEN], type;
	unsigned long long at;

	if (sscanf(line, "%llx %c %255s [%255[^]]", &at, &type, name, module) != 4 ||
	    strcmp(module, c->module) != 0 || strncmp(name, "ki_instrument_", 14) != 0 ||
	    strcmp(name + 14, c->name) != 0)
		return false;
	*addr = at;
	return true;
}

int ki_callable_locate(const struct ki_callable *c, uint64_t *addr, struct ki_err *err)
{
	FILE *f = fopen("/proc/kallsyms", "re");
	char line[2 * SYMBOL_LEN + 64];

	*addr = 0;
	if (!f)
		return ki_err_set(err, -errno, 0, "/proc/kallsyms: %s", strerror(errno));
	while (fgets(line, sizeof(line), f))
		if (is_symbol(line, c, addr))
			break;
	fclose(f);
	if (*addr)
		return 0;
	return ki_err_reason(err, KI_R_NO_SYMBOLS, 0, "instrument %s of module %s", c->name,
			     c->module);
}
