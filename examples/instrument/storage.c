// SPDX-License-Identifier: GPL-2.0-only
/*
 * What comes from the disk, and what becomes of it: an instrument for submit_bio_noacct, through
 * which each request to a block device goes, and one for filemap_add_folio, which puts pages of a
 * file into the page cache.
 */
#include <kerninst/instrument.h>

#include <linux/bio.h>
#include <linux/blkdev.h>
#include <linux/fs.h>
#include <linux/pagemap.h>

KI_COUNTER(bytes_read, "bytes that were asked of disks");
KI_COUNTER(bytes_written, "bytes that were sent to disks");

KI_RECORDS(disk_io, "u32 dev/hex,sector,u32 bytes,u8 write");
/* clang-format off */
KI_INSTRUMENT(disk_io, "requests to disks: where and how much; the result is its bytes",
	      (struct bio *bio))
/* clang-format on */
{
	unsigned int bytes = bio->bi_iter.bi_size;
	bool write = op_is_write(bio_op(bio));

	if (write)
		ki_count(bytes_written, bytes);
	else
		ki_count(bytes_read, bytes);
	ki_record(bio->bi_bdev->bd_dev, bio->bi_iter.bi_sector, bytes, write);
	return bytes;
}

KI_RECORDS(page_in, "u32 dev/hex,inode,u32 bytes");
/* clang-format off */
KI_INSTRUMENT(page_in, "pages that come into the page cache: of which file; the result is its inode",
	      (struct address_space *mapping, struct folio *folio))
/* clang-format on */
{
	struct inode *inode = mapping->host;

	ki_record(inode->i_sb->s_dev, inode->i_ino, folio_size(folio));
	return inode->i_ino;
}

KI_INSTRUMENT_MODULE("requests to disks, and pages that come into the page cache");
