// SPDX-License-Identifier: GPL-2.0
/*
 * The trace points' one definition.
 */
#include "../mem/copy.h"
#include "../qp/qp.h"
#include "../qp/txpkt.h"
#include "../verbs/cq.h"

#define CREATE_TRACE_POINTS
#include "trace.h"
