/* SPDX-License-Identifier: LGPL-2.1-only OR BSD-2-Clause */
/*
 * System.map, as nm -n writes it:
 *
 *	ffffffff81000000 T _stext
 *
 * Anything else is refused with its line, rather than skipped: a file that is not a map, or the
 * half of one, would otherwise name functions wrongly, and nobody would notice.
 */
#include "target/sysmap.h"

#include <fcntl.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "target/elf.h"

#define SIZE_MAX_MAP (64u << 20)
#define NAME_MAX_MAP 1023

struct map {
	const char *path;
	struct ki_symbol_list *list;
	struct ki_marks *marks;
	struct ki_err *err;
	uint64_t last;
	size_t line;
};

static int bad(const struct map *m, const char *what)
{
	return ki_err_set(m->err, -EINVAL, 0,
			  "%s:%zu: %s: give the System.map that belongs to the kernel", m->path,
			  m->line, what);
}

static int digit(char c)
{
	if (c >= '0' && c <= '9')
		return c - '0';
	if (c >= 'a' && c <= 'f')
		return c - 'a' + 10;
	return -1;
}

/* "ffffffff81000000 T name": where the name begins, or NULL. */
static const char *parse(const char *p, const char *end, uint64_t *addr, char *type)
{
	int digits = 0;

	for (*addr = 0; p < end && digits < 16 && digit(*p) >= 0; p++, digits++)
		*addr = *addr << 4 | (uint64_t)digit(*p);
	if (!digits || end - p < 4 || p[0] != ' ' || p[2] != ' ')
		return NULL;
	*type = p[1];
	if (*type != '?' && ((*type | 0x20) < 'a' || (*type | 0x20) > 'z'))
		return NULL;
	p += 3;
	for (const char *c = p; c < end; c++)
		if (*c <= ' ' || *c > '~')
			return NULL;
	return p;
}

static int add_line(struct map *m, const char *p, const char *end)
{
	char copy[NAME_MAX_MAP + 1], type;
	const char *name;
	uint64_t addr;
	size_t len;

	name = parse(p, end, &addr, &type);
	if (!name)
		return bad(m, "not an address, a type and a name");
	len = (size_t)(end - name);
	if (len > NAME_MAX_MAP)
		return bad(m, "a name that no kernel has");
	if (addr < m->last)
		return bad(m, "an address below the one before");
	m->last = addr;
	memcpy(copy, name, len);
	copy[len] = 0;
	ki_marks_note(m->marks, copy, addr);
	if (!strchr("tTwW", type))
		return 0;
	if (ki_symbol_list_add(m->list, addr, name, len, 0))
		return ki_err_set(m->err, -ENOMEM, 0, "%s: out of memory", m->path);
	return 0;
}

static int add_lines(struct map *m, const char *p, const char *end)
{
	int ret = 0;

	while (!ret && p < end) {
		const char *nl = memchr(p, '\n', (size_t)(end - p));

		m->line++;
		ret = nl ? add_line(m, p, nl) : bad(m, "the file ends within a line");
		p = nl ? nl + 1 : end;
	}
	if (!ret && !m->line) {
		m->line = 1;
		ret = bad(m, "the file is empty");
	}
	return ret;
}

static int read_file(struct map *m, int fd)
{
	struct stat st;
	char *text;
	int ret;

	if (fstat(fd, &st) || !S_ISREG(st.st_mode))
		return ki_err_set(m->err, -EINVAL, 0, "%s: not a regular file", m->path);
	if (st.st_size > SIZE_MAX_MAP)
		return ki_err_set(m->err, -EFBIG, 0, "%s: larger than any System.map", m->path);
	text = malloc((size_t)st.st_size + 1);
	if (!text)
		return ki_err_set(m->err, -ENOMEM, 0, "%s: out of memory", m->path);
	ret = ki_pread(fd, text, (size_t)st.st_size, 0);
	if (ret)
		ki_err_set(m->err, ret, 0, "%s: %s", m->path, strerror(-ret));
	else
		ret = add_lines(m, text, text + st.st_size);
	free(text);
	return ret;
}

int ki_sysmap_read(const char *path, struct ki_symbol_list *list, struct ki_marks *marks,
		   struct ki_err *err)
{
	struct map m = {.path = path, .list = list, .marks = marks, .err = err};
	int ret, fd = open(path, O_RDONLY | O_CLOEXEC | O_NONBLOCK);
	uint32_t empty;

	if (fd < 0)
		return ki_err_set(err, -errno, 0, "%s: %s", path, strerror(errno));
	if (!list->strings.n && ki_symbol_list_string(list, "", 0, &empty))
		ret = ki_err_set(err, -ENOMEM, 0, "%s: out of memory", path);
	else
		ret = read_file(&m, fd);
	close(fd);
	return ret;
}
