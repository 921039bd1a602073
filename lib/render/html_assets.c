// SPDX-License-Identifier: GPL-2.0-only
/*
 * What the report's pages share, as it is in the files beside this one.
 */
#include "cover_html.h"

#define EMBED(name, file)                                                                          \
	__asm__(".pushsection .rodata\n"                                                           \
		".global " #name "\n.global " #name "_end\n" #name                                 \
		": .incbin \"tools/kerninst/" file "\"\n" #name "_end: .byte 0\n"                  \
		".popsection\n")

EMBED(html_css, "cover_report.css");
EMBED(html_js, "cover_report.js");
