/* SPDX-License-Identifier: LGPL-2.1-only OR BSD-2-Clause */
/*
 * An ELF image, for the files that make one: image.c (sections), image_symbols.c,
 * image_rela.c and image_reserved.c.
 */
#ifndef KI_TARGET_IMAGE_H
#define KI_TARGET_IMAGE_H

#include <pthread.h>

#include "target/elf.h"
#include "target/marks.h"
#include "target/priv.h"

/* A loaded section, or the part of it that no other lies on. */
struct ki_piece {
	uint64_t addr, len;
	uint8_t *bytes; /* owned; NULL: zeros, or not yet read */
	uint64_t off;	/* in the file, of what is not yet read; 0 */
};

typedef ki_vec(struct ki_piece) ki_pieces;

/* Text that a section's name tells about. */
struct ki_image_kind {
	uint64_t start, end;
	unsigned int reason;
};

/* A table of the kernel's: its number in image_reserved.c, and where it stands. */
struct ki_image_table {
	uint64_t start, end;
	size_t table;
};

/* Both in order of address and without overlap. Piece i of text is the target's range i. */
struct ki_image {
	ki_pieces text, data;
	int fd;		      /* to read data when it is asked for; -1: nothing is left to read */
	pthread_mutex_t lock; /* of that */
	ki_vec(struct ki_image_kind) kinds;
	ki_vec(struct ki_image_table) tables;
	struct ki_marks marks;
};

/* Where a section of the file stands, and its copy (NULL: zeros, or it is empty). */
struct ki_image_place {
	uint64_t addr, len;
	uint8_t *bytes; /* not owned */
	bool text, loaded;
};

/* Both ends of a table, or another piece, of a kernel's image; false: there are none. */
bool ki_image_marks(const struct ki_target *t, enum ki_mark first, uint64_t *start, uint64_t *end);

/* While a file is read. */
struct ki_image_reader {
	struct ki_elf elf;
	struct ki_image_place *places; /* one for each section */
	struct ki_image *image;
	struct ki_target *t;
	struct ki_symbol_list list;
	Elf64_Sym *syms; /* the symbol table that is in use, or NULL */
	uint32_t *more;	 /* extended section numbers, as many as symbols, or NULL */
	uint32_t nsyms, symtab;
	uint64_t end; /* of a relocatable file's sections: externals stand after it */
};

/* A piece's bytes, read now if they have not been; NULL: zeros, or they cannot be read. */
const uint8_t *ki_image_bytes(struct ki_image *im, const struct ki_piece *p);

/* The piece that holds addr, or NULL. */
const struct ki_piece *ki_pieces_at(const ki_pieces *p, uint64_t addr);

/* The section of a symbol; 0 for an undefined one, and for special and impossible ones. */
uint32_t ki_image_section_of(const struct ki_image_reader *r, uint32_t symbol);

/* image_symbols.c: fill the list with the image's symbols, or those of a System.map. */
int ki_image_read_symbols(struct ki_image_reader *r);
int ki_image_read_map(struct ki_image_reader *r, const char *system_map);

/* An undefined symbol's address: EXTERNAL_SIZE bytes for each number in the table. */
#define KI_EXTERNAL_SIZE 16
uint64_t ki_image_external(const struct ki_image_reader *r, uint32_t symbol);

/* image_rela.c: apply the relocations of a relocatable file to the copies of its sections. */
int ki_image_relocate(struct ki_image_reader *r);
int ki_image_relocate_relative(struct ki_image_reader *r);

/* image_reserved.c: note a section that its name tells about; find the tables; make the rows. */
int ki_image_note_section(struct ki_image_reader *r, uint32_t section);
int ki_image_find_tables(struct ki_image_reader *r);
int ki_image_reserved(struct ki_target *t, struct ki_rows *rows, struct ki_err *err);

#endif
