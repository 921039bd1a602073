// SPDX-License-Identifier: LGPL-2.1-only OR BSD-2-Clause
/*
 * What the report's pages share, as it is in the files beside this one.
 */
#include "render/cover_html.h"

#define EMBED(name, file)                                                                          \
	__asm__(".pushsection .rodata\n"                                                           \
		".global " #name "\n.global " #name "_end\n" #name ": .incbin \"lib/render/" file  \
		"\"\n" #name "_end: .byte 0\n"                                                     \
		".popsection\n")

EMBED(ki_html_css, "cover_report.css");
EMBED(ki_html_js, "cover_report.js");
