// SPDX-License-Identifier: GPL-2.0-only
/*
 * Helper TEXT: the path of a file, from its struct path.
 *
 * Not by the kernel's d_path(): where others rename or mount meanwhile it takes their locks, which
 * the interrupted code may hold, so a chunk would wait for ever. This reads dentries and mounts one
 * by one, as memory that may not be there, and takes no lock: from the file up to the root of the
 * current process, or of its mounts. Preemption is off meanwhile, so what it reads is not used for
 * something else. While a task renames a directory above the file the path may be one that never
 * was; it is bounded by KI_STEPS, and by what fits: then its end is cut off. What cannot be read,
 * or is deeper, is the empty string: a path without its beginning would be another one.
 *
 * Which mount a mount stands in, is in a structure that no header shows. Its beginning is declared
 * here, and looked at when the driver is loaded: from the first task's root mounts lead up to one
 * that is its own parent and stands in its own root. Else no task gets paths.
 */
#include <linux/dcache.h>
#include <linux/fs.h>
#include <linux/fs_struct.h>
#include <linux/init_task.h>
#include <linux/mount.h>
#include <linux/path.h>
#include <linux/sched.h>
#include <linux/string.h>
#include <linux/uaccess.h>

#include "data/texts.h"
#include "text/unknown.h"

#define KI_STEPS 256 /* dentries and mounts */

/* As fs/mount.h has it. */
struct ki_mount {
	struct hlist_node hash;
	struct ki_mount *parent;
	struct dentry *mountpoint;
	struct vfsmount mnt;
};

/* The path is made from its end: bytes `at` to `most` are there. */
struct ki_path_walk {
	struct path here, root;
	u8 *out;
	u32 at, most;
};

bool ki_paths_known __ro_after_init;

/* false: it cannot be read. */
#define read_it(to, from) (!get_kernel_nofault(to, from))

static struct ki_mount *mount_of(const struct path *p)
{
	return container_of(p->mnt, struct ki_mount, mnt);
}

/* So many bytes before what is there, whose end is cut off if need be. */
static u8 *room(struct ki_path_walk *w, u32 len)
{
	u32 over = len > w->at ? len - w->at : 0;

	memmove(w->out + w->at + over, w->out + w->at, w->most - w->at - over);
	w->at += over;
	w->at -= len;
	return w->out + w->at;
}

static bool prepend(struct ki_path_walk *w, const void *from, u32 len)
{
	len = min(len, w->most);
	return !copy_from_kernel_nofault(room(w, len), from, len);
}

static bool prepend_name(struct ki_path_walk *w, const struct dentry *d)
{
	struct qstr name;

	return read_it(name, &d->d_name) && prepend(w, name.name, min_t(u32, name.len, NAME_MAX));
}

/* It is in no directory any more. */
static bool prepend_deleted(struct ki_path_walk *w)
{
	static const char deleted[] = " (deleted)";
	struct hlist_bl_node **hashed;
	struct dentry *parent;

	if (!read_it(parent, &w->here.dentry->d_parent) ||
	    !read_it(hashed, &w->here.dentry->d_hash.pprev))
		return false;
	return hashed || parent == w->here.dentry || prepend(w, deleted, sizeof(deleted) - 1);
}

enum ki_step { KI_ON, KI_END, KI_NOWHERE, KI_LOST };

/* From the root of a mount to where it stands. */
static enum ki_step out_of_mount(struct ki_path_walk *w)
{
	const struct ki_mount *m = mount_of(&w->here);
	struct ki_mount *parent;

	if (!read_it(parent, &m->parent) || !read_it(w->here.dentry, &m->mountpoint))
		return KI_LOST;
	w->here.mnt = &parent->mnt;
	return parent == m ? KI_END : KI_ON;
}

static enum ki_step step(struct ki_path_walk *w)
{
	const struct dentry *d = w->here.dentry;
	struct dentry *top, *parent;

	if (w->here.dentry == w->root.dentry && w->here.mnt == w->root.mnt)
		return KI_END;
	if (!read_it(top, &w->here.mnt->mnt_root))
		return KI_LOST;
	if (d == top)
		return out_of_mount(w);
	if (!read_it(parent, &d->d_parent) || !prepend_name(w, d))
		return KI_LOST;
	if (parent == d) /* a pipe, a socket: its name, if it has one */
		return KI_NOWHERE;
	w->here.dentry = parent;
	*room(w, 1) = '/';
	return KI_ON;
}

static enum ki_step walk(struct ki_path_walk *w)
{
	enum ki_step s = KI_ON;
	u32 i;

	for (i = 0; i < KI_STEPS && s == KI_ON; i++)
		s = step(w);
	return s;
}

static bool begin(struct ki_path_walk *w, u64 how)
{
	const struct fs_struct *fs = READ_ONCE(current->fs);

	if (how & KI_PATH_MOUNT)
		return read_it(w->here.dentry, &w->here.mnt->mnt_root);
	if (!(how & KI_PATH_WHOLE) && fs && !read_it(w->root, &fs->root))
		return false;
	return prepend_deleted(w);
}

s64 ki_text_do_path(struct ki_op *o)
{
	struct ki_path_walk w = {.out = o->out, .at = o->most, .most = o->most};
	enum ki_step s;

	if (!read_it(w.here, (const struct path *)o->a))
		return KI_FAULT;
	s = begin(&w, o->b) ? walk(&w) : KI_LOST;
	if (s == KI_LOST || s == KI_ON)
		return 0;
	if (s == KI_END && w.at == w.most)
		*room(&w, 1) = '/';
	memmove(w.out, w.out + w.at, w.most - w.at);
	return w.most - w.at;
}

/* ---- when the driver is loaded ---- */

int ki_paths_init(void)
{
	u8 name[NAME_MAX + 1];
	struct ki_path_walk w = {.out = name, .most = sizeof(name), .at = sizeof(name)};
	struct dentry *root;

	task_lock(&init_task);
	if (init_task.fs)
		w.here = init_task.fs->root;
	preempt_disable();
	ki_paths_known = !ki_pretends("paths") && w.here.mnt && walk(&w) == KI_END &&
			 read_it(root, &w.here.mnt->mnt_root) && w.here.dentry == root;
	preempt_enable();
	task_unlock(&init_task);
	if (!ki_paths_known)
		pr_warn("kerninst: this kernel keeps its mounts otherwise: no paths\n");
	return 0;
}
