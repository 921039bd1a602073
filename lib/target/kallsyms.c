/* SPDX-License-Identifier: LGPL-2.1-only OR BSD-2-Clause */
/*
 * /proc/kallsyms: a quarter of a million lines, so in large pieces and without stdio.
 *
 *	ffffffff81000000 T _stext
 *	ffffffffc0201000 t ext4_get_group	[ext4]
 */
#include "target/kallsyms.h"

#include <fcntl.h>
#include <stdio.h>
#include <string.h>
#include <unistd.h>

#define CHUNK (1u << 20)

/* Code that is there, but belongs to no module: generated, and gone at any time. */
static bool pseudo_module(const char *name, size_t len)
{
	return (len == 3 && memcmp(name, "bpf", 3) == 0) ||
	       (len >= 9 && memcmp(name, "__builtin", 9) == 0);
}

/* The driver's name for a patch (kmod/heap/names.c), which is no function of its own. */
static bool is_patch(const char *name, size_t len)
{
	static const char prefix[] = "kerninst:";

	return len >= sizeof(prefix) && memcmp(name, prefix, sizeof(prefix) - 1) == 0;
}

static bool is_called(const struct ki_kallsyms *k, size_t i, const char *name, size_t len)
{
	const char *have = k->list.strings.v + k->modules.v[i].name;

	return strncmp(have, name, len) == 0 && !have[len];
}

static struct ki_kmod *find_module(struct ki_kallsyms *k, const char *name, size_t len)
{
	size_t n = k->modules.n;

	/* A module's symbols stand together: nearly always the same as before. */
	for (size_t i = 0; i < n; i++) {
		size_t at = (k->last + i) % n;

		if (is_called(k, at, name, len)) {
			k->last = at;
			return &k->modules.v[at];
		}
	}
	return NULL;
}

static int module_of(struct ki_kallsyms *k, const char *name, size_t len, struct ki_kmod **out)
{
	struct ki_kmod m = {.low = UINT64_MAX};
	int ret;

	*out = find_module(k, name, len);
	if (*out)
		return 0;
	ret = ki_symbol_list_string(&k->list, name, len, &m.name);
	if (!ret)
		ret = ki_vec_push(&k->modules, m);
	if (!ret)
		*out = &k->modules.v[k->modules.n - 1];
	return ret;
}

struct kallsyms_line {
	uint64_t addr;
	char type;
	const char *name, *module; /* module: NULL: the kernel */
	size_t name_len, module_len;
};

static int add(struct ki_kallsyms *k, const struct kallsyms_line *l)
{
	struct ki_kmod *m;
	int ret;

	if (!l->module)
		return ki_symbol_list_add(&k->list, l->addr, l->name, l->name_len, 0);
	if (pseudo_module(l->module, l->module_len) || is_patch(l->name, l->name_len))
		return 0;
	ret = module_of(k, l->module, l->module_len, &m);
	if (ret)
		return ret;
	if (m->limit && (l->addr < m->low || l->addr >= m->limit))
		return 0;
	if (l->type == 't' || l->type == 'T') {
		m->low = l->addr < m->low ? l->addr : m->low;
		m->high = l->addr > m->high ? l->addr : m->high;
	}
	return ki_symbol_list_add(&k->list, l->addr, l->name, l->name_len, m->name);
}

/* Of a hexadecimal digit, 1 more than its value. */
static const uint8_t digit[256] = {
	['0'] = 1,  ['1'] = 2,	['2'] = 3,  ['3'] = 4,	['4'] = 5,  ['5'] = 6,
	['6'] = 7,  ['7'] = 8,	['8'] = 9,  ['9'] = 10, ['a'] = 11, ['b'] = 12,
	['c'] = 13, ['d'] = 14, ['e'] = 15, ['f'] = 16,
};

static bool text_type(char c)
{
	return c == 't' || c == 'T' || c == 'w' || c == 'W';
}

/* Half of all lines, by what stands after 16 digits. */
static bool is_data(const char *p, const char *end)
{
	return end - p > 18 && p[16] == ' ' && p[18] == ' ' && !text_type(p[17]);
}

