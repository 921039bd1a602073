/* SPDX-License-Identifier: LGPL-2.1-only OR BSD-2-Clause */
/*
 * The corners of the lines. Between each two layers is a channel; where a line does not go
 * straight through it, it bends: it runs horizontally on one of the channel's tracks.
 *
 * Which track: of bends that lie above one another, those to the right are best stacked with the
 * one that begins furthest right on top, and those to the left the other way round: then none of
 * them crosses another. A turn from below to above is next to the layer that it turns at. A bend
 * must also be above another one when it comes down at the very place where the other goes down,
 * or the two would be drawn over each other.
 */
#include "out/layered_work.h"

#include <math.h>
#include <string.h>

#define MARGIN	    16.0
#define CHANNEL	    14.0 /* above the first track and below the last */
#define PORT_OUT    14.0 /* of the corner of a box */
#define PORT_IN	    8.0
#define PORT_GAP    12.0
#define TOUCH	    5.0
#define CAREFUL_MAX 2000 /* more bends in one channel are just stacked */

enum side { TURN_ABOVE, RIGHT, LEFT, TURN_BELOW }; /* in the order of their tracks */

struct bend {
	uint32_t channel, track;
	double x1, x2; /* where it comes to the channel's top and bottom, or both to one */
	enum side side;
	bool placed;
};

struct port {
	double x, ideal;
	uint32_t line;
};

struct router {
	struct layered *l;
	double *from, *to; /* x of each line's ends */
	struct port *ports;
	ki_vec(struct bend) bends;
	uint32_t *first_bend; /* of each line */
	uint32_t *ntracks;
	double *top, *height; /* of the layers */
	ki_vec(struct ki_spot) spots;
};

static const struct layered_item *item_of(const struct router *r, uint32_t line, uint32_t k)
{
	return &r->l->items.v[r->l->chains[line].first + k];
}

/* Where the line goes to from the box that it leaves. */
static double ideal_from(const struct router *r, uint32_t i)
{
	const struct ki_line *line = &r->l->g->lines[i];
	uint32_t n = r->l->chains[i].n;

	if (!layered_runs_down(r->l, line))
		return item_of(r, i, n - 2)->x;
	return n ? item_of(r, i, 0)->x : r->l->items.v[line->to].x;
}

static double ideal_to(const struct router *r, uint32_t i)
{
	uint32_t n = r->l->chains[i].n;

	if (!layered_runs_down(r->l, &r->l->g->lines[i]))
		return item_of(r, i, 1)->x;
	return n ? item_of(r, i, n - 1)->x : r->from[i];
}

static int by_ideal(const void *a, const void *b)
{
	const struct port *x = a, *y = b;

	if (x->ideal != y->ideal)
		return x->ideal < y->ideal ? -1 : 1;
	return (x->line > y->line) - (x->line < y->line);
}

/* Ports of one side of a box: as near to where their lines go as there is room. */
static void set_ports(const struct layered_item *box, struct port *v, uint32_t n, double inset)
{
	double left = box->x - box->width / 2 + inset, right = box->x + box->width / 2 - inset;
	double gap = fmin(PORT_GAP, (right - left) / (n > 1 ? n - 1 : 1));

	qsort(v, n, sizeof(*v), by_ideal);
	for (uint32_t i = 0; i < n; i++) {
		v[i].x = fmin(fmax(v[i].ideal, left), right);
		if (i)
			v[i].x = fmax(v[i].x, v[i - 1].x + gap);
	}
	for (uint32_t i = n; i-- > 0;) {
		v[i].x = fmin(v[i].x, right);
		if (i + 1 < n)
			v[i].x = fmin(v[i].x, v[i + 1].x - gap);
	}
}

