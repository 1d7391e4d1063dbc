#!/usr/bin/python3 -B
# SPDX-License-Identifier: GPL-2.0
"""Completion queues that change their size, through librxe: pv-cq.py DEVICE GID-INDEX"""
import sys

from pv import CQ, Dev, e, equal, refused, test

dev = Dev(sys.argv[1], int(sys.argv[2]))
OK = e.IBV_WC_SUCCESS


def pair(cq):
    """a posts into its own CQ; the receives of b complete into cq."""
    a, b = dev.qp(), dev.qp(cq=cq)
    dev.connect(a, b)
    return a, b


def keeps_what_is_there():
    cq = CQ(dev.ctx, 20)
    a, b = pair(cq)
    size = cq.cqe
    for i in range(15):
        b.post_recv(dev.recv_wr(i))
        dev.send(a)
    dev.wait(15)
    equal(dev.wait(5, cq), [(i, OK) for i in range(5)])
    refused(cq.resize, 5)
    equal(cq.cqe, size)
    cq.resize(100)
    assert cq.cqe >= 100, cq.cqe
    equal(dev.wait(10, cq), [(i, OK) for i in range(5, 15)])
    dev.none(cq)
    for i in range(60):
        b.post_recv(dev.recv_wr(i))
        dev.send(a)
    equal(dev.wait(60, cq), [(i, OK) for i in range(60)])
    dev.wait(60)


def order_under_load():
    cq = CQ(dev.ctx, 100)
    a, b = pair(cq)
    got, sent, size = [], 0, 0
    for turn in range(60):
        for _ in range(40):
            b.post_recv(dev.recv_wr(sent))
            dev.send(a)
            sent += 1
        # meanwhile they arrive
        cq.resize((60, 300, 61, 1000)[turn % 4])
        got += dev.wait(20, cq)
        cq.resize((200, 90)[turn % 2])
        got += dev.wait(sent - len(got), cq)
        dev.wait(40)
    equal([x[0] for x in got], list(range(sent)))
    equal({x[1] for x in got}, {OK})


def limits():
    cq = CQ(dev.ctx, 10)
    most = dev.ctx.query_device().max_cqe
    cq.resize(most)
    equal(cq.cqe, most)
    refused(cq.resize, most + 1)
    refused(cq.resize, 0)
    equal(cq.cqe, most)


for fn in (keeps_what_is_there, order_under_load, limits):
    test("CQ resize: " + fn.__name__.replace("_", " "), fn, dev)
