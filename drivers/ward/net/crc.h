/* SPDX-License-Identifier: GPL-2.0 */
/*
 * The fastest CRC-32 of this kernel on this machine, found when the module is
 * loaded; ward_crc32() itself is declared in proto/icrc.h, which is its user.
 */
#ifndef _WARD_NET_CRC_H
#define _WARD_NET_CRC_H

void ward_crc_init(void);
void ward_crc_exit(void);
const char *ward_crc32_name(void);

#endif /* _WARD_NET_CRC_H */