static int find_ports(struct router *r, bool in)
{
	const struct ki_layered *g = r->l->g;
	uint32_t *first = calloc((size_t)g->nboxes + 2, sizeof(*first));

	if (!first)
		return -ENOMEM;
	for (uint32_t i = 0; i < g->nlines; i++)
		first[(in ? g->lines[i].to : g->lines[i].from) + 2]++;
	for (uint32_t b = 0; b < g->nboxes; b++)
		first[b + 2] += first[b + 1];
	for (uint32_t i = 0; i < g->nlines; i++) {
		uint32_t b = in ? g->lines[i].to : g->lines[i].from;

		r->ports[first[b + 1]++] =
			(struct port){.line = i, .ideal = in ? ideal_to(r, i) : ideal_from(r, i)};
	}
	for (uint32_t b = 0; b < g->nboxes; b++)
		set_ports(&r->l->items.v[b], r->ports + first[b], first[b + 1] - first[b],
			  in ? PORT_IN : PORT_OUT);
	for (uint32_t i = 0; i < g->nlines; i++)
		(in ? r->to : r->from)[r->ports[i].line] = r->ports[i].x;
	free(first);
	return 0;
}

static int add_bend(struct router *r, uint32_t channel, double x1, double x2, enum side side)
{
	struct bend b = {.channel = channel, .x1 = x1, .x2 = x2, .side = side};

	return ki_vec_push(&r->bends, b);
}

/* From above to below; one that goes straight on is kept too, and passed over later. */
static int add_crossing(struct router *r, uint32_t channel, double x1, double x2)
{
	return add_bend(r, channel, x1, x2, x1 < x2 ? RIGHT : LEFT);
}

static bool is_straight(const struct bend *b)
{
	return (b->side == RIGHT || b->side == LEFT) && fabs(b->x1 - b->x2) < 1;
}

static int bends_down(struct router *r, uint32_t i)
{
	const struct ki_line *line = &r->l->g->lines[i];
	uint32_t layer = r->l->items.v[line->from].layer, n = r->l->chains[i].n;
	double x = r->from[i];
	int ret = 0;

	for (uint32_t k = 0; !ret && k <= n; k++) {
		double next = k < n ? item_of(r, i, k)->x : r->to[i];

		ret = add_crossing(r, layer + k, x, next);
		x = next;
	}
	return ret;
}

static int bends_up(struct router *r, uint32_t i)
{
	const struct ki_line *line = &r->l->g->lines[i];
	uint32_t n = r->l->chains[i].n;
	uint32_t low = r->l->items.v[line->from].layer, high = r->l->items.v[line->to].layer;
	int ret = add_bend(r, low, r->from[i], item_of(r, i, n - 2)->x, TURN_ABOVE);

	for (uint32_t k = n - 2; !ret && k > 1; k--)
		ret = add_crossing(r, high + k - 2, item_of(r, i, k - 1)->x, item_of(r, i, k)->x);
	return ret ? ret : add_bend(r, high - 1, item_of(r, i, 1)->x, r->to[i], TURN_BELOW);
}

static int find_bends(struct router *r)
{
	const struct ki_layered *g = r->l->g;
	int ret = 0;

	for (uint32_t i = 0; !ret && i < g->nlines; i++) {
		r->first_bend[i] = (uint32_t)r->bends.n;
		ret = layered_runs_down(r->l, &g->lines[i]) ? bends_down(r, i) : bends_up(r, i);
	}
	r->first_bend[g->nlines] = (uint32_t)r->bends.n;
	return ret;
}

static int by_side(const void *a, const void *b, void *arg)
{
	const struct router *r = arg;
	const struct bend *x = &r->bends.v[*(const uint32_t *)a];
	const struct bend *y = &r->bends.v[*(const uint32_t *)b];
	double dx = x->x1 - y->x1;

	if (x->channel != y->channel)
		return x->channel < y->channel ? -1 : 1;
	if (x->side != y->side)
		return x->side < y->side ? -1 : 1;
	if (x->side == RIGHT)
		dx = -dx;
	if (dx != 0)
		return dx < 0 ? -1 : 1;
	return (x > y) - (x < y);
}

