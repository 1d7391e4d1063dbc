// SPDX-License-Identifier: GPL-2.0
/*
 * Memory windows.
 */
#include "../verbs/device.h"
#include "pages.h"
#include "window.h"

static bool same_index(u32 a, u32 b)
{
	return !((a ^ b) >> 8);
}

/* What a window can grant */
#define RIGHTS	(IB_ACCESS_REMOTE_READ | IB_ACCESS_REMOTE_WRITE | IB_ACCESS_REMOTE_ATOMIC)
/* What programs ask for besides, and means nothing for a window */
#define IGNORED	(IB_ACCESS_LOCAL_WRITE | IB_ACCESS_OPTIONAL)

/* May the window be bound to this region? From inside its guard (F17) */
static bool region_fits(const struct ward_mr *mr, const struct ward_bind *bind,
			const struct ward_asker *who)
{
	const int writes = IB_ACCESS_REMOTE_WRITE | IB_ACCESS_REMOTE_ATOMIC;

	if (mr->key != bind->lkey || mr->kind != WARD_KIND_USER || mr->ib.pd != who->pd)
		return false;
	if (!(mr->access & IB_ACCESS_MW_BIND) || (bind->access & ~(RIGHTS | IGNORED)))
		return false;
	if ((bind->access & writes) && !(mr->access & IB_ACCESS_LOCAL_WRITE))
		return false;
	return ward_mr_in_range(mr, bind->addr, bind->length) == WARD_GRANTED;
}

/* The region below, inside whose guard the caller is now, if it fits */
static struct ward_mr *enter_region(const struct ward_bind *bind, const struct ward_asker *who)
{
	struct ward_mr *mr = ward_mr_find(who->dev, bind->lkey);

	if (!mr || !ward_guard_enter(&mr->guard))
		return NULL;
	if (region_fits(mr, bind, who))
		return mr;
	ward_mr_leave(mr);
	return NULL;
}

/**
 * ward_window_judge() - whether a bind is legal
 * @bind: the request
 * @who:  the QP
 *
 * Rule F17. Nothing changes, so a bind that is refused leaves the window as it is.
 *
 * Context: under RCU with BH off.
 * Return: the window, or NULL.
 */
struct ward_mr *ward_window_judge(const struct ward_bind *bind, const struct ward_asker *who)
{
	struct ward_mr *mw = ward_mr_find(who->dev, bind->mw_key);
	struct ward_mr *mr;

	if (!mw || !ward_mr_is_window(mw) || READ_ONCE(mw->key) != bind->mw_key ||
	    !same_index(bind->mw_key, bind->key) || mw->ib.pd != who->pd)
		return NULL;
	if (mw->kind == WARD_KIND_WINDOW_2 &&
	    (!ward_mr_is_free(mw) || !bind->length))
		return NULL;
	if (!bind->length)
		return mw;
	mr = enter_region(bind, who);
	if (!mr)
		return NULL;
	ward_mr_leave(mr);
	return mw;
}

/**
 * ward_window_bind() - bind a window, or leave one of type 1 unbound
 * @mw:   from ward_window_judge()
 * @bind: the request
 * @who:  the QP
 *
 * Context: under RCU with BH off.
 * Return: 0; -EINVAL when the region below is being deregistered, then the window is unbound; or
 * -EAGAIN when it is not in state FREE, or has another key: somebody else has bound it meanwhile.
 */
int ward_window_bind(struct ward_mr *mw, const struct ward_bind *bind,
		     const struct ward_asker *who)
{
	struct ward_registration reg = {
		.was = bind->mw_key,
		.key = bind->key,
		.access = bind->access & RIGHTS,
		.iova = bind->addr,
		.length = bind->length,
		.qpn = mw->kind == WARD_KIND_WINDOW_2 ? who->qpn : 0,
	};
	struct ward_mr *mr;
	int err = -EINVAL;

	if (!bind->length)
		return ward_mr_rename(mw, bind->mw_key, bind->key) ? 0 : -EAGAIN;
	mr = enter_region(bind, who);
	if (!mr)
		return -EINVAL;
	if (ward_mr_add_window(mr)) {
		reg.parent = mr;
		reg.offset = mr->offset + (bind->addr - mr->iova);
		reg.pages = mr->pages;
		ward_pages_get(reg.pages);
		if (ward_mr_activate(mw, &reg)) {
			ward_count(who->dev, MW_BIND);
			err = 0;
		} else {
			ward_pages_put(reg.pages);
			ward_mr_drop_window(mr);
			err = -EAGAIN;
		}
	}
	ward_mr_leave(mr);
	return err;
}
