/* SPDX-License-Identifier: GPL-2.0 */
/*
 * Protection domains.
 */
#ifndef _WARD_VERBS_PD_H
#define _WARD_VERBS_PD_H

#include <linux/sched.h>
#include <rdma/ib_verbs.h>

/**
 * struct ward_pd - a PD, which is nothing but an identity
 * @ib:    the core's part
 * @entry: in ward_device.objects.pds
 * @pid:   process that it belongs to, 0: the kernel
 * @comm:  name of that process
 */
struct ward_pd {
	struct ib_pd		ib;
	struct list_head	entry;
	pid_t			pid;
	char			comm[TASK_COMM_LEN];
};

extern const struct ib_device_ops ward_pd_ops;

#endif /* _WARD_VERBS_PD_H */