static bool overlap(const struct bend *a, const struct bend *b)
{
	return fmin(a->x1, a->x2) < fmax(b->x1, b->x2) + TOUCH &&
	       fmin(b->x1, b->x2) < fmax(a->x1, a->x2) + TOUCH;
}

/* Does a come down where b goes down, so that it must do so above? */
static bool must_be_above(const struct bend *a, const struct bend *b)
{
	bool top = a->side != TURN_BELOW, bottom = b->side != TURN_ABOVE;

	return a != b && top && bottom &&
	       (fabs(a->x1 - b->x2) < TOUCH ||
		(a->side == TURN_ABOVE && fabs(a->x2 - b->x2) < TOUCH) ||
		(b->side == TURN_BELOW && fabs(a->x1 - b->x1) < TOUCH));
}

static uint32_t put_on_track(struct router *r, const uint32_t *v, uint32_t n, struct bend *b)
{
	b->track = 0;
	for (uint32_t i = 0; i < n; i++) {
		const struct bend *other = &r->bends.v[v[i]];

		if (other->placed && other->track >= b->track && overlap(other, b))
			b->track = other->track + 1;
	}
	b->placed = true;
	return b->track + 1;
}

/* First what must be above it; where that goes in a circle, as it comes. */
static uint32_t place_bend(struct router *r, const uint32_t *v, uint32_t n, struct bend *b)
{
	uint32_t tracks = 0, t;

	for (uint32_t i = 0; i < n; i++) {
		struct bend *other = &r->bends.v[v[i]];

		if (other->placed || other->side == TURN_BELOW || !must_be_above(other, b))
			continue;
		t = put_on_track(r, v, n, other);
		if (t > tracks)
			tracks = t;
	}
	t = put_on_track(r, v, n, b);
	return t > tracks ? t : tracks;
}

static uint32_t fill_channel(struct router *r, const uint32_t *v, uint32_t n)
{
	uint32_t tracks = 0;

	for (uint32_t i = 0; i < n; i++) {
		struct bend *b = &r->bends.v[v[i]];
		uint32_t t;

		if (b->placed)
			continue;
		if (n > CAREFUL_MAX) {
			b->track = i;
			tracks = n;
			continue;
		}
		t = place_bend(r, v, n, b);
		if (t > tracks)
			tracks = t;
	}
	return tracks;
}

static int fill_channels(struct router *r)
{
	uint32_t n = 0, *v = malloc((r->bends.n + 1) * sizeof(*v));

	if (!v)
		return -ENOMEM;
	for (uint32_t i = 0; i < r->bends.n; i++)
		if (!is_straight(&r->bends.v[i]))
			v[n++] = i;
	qsort_r(v, n, sizeof(*v), by_side, r);
	for (uint32_t i = 0, end; i < n; i = end) {
		uint32_t channel = r->bends.v[v[i]].channel;

		for (end = i + 1; end < n && r->bends.v[v[end]].channel == channel; end++)
			;
		r->ntracks[channel] = fill_channel(r, v + i, end - i);
	}
	free(v);
	return 0;
}

/* Channels are as high as their tracks need. The outermost ones are empty but for turns. */
static void find_heights(struct router *r)
{
	struct layered *l = r->l;
	double y = MARGIN;

	for (uint32_t b = 0; b < l->g->nboxes; b++) {
		uint32_t layer = l->items.v[b].layer;

		r->height[layer] = fmax(r->height[layer], l->g->boxes[b].height);
	}
	for (uint32_t k = 0; k < l->nlayers; k++) {
		bool outer = !k || r->height[k] == 0;

		r->top[k] = y;
		y += r->height[k];
		if (r->ntracks[k])
			y += 2 * CHANNEL + (r->ntracks[k] - 1) * LAYERED_STEP;
		else if (!outer && k + 1 < l->nlayers)
			y += 2 * CHANNEL;
	}
	l->g->height = y + MARGIN;
}

