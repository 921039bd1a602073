// SPDX-License-Identifier: GPL-2.0-only
#include "native.h"

#include <stdbool.h>
#include <stdint.h>
#include <string.h>

static void *find(const char *system_map, const char *name)
{
	return (void *)(uintptr_t)lift_symbol(system_map, name); // NOLINT
}

#define FIND(f) ((f) = (__typeof__(f))(uintptr_t)find(system_map, #f)) /* NOLINT */

/* ---- format: lines as files of /proc have them ---- */

static int (*snprintf_)(char *, size_t, const char *, ...);

static int prepare_format(const char *system_map)
{
	snprintf_ = (__typeof__(snprintf_))(uintptr_t)find(system_map, "snprintf");
	return snprintf_ ? 0 : -1;
}

static void format(unsigned int n)
{
	static const char *const names[] = {"systemd", "kworker/0:1", "bash", "postgres"};
	static const uint8_t mac[] = {0x52, 0x54, 0, 0x12, 0x34, 0x56}, ip[] = {10, 0, 2, 15};
	char line[256];

	snprintf_(line, sizeof(line), "%4d: %08X:%04X %08X:%04X %02X %5u %8d %lu %p%c\n", n & 15,
		  n * 2654435761u, n & 0xffff, n ^ 0x55aa, 80, n % 12, n % 1000, n & 7,
		  (unsigned long)n << 12, NULL, 'x');
	snprintf_(line, sizeof(line), "%-16s %pM %pI4 %*s|%#lx\n", names[n & 3], mac, ip, 12,
		  names[n >> 2 & 3], (unsigned long)n);
}

/* ---- parse: what sysfs and the command line are told ---- */

static int (*in6_pton)(const char *, int, uint8_t *, int, const char **);
static int (*in4_pton)(const char *, int, uint8_t *, int, const char **);
static int (*kstrtoull)(const char *, unsigned int, unsigned long long *);
static int (*bitmap_parselist)(const char *, unsigned long *, int);
static bool (*glob_match)(const char *, const char *);
static char *(*get_options)(const char *, int, int *);

static int prepare_parse(const char *system_map)
{
	return FIND(in6_pton) && FIND(in4_pton) && FIND(kstrtoull) && FIND(bitmap_parselist) &&
			       FIND(glob_match) && FIND(get_options)
		       ? 0
		       : -1;
}

static void parse(unsigned int n)
{
	static const char *const numbers[] = {"18446744073709551615", "0x7fff1234", "0755", "12x"};
	static const char *const lists[] = {"0-3,8,12-15", "1,3,5-63:2/4", "7", "0-127"};
	static const char *const six[] = {"fe80::5054:ff:fe12:3456", "::1",
					  "2001:db8::8:800:200c:417a"};
	unsigned long bits[4];
	unsigned long long number;
	int options[8];
	uint8_t addr[16];

	kstrtoull(numbers[n & 3], 0, &number);
	in4_pton("192.168.122.1", -1, addr, -1, NULL);
	in6_pton(six[n % 3], -1, addr, -1, NULL);
	bitmap_parselist(lists[n & 3], bits, 128);
	glob_match("*[a-f]?/net*:eth[0-9]", "pci0000:ab/net.dev:eth3");
	get_options("7,1,2,0x30-0x33,9", 8, options);
}

/* ---- tree: insertions and removals ---- */

struct rb {
	unsigned long parent;
	struct rb *right, *left;
	uint32_t key;
};

#define NODES 512
static struct rb nodes[NODES];
static struct {
	struct rb *first;
} root;
static void (*rb_insert_color)(struct rb *, void *);
static void (*rb_erase)(struct rb *, void *);
static struct rb *(*rb_next)(const struct rb *);

static void insert(struct rb *n)
{
	struct rb **link = &root.first, *parent = NULL;

	while (*link) {
		parent = *link;
		link = n->key < parent->key ? &parent->left : &parent->right;
	}
	n->parent = (unsigned long)parent;
	n->left = n->right = NULL;
	*link = n;
	rb_insert_color(n, &root);
}

static int prepare_tree(const char *system_map)
{
	if (!FIND(rb_insert_color) || !FIND(rb_erase) || !FIND(rb_next))
		return -1;
	root.first = NULL;
	for (uint32_t i = 0; i < NODES; i++) {
		nodes[i].key = i * 2654435761u;
		insert(&nodes[i]);
	}
	return 0;
}

static void tree(unsigned int n)
{
	struct rb *some = &nodes[n * 40503u % NODES];

	for (int i = 0; i < 4; i++)
		rb_next(&nodes[(n + (unsigned int)i) % NODES]);
	rb_erase(some, &root);
	some->key = some->key * 1664525u + 1013904223u;
	insert(some);
}

/* ---- pack: a kilobyte, compressed and unpacked ---- */

static int (*lzo1x_1_compress)(const uint8_t *, size_t, uint8_t *, size_t *, void *);
static int (*lzo1x_decompress_safe)(const uint8_t *, size_t, uint8_t *, size_t *);
static uint8_t page[1024];

static int prepare_pack(const char *system_map)
{
	for (size_t i = 0; i < sizeof(page); i++)
		page[i] = i % 64 < 40 ? (uint8_t) "struct task_struct *next = rq->curr;"[i % 36]
				      : (uint8_t)(i * i >> 3);
	return FIND(lzo1x_1_compress) && FIND(lzo1x_decompress_safe) ? 0 : -1;
}

static void pack(unsigned int n)
{
	static uint8_t work[65536], packed[2048], again[1024];
	size_t len = sizeof(packed), back = sizeof(again);

	page[n % sizeof(page)] = (uint8_t)n;
	lzo1x_1_compress(page, sizeof(page), packed, &len, work);
	lzo1x_decompress_safe(packed, len, again, &back);
}

const struct native_load native_loads[] = {
	{"format", "two lines by snprintf", prepare_format, format},
	{"parse", "addresses, numbers, lists of CPUs, globs", prepare_parse, parse},
	{"tree", "removal and insertion in a tree of 512", prepare_tree, tree},
	{"pack", "a kilobyte by LZO, packed and unpacked", prepare_pack, pack},
};
const size_t native_nloads = sizeof(native_loads) / sizeof(*native_loads);
