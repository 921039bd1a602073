// SPDX-License-Identifier: LGPL-2.1-only OR BSD-2-Clause
/*
 * What comes and goes in a process: files whose code it maps and unmaps (dlopen, dlclose), another
 * program that it becomes, its end. Nobody stops it for that: its mappings are looked at again.
 */
#include "target/process.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

int ki_process_list_files(const struct ki_mappings *all, ki_process_mapped *out)
{
	for (size_t i = 0; i < all->m.n; i++) {
		const struct ki_mapping *m = &all->m.v[i];
		struct ki_change row = {.addr = m->start, .len = m->end - m->start};
		const char *path = ki_mapping_path(all, m), *slash = strrchr(path, '/');

		if (!m->executable || !m->inode || !slash || !strncmp(path, "/memfd:", 7))
			continue;
		snprintf(row.module, sizeof(row.module), "%.*s", (int)strcspn(slash + 1, " "),
			 slash + 1);
		if (ki_vec_push(out, row))
			return -ENOMEM;
	}
	return 0;
}

static bool is_in(const ki_process_mapped *list, const struct ki_change *row)
{
	for (size_t i = 0; i < list->n; i++)
		if (list->v[i].addr == row->addr && !strcmp(list->v[i].module, row->module))
			return true;
	return false;
}

static int add_those(const ki_process_mapped *of, const ki_process_mapped *not_in, uint8_t kind,
		     ki_process_mapped *out)
{
	for (size_t i = 0; i < of->n; i++) {
		struct ki_change row = of->v[i];

		row.kind = kind;
		if (!is_in(not_in, &row) && ki_vec_push(out, row))
			return -ENOMEM;
	}
	return 0;
}

/*
 * Our descriptor belongs to memory that nobody has any more. The process has other memory then, or
 * none: it ends, which takes a while after that.
 */
static int gone(struct ki_process *p, ki_process_mapped *out)
{
	struct ki_change row = {.kind = KI_CHANGE_ENDED};
	char size[32] = "";

	if (!ki_process_status(p->pid, "VmSize", size, sizeof(size)) && *size)
		row.kind = KI_CHANGE_BECAME;
	p->gone = true;
	return ki_vec_push(out, row) ? -ENOMEM : 0;
}

static int compare(struct ki_process *p, ki_process_mapped *out)
{
	ki_process_mapped now = {0};
	struct ki_mappings all;
	int ret = ki_mappings_read(&all, p->pid);

	if (!ret)
		ret = ki_process_list_files(&all, &now);
	ki_mappings_free(&all);
	/* It may have become another program between the two. */
	if (!ret && !now.n)
		ret = -ESRCH;
	if (!ret)
		ret = add_those(&p->mapped, &now, KI_CHANGE_UNMAPPED, out);
	if (!ret)
		ret = add_those(&now, &p->mapped, KI_CHANGE_MAPPED, out);
	if (ret) {
		ki_vec_free(&now);
		return ret == -ESRCH ? 0 : ret;
	}
	ki_vec_free(&p->mapped);
	p->mapped = now;
	return 0;
}

int ki_target_changes(struct ki_target *t, struct ki_change **out, size_t *n, struct ki_err *err)
{
	struct ki_process *p = t->own;
	ki_process_mapped found = {0};
	uint8_t byte;
	int ret = 0;

	if (t->kind != KI_TARGET_PROCESS)
		return ki_err_set(err, -EINVAL, 0, "the target is no process");
	if (!p->gone && ki_process_peek(p->mem, p->text.v[0].start, &byte, 1) == -ESRCH)
		ret = gone(p, &found);
	else if (!p->gone)
		ret = compare(p, &found);
	if (ret) {
		ki_vec_free(&found);
		return ki_err_set(err, ret, 0, "process %d: what has changed: %s", p->pid,
				  strerror(-ret));
	}
	*out = found.v;
	*n = found.n;
	return 0;
}
