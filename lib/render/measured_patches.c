// SPDX-License-Identifier: LGPL-2.1-only OR BSD-2-Clause
#include <sys/ioctl.h>

#include "kerninst/measured.h"
#include "out/json.h"

void ki_measured_patches_read(struct ki_measured_patches *p, const struct ki_target *t)
{
	p->now = (struct ki_patches){.size = sizeof(p->now)};
	p->known = !ioctl(ki_target_fd(t), KI_IOC_PATCHES, &p->now);
}

int ki_measured_patches_show(const struct ki_measured *r, const struct ki_measured_patches *p)
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
