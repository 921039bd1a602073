/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * A probe that is written into a program, as sys/sdt.h does it: a nop, and a note that says where
 * the arguments are. The notes' addresses are those of this section, which tells where it has been
 * loaded.
 */
#ifndef TEST_PROCESS_NOTE_H
#define TEST_PROCESS_NOTE_H

#define NOTE_OF(provider, name, semaphore, args)                                                   \
	"990:	nop\n"                                                                               \
	"	.pushsection .note.stapsdt, \"?\", \"note\"\n"                                           \
	"	.balign 4\n"                                                                             \
	"	.4byte 992f-991f, 994f-993f, 3\n"                                                        \
	"991:	.asciz \"stapsdt\"\n"                                                                \
	"992:	.balign 4\n"                                                                         \
	"993:	.8byte 990b, stapsdt_base, " semaphore "\n"                                        \
	"	.asciz \"" provider "\"\n"                                                         \
	"	.asciz \"" name "\"\n"                                                             \
	"	.asciz \"" args "\"\n"                                                             \
	"994:	.balign 4\n"                                                                         \
	"	.popsection\n"

__asm__("	.section .stapsdt.base, \"a\", @progbits\n"
	"	.hidden stapsdt_base\n"
	"stapsdt_base: .space 1\n"
	"	.previous\n");

#endif
