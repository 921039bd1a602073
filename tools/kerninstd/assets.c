// SPDX-License-Identifier: GPL-2.0-only
#include "assets.h"

#include <inttypes.h>
#include <stdio.h>
#include <string.h>
#include <xxhash.h>

#define EMBED(name, file)                                                                          \
	__asm__(".pushsection .rodata\n"                                                           \
		".global asset_" #name "\n.global asset_" #name "_end\n"                           \
		"asset_" #name ": .incbin \"web/dist/" file "\"\n"                                 \
		"asset_" #name "_end: .byte 0\n"                                                   \
		".popsection\n");                                                                  \
	extern const char asset_##name[], asset_##name##_end[]

EMBED(index, "index.html");
EMBED(app, "app.js");
EMBED(worker, "worker.js");
EMBED(style, "app.css");
EMBED(icon, "favicon.svg");
EMBED(licenses, "LICENSES");

static const struct asset assets[] = {
	{"/", "text/html; charset=utf-8", asset_index, asset_index_end},
	{"/app.js", "text/javascript; charset=utf-8", asset_app, asset_app_end},
	{"/worker.js", "text/javascript; charset=utf-8", asset_worker, asset_worker_end},
	{"/app.css", "text/css; charset=utf-8", asset_style, asset_style_end},
	{"/favicon.svg", "image/svg+xml", asset_icon, asset_icon_end},
	{"/LICENSES", "text/plain; charset=utf-8", asset_licenses, asset_licenses_end},
};

const struct asset *asset_find(const char *path)
{
	for (size_t i = 0; i < sizeof(assets) / sizeof(*assets); i++)
		if (!strcmp(assets[i].path, path))
			return &assets[i];
	return NULL;
}

void asset_tag(const struct asset *a, char tag[24])
{
	snprintf(tag, 24, "\"%016" PRIx64 "\"",
		 (uint64_t)XXH3_64bits(a->start, (size_t)(a->end - a->start)));
}
