// SPDX-License-Identifier: LGPL-2.1-only OR BSD-2-Clause
/*
 * The tables of a module, as the kernel's own are: each word that says where something is says how
 * far it is from the word itself.
 */
#include <string.h>

#include "module/file.h"

/* Where a row of a version's table has the name; how long all of it is. */
#define VERSION_NAME 8
#define VERSION_SIZE 64

/* Code that is freed after start: no module of ours has such. */
#define JUMP_INIT	 2
#define STATIC_CALL_INIT 2

static struct ki_module_place inside(uint64_t off)
{
	return (struct ki_module_place){.inside = true, .at = off};
}

static struct ki_module_place outside(uint64_t addr)
{
	return (struct ki_module_place){.at = addr};
}

/* A word of 4 or 8 bytes: how far the place is from it. */
static int put_place(struct ki_module_file *f, enum ki_module_section s,
		     struct ki_module_place place, size_t size)
{
	const uint64_t off = f->parts[s].bytes.n;

	if (ki_module_put(f, s, NULL, size))
		return -ENOMEM;
	return ki_module_refer(f, s, size == 8 ? R_X86_64_PC64 : R_X86_64_PC32, off, &place, 0);
}

static int put_rows(struct ki_module_file *f, const struct ki_module_code *c)
{
	for (size_t i = 0; i < c->nrows; i++)
		if (put_place(f, KI_MODULE_ORC_IP, inside(c->rows[i].off), 4) ||
		    ki_module_put(f, KI_MODULE_ORC, c->rows[i].row, c->row_size))
			return -ENOMEM;
	/* After the code there is none. */
	if (!c->nrows || c->rows[c->nrows - 1].off == c->len)
		return 0;
	if (put_place(f, KI_MODULE_ORC_IP, inside(c->len), 4))
		return -ENOMEM;
	return ki_module_put(f, KI_MODULE_ORC, NULL, c->row_size);
}

static int put_faults(struct ki_module_file *f, const struct ki_module_code *c)
{
	for (size_t i = 0; i < c->nfaults; i++) {
		const struct ki_module_fault *x = &c->faults[i];

		if (put_place(f, KI_MODULE_FAULTS, inside(x->off), 4) ||
		    put_place(f, KI_MODULE_FAULTS, x->fixup, 4) ||
		    ki_module_put(f, KI_MODULE_FAULTS, &x->data, sizeof(x->data)))
			return -ENOMEM;
	}
	return 0;
}

static int put_bugs(struct ki_module_file *f, const struct ki_module_code *c)
{
	for (size_t i = 0; i < c->nbugs; i++) {
		const struct ki_module_bug *x = &c->bugs[i];
		const uint16_t rest[] = {x->line, x->flags};

		if (put_place(f, KI_MODULE_BUGS, inside(x->off), 4) ||
		    put_place(f, KI_MODULE_BUGS, outside(x->file), 4) ||
		    ki_module_put(f, KI_MODULE_BUGS, rest, sizeof(rest)))
			return -ENOMEM;
	}
	return 0;
}

static int put_jumps(struct ki_module_file *f, const struct ki_module_code *c)
{
	for (size_t i = 0; i < c->njumps; i++) {
		const struct ki_module_jump *x = &c->jumps[i];

		if (put_place(f, KI_MODULE_JUMPS, inside(x->off), 4) ||
		    put_place(f, KI_MODULE_JUMPS, x->target, 4) ||
		    put_place(f, KI_MODULE_JUMPS, outside(x->key & ~(uint64_t)JUMP_INIT), 8))
			return -ENOMEM;
	}
	return 0;
}

static int put_calls(struct ki_module_file *f, const struct ki_module_code *c)
{
	for (size_t i = 0; i < c->ncalls; i++) {
		const struct ki_module_call *x = &c->calls[i];

		if (put_place(f, KI_MODULE_CALLS, inside(x->off), 4) ||
		    put_place(f, KI_MODULE_CALLS, outside(x->key & ~(uint64_t)STATIC_CALL_INIT), 4))
			return -ENOMEM;
	}
	return 0;
}

static int put_info(struct ki_module_file *f, const char *key, const char *value)
{
	if (ki_module_put(f, KI_MODULE_INFO, key, strlen(key)))
		return -ENOMEM;
	return ki_module_put(f, KI_MODULE_INFO, value, strlen(value) + 1);
}

/* That indirect branches are safe is true of the kernel's own code as it runs, which this is of. */
static int put_said(struct ki_module_file *f, const struct ki_module_kernel *k,
		    const struct ki_module_code *c)
{
	const struct {
		const char *key, *value;
	} said[] = {
		{"license=", "GPL"},
		{"description=", "kerninst: functions of the kernel, made for one use"},
		{"depends=", ""},
		{"retpoline=", "Y"},
		{"name=", c->name},
		{"vermagic=", k->vermagic},
	};

	for (size_t i = 0; i < sizeof(said) / sizeof(*said); i++)
		if (put_info(f, said[i].key, said[i].value))
			return -ENOMEM;
	return 0;
}

static int put_version(struct ki_module_file *f, const struct ki_module_kernel *k)
{
	static const char name[] = "module_layout";
	uint8_t row[VERSION_SIZE] = {0};

	if (!k->versions)
		return 0;
	memcpy(row, &k->layout_crc, sizeof(k->layout_crc));
	memcpy(row + VERSION_NAME, name, sizeof(name));
	return ki_module_put(f, KI_MODULE_VERSIONS, row, sizeof(row));
}

/* No init and no exit: the kernel lets go of such a module when nothing uses it. */
static int put_module(struct ki_module_file *f, const struct ki_module_kernel *k,
		      const struct ki_module_code *c)
{
	if (ki_module_put(f, KI_MODULE_THIS, NULL, k->module_size))
		return -ENOMEM;
	memcpy(f->parts[KI_MODULE_THIS].bytes.v + k->name_offset, c->name, strlen(c->name));
	return ki_module_name(f, KI_MODULE_THIS, STT_OBJECT, "__this_module", 0, k->module_size);
}

static int put_names(struct ki_module_file *f, const struct ki_module_code *c)
{
	for (size_t i = 0; i < c->nfunctions; i++) {
		const struct ki_module_function *x = &c->functions[i];

		if (ki_module_name(f, KI_MODULE_TEXT, STT_FUNC, x->name, x->off, x->size))
			return -ENOMEM;
	}
	return 0;
}

static int build(struct ki_module_file *f, const struct ki_module_kernel *k,
		 const struct ki_module_code *c, struct ki_err *err)
{
	int ret = ki_module_put_code(f, c, err);

	if (ret)
		return ret;
	if (put_module(f, k, c) || put_said(f, k, c) || put_version(f, k) || put_names(f, c) ||
	    put_rows(f, c) || put_faults(f, c) || put_bugs(f, c) || put_jumps(f, c) ||
	    put_calls(f, c))
		return -ENOMEM;
	return 0;
}

int ki_module_build(const struct ki_module_kernel *k, const struct ki_module_code *c, void **out,
		    size_t *size, struct ki_err *err)
{
	struct ki_module_file f;
	int ret = ki_module_check(k, c, err);

	if (ret)
		return ret;
	ret = ki_module_file_init(&f);
	if (!ret)
		ret = build(&f, k, c, err);
	if (!ret)
		ret = ki_module_write(&f, out, size);
	ki_module_file_free(&f);
	if (ret == -ENOMEM)
		ki_err_set(err, ret, 0, "module %s: out of memory", c->name);
	return ret;
}
