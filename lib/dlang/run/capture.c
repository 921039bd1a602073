// SPDX-License-Identifier: LGPL-2.1-only OR BSD-2-Clause
/*
 * pcap(): packets, into the file of freopen() as tools that read captures want them, or shown.
 */
#include <stdlib.h>

#include "dlang/print/show.h"
#include "dlang/run/reading.h"
#include "dlang/words/names.h"

#define MAGIC	   0xa1b2c3d4u
#define MAJOR	   2
#define MINOR	   4
#define OF_IP	   12  /* what programs call it; it is another number */
#define RAW_IP	   101 /* in files */
#define NANOSECOND UINT64_C(1000000000)

struct file_head {
	uint32_t magic;
	uint16_t major, minor;
	uint32_t zone, digits, most, link;
};

struct packet_head {
	uint32_t seconds, microseconds, taken, length;
};

static void begin_file(struct ki_d_consumer *c, uint32_t link)
{
	const struct file_head h = {.magic = MAGIC,
				    .major = MAJOR,
				    .minor = MINOR,
				    .most = (uint32_t)c->d->set.pcapsize,
				    .link = link};

	fwrite(&h, sizeof(h), 1, c->f);
	c->d->run->captures = true;
	c->d->run->link = link;
}

/* One file has packets of one kind. */
static void leave_out(const struct ki_d_consumer *c, uint32_t link)
{
	char text[128];

	if (!c->out->warn)
		return;
	snprintf(text, sizeof(text),
		 "pcap(): the file has packets of link type %u: one of %u is left out",
		 c->d->run->link, link);
	c->out->warn(c->out->arg, text);
}

static void write_packet(struct ki_d_consumer *c, const struct ki_d_packet *p)
{
	const uint32_t link = p->kind == OF_IP ? RAW_IP : p->kind;
	const struct packet_head h = {.seconds = (uint32_t)(p->time / NANOSECOND),
				      .microseconds = (uint32_t)(p->time % NANOSECOND / 1000),
				      .taken = p->size,
				      .length = p->length};

	if (!c->d->run->captures)
		begin_file(c, link);
	if (link != c->d->run->link) {
		leave_out(c, link);
		return;
	}
	fwrite(&h, sizeof(h), 1, c->f);
	fwrite(p->bytes, 1, p->size, c->f);
}

int ki_d_capture(struct ki_d_reading *r, const struct ki_d_action *a)
{
	struct ki_d_packet p;

	if (ki_d_take_packet(r, a, &p))
		return ki_d_no_memory(r->c->err);
	if (r->c->d->run->reopened && !r->c->d->set.json)
		write_packet(r->c, &p);
	else
		ki_d_show_bytes(r->c->f, p.bytes, p.size);
	free(p.bytes);
	return 0;
}

bool ki_d_captures(const struct ki_dlang *d, const struct ki_d_clause *c)
{
	if (!d->run->reopened)
		return false;
	for (uint32_t i = c->first_batch; i < c->first_batch + c->nbatches; i++) {
		const struct ki_d_batch *b = &d->batches.v[i];

		for (uint32_t k = b->first; k < b->first + b->n; k++)
			if (d->actions.v[k].node &&
			    d->actions.v[k].node->sym.function->kind == KI_D_F_PCAP)
				return true;
	}
	return false;
}