/* One line without its newline; lines of another form are skipped. */
static int line(struct ki_kallsyms *k, const char *p, const char *end)
{
	struct kallsyms_line l = {0};
	const char *name_end;
	int digits = 0;
	uint8_t d;

	if (k->addresses && is_data(p, end))
		return 0;
	for (; p < end && (d = digit[(uint8_t)*p]) && digits < 16; p++, digits++)
		l.addr = l.addr << 4 | (d - 1u);
	if (!digits || end - p < 4 || p[0] != ' ' || p[2] != ' ')
		return 0;
	l.type = p[1];
	if (l.addr)
		k->addresses = true;
	if (!l.addr || !text_type(l.type))
		return 0;
	l.name = p + 3;
	name_end = memchr(l.name, '\t', (size_t)(end - l.name));
	if (name_end && name_end + 2 < end && name_end[1] == '[' && end[-1] == ']')
		l.module = name_end + 2;
	if (!name_end)
		name_end = end;
	if (name_end == l.name)
		return 0;
	l.name_len = (size_t)(name_end - l.name);
	l.module_len = l.module ? (size_t)(end - 1 - l.module) : 0;
	return add(k, &l);
}

/* The whole lines of buf; *left is what remains after the last of them. */
static int lines(struct ki_kallsyms *k, const char *buf, size_t len, size_t *left)
{
	const char *p = buf, *end = buf + len, *nl;

	while (p < end && (nl = memchr(p, '\n', (size_t)(end - p)))) {
		int ret = line(k, p, nl);

		if (ret)
			return ret;
		p = nl + 1;
	}
	*left = (size_t)(end - p);
	return 0;
}

static int read_all(struct ki_kallsyms *k, int fd, char *buf)
{
	size_t have = 0, left;
	ssize_t got;
	int ret;

	for (;;) {
		got = read(fd, buf + have, CHUNK - have);
		if (got < 0 && errno == EINTR)
			continue;
		if (got < 0)
			return -errno;
		if (got == 0)
			return have ? line(k, buf, buf + have) : 0;
		have += (size_t)got;
		ret = lines(k, buf, have, &left);
		if (ret)
			return ret;
		if (left == CHUNK)
			return -EINVAL;
		memmove(buf, buf + have - left, left);
		have = left;
	}
}

/* The empty name comes first. */
static int begin(struct ki_kallsyms *k)
{
	uint32_t empty;

	return k->list.strings.n ? 0 : ki_symbol_list_string(&k->list, "", 0, &empty);
}

int ki_kallsyms_modules(const char *path, struct ki_kallsyms *k)
{
	unsigned long long size, base;
	char name[64], line[1024];
	struct ki_kmod *m;
	FILE *f = fopen(path, "re");
	int ret = begin(k);

	while (!ret && f && fgets(line, sizeof(line), f)) {
		if (sscanf(line, "%63s %llu %*s %*s %*s 0x%llx", name, &size, &base) != 3 || !base)
			continue;
		ret = module_of(k, name, strlen(name), &m);
		if (ret)
			break;
		m->low = base;
		m->limit = base + size;
	}
	if (f)
		fclose(f);
	return ret;
}

int ki_kallsyms_read(const char *path, struct ki_kallsyms *out, struct ki_err *err)
{
	char *buf;
	int fd, ret;

	fd = open(path, O_RDONLY | O_CLOEXEC);
	if (fd < 0)
		return ki_err_set(err, -errno, 0, "%s: %s", path, strerror(errno));
	buf = malloc(CHUNK);
	ret = buf ? begin(out) : -ENOMEM;
	if (!ret)
		ret = read_all(out, fd, buf);
	free(buf);
	close(fd);
	if (ret)
		return ki_err_set(err, ret, 0, "%s: %s", path, strerror(-ret));
	return 0;
}

void ki_kallsyms_free(struct ki_kallsyms *k)
{
	ki_symbol_list_free(&k->list);
	ki_vec_free(&k->modules);
}
