/* SPDX-License-Identifier: GPL-2.0 */
/*
 * How stock user space recognises a device.
 */
#ifndef _WARD_VERBS_IDENTITY_H
#define _WARD_VERBS_IDENTITY_H

#include <rdma/ib_user_ioctl_verbs.h>

struct ward_device;

/* The driver whose user ABI we speak, and the version of it */
#define WARD_DRIVER_ID		RDMA_DRIVER_RXE
#define WARD_UVERBS_ABI		2

int ward_identity_init(void);
void ward_identity_exit(void);
void ward_identity_load_uverbs(void);
int ward_identity_make_parent(struct ward_device *dev);
void ward_identity_drop_parent(struct ward_device *dev);
void ward_identity_show(struct ward_device *dev);
void ward_identity_hide(struct ward_device *dev);

#endif /* _WARD_VERBS_IDENTITY_H */
