/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * To whom chunks, windows and patches are charged: charge.c. ki_lock held.
 */
#ifndef KI_CHARGE_H
#define KI_CHARGE_H

#include "account/limit.h"
#include "splice/job.h"

/* What the changes of a request add, and its pieces: 0, or the reason is in it. */
int __must_check ki_charge_job(struct ki_job *j) __must_hold(&ki_lock);
/* A piece that goes, charged or not. */
void ki_charge_end(struct ki_piece *p) __must_hold(&ki_lock);
/* A group has another patch, or other pieces. asker: who is charged if none was, or NULL. */
void ki_charge_group(struct ki_group *g, struct ki_account *asker) __must_hold(&ki_lock);
void ki_charge_group_end(struct ki_group *g) __must_hold(&ki_lock); /* it goes */

#endif
