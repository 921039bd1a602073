/* SPDX-License-Identifier: LGPL-2.1-only OR BSD-2-Clause */
#include "target/marks.h"

#include <string.h>

#define KI_RESERVED_NEED(need, how, when)
#define KI_RESERVED_RANGE(start, end, reason, need) start, end,
#define KI_RESERVED_FUNCTION(name, reason, need)
static const char *const names[KI_MARK_COUNT] = {
	"_stext",
	"_etext",
	"__init_begin",
	"__init_end",
	"__start___ex_table",
	"__stop___ex_table",
	"__start___bug_table",
	"__stop___bug_table",
	"__start___jump_table",
	"__stop___jump_table",
	"__start_static_call_sites",
	"__stop_static_call_sites",
	"__start_kprobe_blacklist",
	"__stop_kprobe_blacklist",
#include "uapi/kerninst_reserved.def"
};

void ki_marks_note(struct ki_marks *m, const char *name, uint64_t addr)
{
	for (int i = 0; i < KI_MARK_COUNT && names[i]; i++) {
		if (m->known[i] || strcmp(names[i], name))
			continue;
		m->addr[i] = addr;
		m->known[i] = true;
		return;
	}
}

bool ki_marks_pair(const struct ki_marks *m, int first, uint64_t *start, uint64_t *end)
{
	if (!m->known[first] || !m->known[first + 1] || m->addr[first] > m->addr[first + 1])
		return false;
	*start = m->addr[first];
	*end = m->addr[first + 1];
	return true;
}
