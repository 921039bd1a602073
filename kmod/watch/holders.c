// SPDX-License-Identifier: GPL-2.0-only
/*
 * Modules that cannot go because of us are told by whom.
 *
 * A window holds the module whose text it stands in, and so does a chunk that leads into one. The
 * kernel knows the count only: lsmod would show a number, and rmmod say "in use". So the driver
 * becomes a user of the module as one that links to it is: an element of its list of users
 * (/proc/modules), and a link in its holders' directory of sysfs, which rmmod and lsmod read.
 *
 * The kernel takes such an element off when the user is unloaded, by the user's own list; ours is
 * not on that list, so it is put on and taken off here alone. What stands and goes is counted where
 * it happens, with locks of kprobes held; users are made of it at the end of the request, when only
 * ki_lock is. Until then a module whose count has become 0 is held by a reference of its own.
 */
#include <linux/lockdep.h>
#include <linux/module.h>
#include <linux/slab.h>
#include <linux/sysfs.h>

#include "compat.h"
#include "ki.h"
#include "vet/long.h"
#include "watch/who.h"

struct ki_holder {
	struct list_head list;
	struct module *mod;
	struct ki_module_use use;
	u32 n; /* windows in it, chunks that lead there */
	bool linked;
};

static LIST_HEAD(ki_holders);

static struct ki_holder *holder_of(const struct module *mod)
{
	struct ki_holder *h;

	list_for_each_entry (h, &ki_holders, list)
		if (h->mod == mod)
			return h;
	return NULL;
}

/* It has a reference of the caller's. Without memory it has no name. */
static void keep(struct module *mod)
{
	struct ki_holder *h = mod ? holder_of(mod) : NULL;

	if (!mod || mod == THIS_MODULE)
		return;
	if (!h) {
		h = kzalloc(sizeof(*h), GFP_KERNEL);
		if (!h)
			return;
		__module_get(mod);
		h->mod = mod;
		list_add_tail(&h->list, &ki_holders);
	}
	h->n++;
}

static void drop(const struct module *mod)
{
	struct ki_holder *h = mod ? holder_of(mod) : NULL;

	if (h && h->n)
		h->n--;
}

void ki_holder_window(const struct ki_win *w, bool in)
{
	lockdep_assert_held(&ki_lock);
	in ? keep(w->owner) : drop(w->owner);
}

void ki_holder_piece(const struct ki_piece *p, bool in)
{
	u32 i;

	lockdep_assert_held(&ki_lock);
	in ? keep(p->owner) : drop(p->owner);
	for (i = 0; p->more && i < p->more->nowners; i++)
		in ? keep(p->more->owner[i]) : drop(p->more->owner[i]);
}

static struct mutex *modules_lock(void)
{
	static struct mutex *m;

	if (!m)
		m = (struct mutex *)ki_symbol("module_mutex");
	return m;
}

static void link_user(struct ki_holder *h)
{
	h->use = (struct ki_module_use){.source = THIS_MODULE, .target = h->mod};
	INIT_LIST_HEAD(&h->use.target_list);
	mutex_lock(modules_lock());
	list_add(&h->use.source_list, &h->mod->source_list);
	mutex_unlock(modules_lock());
	if (sysfs_create_link(h->mod->holders_dir, &THIS_MODULE->mkobj.kobj, THIS_MODULE->name))
		pr_warn_once("kerninst: %s does not say that it is held\n", h->mod->name);
	h->linked = true;
}

static void unlink_user(struct ki_holder *h)
{
	sysfs_remove_link(h->mod->holders_dir, THIS_MODULE->name);
	mutex_lock(modules_lock());
	list_del(&h->use.source_list);
	mutex_unlock(modules_lock());
}

void ki_holders_update(void)
{
	struct ki_holder *h, *next;

	lockdep_assert_held(&ki_lock);
	list_for_each_entry_safe (h, next, &ki_holders, list) {
		if (h->n && !h->linked)
			link_user(h);
		if (h->n)
			continue;
		if (h->linked)
			unlink_user(h);
		list_del(&h->list);
		module_put(h->mod);
		kfree(h);
	}
}
