/* SPDX-License-Identifier: GPL-2.0 */
/* static_assert: the C library has it, and the compiler takes it without a message. */
#include <assert.h>
