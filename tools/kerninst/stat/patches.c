// SPDX-License-Identifier: GPL-2.0-only
#include "stat/patches.h"

#include <sys/ioctl.h>

#include "out/json.h"

void patches_read(struct patches *p, const struct ki_target *t)
{
	p->now = (struct ki_patches){.size = sizeof(p->now)};
	p->known = !ioctl(ki_target_fd(t), KI_IOC_PATCHES, &p->now);
}

int patches_report(const struct patches *p, const struct ki_measured *r)
{
	struct ki_json j;

	if (r->table || !p->known || !p->now.groups)
		return 0;
	ki_json_init(&j, r->out);
	ki_json_open(&j, NULL, '{');
	ki_json_str(&j, "metric", "patches");
	ki_json_str(&j, "point", "all");
	ki_json_u64(&j, "value", p->now.bytes);
	ki_json_str(&j, "unit", "bytes");
	ki_json_u64(&j, "windows", p->now.windows);
	ki_json_u64(&j, "moved", p->now.groups);
	ki_json_u64(&j, "moved_bytes", p->now.group_bytes);
	ki_json_close(&j);
	return ki_json_end_line(&j);
}
