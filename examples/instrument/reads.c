// SPDX-License-Identifier: GPL-2.0-only
/*
 * Who reads how much from which kind of file system: an instrument for vfs_read.
 *
 * The instrument sees the file. It counts reads by the magic number of the file system, keeps a
 * histogram of their sizes, and writes a record for each read of more than a page.
 */
#include <kerninst/instrument.h>

#include <linux/fs.h>
#include <linux/log2.h>

#define KINDS	16
#define BUCKETS 24 /* 0, 1, 2-3, 4-7, ... */

static struct kind {
	atomic_long_t magic; /* 0: not taken */
	atomic_long_t reads[BUCKETS];
} kinds[KINDS];

KI_COUNTER(reads, "calls that it has seen");
KI_COUNTER(others, "calls on kinds of file systems for which there was no room");

/* The row of a kind; a new one is taken by cmpxchg, so no lock is needed. */
static notrace struct kind *find_kind(long magic)
{
	unsigned int i;

	for (i = 0; i < KINDS; i++) {
		long have = atomic_long_read(&kinds[i].magic);

		if (!have)
			have = atomic_long_cmpxchg(&kinds[i].magic, 0, magic);
		if (!have || have == magic)
			return &kinds[i];
	}
	return NULL;
}

KI_RECORDS(read_size, "magic/hex,size/bytes");
/* clang-format off */
KI_INSTRUMENT(read_size, "sizes of reads by kind of file system; records those above a page",
	      (struct file *file, size_t size))
/* clang-format on */
{
	unsigned long magic = file_inode(file)->i_sb->s_magic;
	struct kind *k = find_kind((long)magic);
	unsigned int bucket = size ? ilog2(size) + 1 : 0;

	ki_count(reads, 1);
	if (k)
		atomic_long_inc(&k->reads[min_t(unsigned int, bucket, BUCKETS - 1)]);
	else
		ki_count(others, 1);
	if (size > PAGE_SIZE)
		ki_record(magic, size);
	return size;
}

static int show_kind(const struct kind *k, char *to, size_t size)
{
	int n = scnprintf(to, size, "magic 0x%lx:", atomic_long_read(&k->magic));
	unsigned int i;

	for (i = 0; i < BUCKETS; i++) {
		long reads = atomic_long_read(&k->reads[i]);

		if (reads)
			n += scnprintf(to + n, size - n, " %lu+:%ld", i ? 1UL << (i - 1) : 0UL,
				       reads);
	}
	return n + scnprintf(to + n, size - n, "\n");
}

static int show_sizes(char *to, size_t size)
{
	unsigned int i;
	int n = 0;

	for (i = 0; i < KINDS && atomic_long_read(&kinds[i].magic); i++)
		n += show_kind(&kinds[i], to + n, size - n);
	return n;
}
KI_SHOW(sizes, "reads by size, for each kind of file system", show_sizes);

KI_INSTRUMENT_MODULE("sizes of reads by kind of file system");
