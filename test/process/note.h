/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * Probes that are written into a program, as sys/sdt.h does it: a nop, and a note that says where
 * the arguments are. The notes' addresses are those of this section, which tells where it has been
 * loaded. And as sys/usdt.h of DTrace does it (USDT_): of type "1" a probe, of "2" a place that
 * asks whether it is enabled; function: a symbol, its name. USDT_TYPES: of a provider's probes,
 * which follow.
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

#define USDT_OF(type, function, provider, name, n, args)                                           \
	"990:	nop\n"                                                                               \
	"	.pushsection .note.usdt, \"?\", \"note\"\n" USDT_NOTE(                             \
		"usdt", type) "	.8byte 990b, " function "\n"                                       \
			      "	.asciz \"" provider "\"\n"                                         \
			      "	.asciz \"" name "\"\n"                                             \
			      "	.byte " n "\n"                                                     \
			      "	.asciz \"" args "\"\n"                                             \
			      "994:	.balign 4\n"                                                   \
			      "	.popsection\n"

#define USDT_TYPES_BEGIN(provider, n)                                                              \
	"	.pushsection .note.usdt, \"\", \"note\"\n" USDT_NOTE(                              \
		"prov", "1") "	.asciz \"" provider "\"\n"                                         \
			     "	.balign 4\n"                                                        \
			     "	.4byte 0x040500, 0x040500, 0x040500, 0x040500, 0x040500, " #n "\n"

#define USDT_TYPES_END                                                                             \
	"994:	.balign 4\n"                                                                         \
	"	.popsection\n"

#define USDT_NOTE(owner, type)                                                                     \
	"	.balign 4\n"                                                                             \
	"	.4byte 992f-991f, 994f-993f, " type "\n"                                           \
	"991:	.asciz \"" owner "\"\n"                                                            \
	"992:	.balign 4\n"                                                                         \
	"993:\n"

__asm__("	.section .stapsdt.base, \"a\", @progbits\n"
	"	.hidden stapsdt_base\n"
	"stapsdt_base: .space 1\n"
	"	.previous\n");

#endif