static double track_y(const struct router *r, const struct bend *b)
{
	return r->top[b->channel] + r->height[b->channel] + CHANNEL + b->track * LAYERED_STEP;
}

static int add_spot(struct router *r, double x, double y)
{
	return ki_vec_push(&r->spots, (struct ki_spot){x, y});
}

static int draw_line(struct router *r, uint32_t i)
{
	struct layered *l = r->l;
	struct ki_line *line = &l->g->lines[i];
	const struct ki_box *from = &l->g->boxes[line->from];
	bool down = layered_runs_down(l, line);
	int ret;

	line->first = (uint32_t)r->spots.n;
	ret = add_spot(r, r->from[i], from->y + from->height);
	for (uint32_t k = r->first_bend[i]; !ret && k < r->first_bend[i + 1]; k++) {
		const struct bend *b = &r->bends.v[k];
		bool forth = down || b->side == TURN_ABOVE || b->side == TURN_BELOW;

		if (is_straight(b))
			continue;
		ret = add_spot(r, forth ? b->x1 : b->x2, track_y(r, b));
		if (!ret)
			ret = add_spot(r, forth ? b->x2 : b->x1, track_y(r, b));
	}
	if (!ret)
		ret = add_spot(r, r->to[i], l->g->boxes[line->to].y);
	line->n = (uint32_t)r->spots.n - line->first;
	return ret;
}

static int draw(struct router *r)
{
	struct layered *l = r->l;
	double left = HUGE_VAL, right = -HUGE_VAL;
	int ret = 0;

	for (uint32_t b = 0; b < l->g->nboxes; b++) {
		struct ki_box *box = &l->g->boxes[b];

		box->x = l->items.v[b].x - box->width / 2;
		box->y = r->top[l->items.v[b].layer];
		left = fmin(left, box->x);
		right = fmax(right, box->x + box->width);
	}
	for (uint32_t i = 0; !ret && i < l->g->nlines; i++)
		ret = draw_line(r, i);
	for (uint32_t i = 0; i < r->spots.n; i++) {
		left = fmin(left, r->spots.v[i].x);
		right = fmax(right, r->spots.v[i].x);
	}
	for (uint32_t i = 0; i < r->spots.n; i++)
		r->spots.v[i].x += MARGIN - left;
	for (uint32_t b = 0; b < l->g->nboxes; b++)
		l->g->boxes[b].x += MARGIN - left;
	l->g->width = l->g->nboxes ? right - left + 2 * MARGIN : 0;
	return ret;
}

static int route(struct router *r)
{
	int ret = find_ports(r, false);

	if (!ret)
		ret = find_ports(r, true);
	if (!ret)
		ret = find_bends(r);
	if (!ret)
		ret = fill_channels(r);
	if (ret)
		return ret;
	find_heights(r);
	return draw(r);
}

int layered_route(struct layered *l)
{
	size_t n = (size_t)l->g->nlines + 1, k = (size_t)l->nlayers + 1;
	struct router r = {.l = l};
	int ret = -ENOMEM;

	r.from = calloc(2 * n + 2 * k, sizeof(*r.from));
	r.ports = calloc(n, sizeof(*r.ports));
	r.first_bend = calloc(n, sizeof(*r.first_bend));
	r.ntracks = calloc(k, sizeof(*r.ntracks));
	if (r.from && r.ports && r.first_bend && r.ntracks) {
		r.to = r.from + n;
		r.top = r.to + n;
		r.height = r.top + k;
		ret = route(&r);
	}
	if (!ret)
		l->g->spots = r.spots.v;
	else
		ki_vec_free(&r.spots);
	free(r.from);
	free(r.ports);
	free(r.first_bend);
	free(r.ntracks);
	ki_vec_free(&r.bends);
	return ret;
}
