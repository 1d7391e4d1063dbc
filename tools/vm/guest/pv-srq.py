#!/usr/bin/python3 -B
# SPDX-License-Identifier: GPL-2.0
"""Shared receive queues, through librxe: pv-srq.py DEVICE GID-INDEX"""
import sys

from pv import Dev, PD, MR, e, equal, refused, test
from pyverbs.srq import SRQ, SrqAttr, SrqInitAttr

dev = Dev(sys.argv[1], int(sys.argv[2]))
OK = e.IBV_WC_SUCCESS


def make(max_wr=16, pd=None):
    return SRQ(pd or dev.pd, SrqInitAttr(SrqAttr(max_wr=max_wr, max_sge=1)))


def pair(srq, **more):
    a, b = dev.qp(), dev.qp(srq=srq, **more)
    dev.connect(a, b)
    return a, b


def receives(srq, ids):
    for i in ids:
        srq.post_recv(dev.recv_wr(i))


def two_qps_share():
    srq = make()
    receives(srq, range(10))
    (a, b), (c, d) = pair(srq), pair(srq)
    for i in range(5):
        dev.send(a, 100)
        dev.send(c, 100)
    got = dev.wait(20)
    equal(sorted(x for x in got if x[0] != 100), [(i, OK) for i in range(10)])
    equal(len([x for x in got if x == (100, OK)]), 10)


def limit_once():
    srq = make()
    receives(srq, range(8))
    a, b = pair(srq)
    srq.modify(SrqAttr(srq_limit=5), e.IBV_SRQ_LIMIT)
    equal(srq.query().srq_limit, 5)
    for i in range(3):
        dev.send(a)
    dev.wait(6)
    equal(dev.events(), [])
    for i in range(4):
        dev.send(a)
    dev.wait(8)
    equal(dev.events(), [e.IBV_EVENT_SRQ_LIMIT_REACHED])
    equal(srq.query().srq_limit, 0)
    # armed above what is there: told at once, as nobody may ever take another one
    srq.modify(SrqAttr(srq_limit=5), e.IBV_SRQ_LIMIT)
    equal(dev.events(), [e.IBV_EVENT_SRQ_LIMIT_REACHED])
    refused(srq.modify, SrqAttr(srq_limit=1000), e.IBV_SRQ_LIMIT)


def last_wqe():
    srq = make()
    receives(srq, range(4))
    (a, b), (c, d) = pair(srq), pair(srq)
    dev.to_state(b, e.IBV_QPS_ERR)
    equal(dev.events(), [e.IBV_EVENT_QP_LAST_WQE_REACHED])
    dev.to_state(b, e.IBV_QPS_ERR)
    equal(dev.events(), [])
    # what it did not take is there for the other one
    dev.none()
    dev.send(c, 100)
    equal(sorted(dev.wait(2)), [(0, OK), (100, OK)])
    dev.to_state(b, e.IBV_QPS_RESET)
    b.to_init(dev.attr(b, a))
    dev.to_state(b, e.IBV_QPS_ERR)
    equal(dev.events(), [e.IBV_EVENT_QP_LAST_WQE_REACHED])


def resize():
    srq = make(16)
    a, b = pair(srq)
    depth = srq.query().max_wr
    receives(srq, range(5))
    for i in range(3):
        dev.send(a, 100)
    dev.wait(6)
    receives(srq, range(5, depth))
    left = depth - 3
    refused(srq.modify, SrqAttr(max_wr=left // 2), e.IBV_SRQ_MAX_WR)
    equal(srq.query().max_wr, depth)
    srq.modify(SrqAttr(max_wr=200), e.IBV_SRQ_MAX_WR)
    assert srq.query().max_wr >= 200
    receives(srq, range(depth, 190))
    for i in range(3, 190):
        dev.send(a, 1000)
        got = sorted(dev.wait(2))
        equal(got, [(i, OK), (1000, OK)])
    srq.modify(SrqAttr(max_wr=1), e.IBV_SRQ_MAX_WR)
    receives(srq, [7])
    dev.send(a, 1000)
    equal(sorted(dev.wait(2)), [(7, OK), (1000, OK)])
    refused(srq.modify, SrqAttr(max_wr=10 ** 6), e.IBV_SRQ_MAX_WR)
    refused(srq.modify, SrqAttr(max_wr=0), e.IBV_SRQ_MAX_WR)


def other_pd():
    pd = PD(dev.ctx)
    mr = MR(pd, 4096, e.IBV_ACCESS_LOCAL_WRITE)
    srq = make(pd=pd)
    a, b = pair(srq)
    srq.post_recv(dev.recv_wr(1, mr=mr))
    dev.send(a, 100)
    equal(sorted(dev.wait(2)), [(1, OK), (100, OK)])
    # the QP's PD does not help
    srq.post_recv(dev.recv_wr(2))
    dev.send(a, 100)
    equal(sorted(dev.wait(2)), [(2, e.IBV_WC_LOC_PROT_ERR), (100, e.IBV_WC_REM_OP_ERR)])
    dev.events()


def no_receive_waits():
    srq = make()
    a, b = pair(srq)
    dev.send(a, 100)
    # longer than all retries of the timer together
    dev.events(2000)
    dev.none()
    receives(srq, [3])
    equal(sorted(dev.wait(2)), [(3, OK), (100, OK)])


def limits():
    attr = dev.ctx.query_device()
    make(attr.max_srq_wr)
    refused(make, attr.max_srq_wr + 1)
    refused(make, 0)


for fn in (two_qps_share, limit_once, last_wqe, resize, other_pd, no_receive_waits, limits):
    test("SRQ: " + fn.__name__.replace("_", " "), fn, dev)
