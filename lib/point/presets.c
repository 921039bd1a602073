// SPDX-License-Identifier: LGPL-2.1-only OR BSD-2-Clause
/*
 * The lists name functions of all supported kernels and of many drivers; what a kernel does not
 * have is passed over. Of a function that the compiler has changed and renamed the new one is
 * taken.
 */
#include "kerninst/presets.h"

#include <errno.h>
#include <stdio.h>
#include <string.h>

struct preset {
	const char *name;
	const char *const *functions; /* [MODULE:]FUNCTION; without a module: the kernel's own */
};

/* Waking up, choosing who is next, switching to it, and moving threads between CPUs. */
static const char *const scheduling[] = {
	"try_to_wake_up",	"ttwu_do_activate",
	"wake_up_new_task",	"select_task_rq_fair",
	"enqueue_task_fair",	"dequeue_task_fair",
	"check_preempt_wakeup", "check_preempt_wakeup_fair",
	"__schedule",		"pick_next_task_fair",
	"set_next_entity",	"finish_task_switch",
	"update_curr",		"task_tick_fair",
	"load_balance",		"sched_balance_rq",
	"newidle_balance",	"sched_balance_newidle",
	"hrtimer_wakeup",	NULL,
};

/* Page faults of each kind, protection, swap, and where pages come from. */
static const char *const memory[] = {
	"handle_mm_fault",    "do_anonymous_page", "do_wp_page",
	"do_swap_page",	      "do_fault_around",   "filemap_fault",
	"filemap_map_pages",  "swapin_readahead",  "swap_readpage",
	"swap_read_folio",    "do_mprotect_pkey",  "mprotect_fixup",
	"change_protection",  "mmap_region",	   "unmap_region",
	"flush_tlb_mm_range", "__alloc_pages",	   "__alloc_pages_noprof",
	"free_unref_page",    "shrink_node",	   NULL,
};

/* TCP: whom a segment is for, receiving, sending; checksums; the interrupt of the adapter. */
static const char *const network[] = {
	"tcp_v4_rcv",
	"__inet_lookup_established",
	"__inet_lookup_listener",
	"tcp_rcv_established",
	"tcp_ack",
	"tcp_sendmsg_locked",
	"tcp_write_xmit",
	"__tcp_transmit_skb",
	"__ip_queue_xmit",
	"__dev_queue_xmit",
	"ip_rcv",
	"csum_partial",
	"skb_checksum",
	"__skb_checksum_complete",
	"net_rx_action",
	"__napi_poll",
	"virtio_ring:vring_interrupt",
	"vring_interrupt",
	"virtio_net:virtnet_poll",
	"e1000:e1000_intr",
	"e1000e:e1000_intr",
	"e1000e:e1000_intr_msi",
	"igb:igb_msix_ring",
	"ixgbe:ixgbe_msix_clean_rings",
	"i40e:i40e_msix_clean_rings",
	"ice:ice_msix_clean_rings",
	"r8169:rtl8169_interrupt",
	"mlx5_core:mlx5_eq_comp_int",
	NULL,
};

static const struct preset presets[] = {
	{"scheduling", scheduling},
	{"memory", memory},
	{"network", network},
};

static const struct preset *find(const char *name)
{
	for (size_t i = 0; i < sizeof(presets) / sizeof(*presets); i++)
		if (!strcmp(name, presets[i].name))
			return &presets[i];
	return NULL;
}

bool ki_preset_is(const char *name)
{
	return find(name) != NULL;
}

/* The function as this kernel calls it; false: it has none. */
static bool spell(struct ki_target *t, const char *wanted, char *name, size_t len)
{
	static const char *const endings[] = {"", ".isra.0", ".constprop.0"};
	const char *colon = strchr(wanted, ':');
	char module[32] = "";

	if (colon)
		snprintf(module, sizeof(module), "%.*s", (int)(colon - wanted), wanted);
	for (size_t i = 0; i < sizeof(endings) / sizeof(*endings); i++) {
		snprintf(name, len, "%s%s", wanted, endings[i]);
		if (ki_target_symbol_named(t, module, colon ? name + (colon + 1 - wanted) : name,
					   NULL))
			return true;
	}
	return false;
}

int ki_preset_ask(const char *preset, struct ki_target *t, struct ki_asked *a, struct ki_err *err)
{
	const struct preset *p = find(preset);
	size_t before = a->n;
	char name[128];
	int ret = 0;

	for (size_t i = 0; !ret && p->functions[i]; i++)
		if (spell(t, p->functions[i], name, sizeof(name)))
			ret = ki_points_ask(a, name, err);
	if (!ret && a->n == before)
		return ki_err_set(err, -EINVAL, 0,
				  "--preset %s: this kernel has none of its functions", preset);
	return ret;
}
