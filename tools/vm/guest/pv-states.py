#!/usr/bin/python3 -B
# SPDX-License-Identifier: GPL-2.0
"""SQD and SQE, through librxe: pv-states.py DEVICE GID-INDEX"""
import sys

from pv import AHAttr, Dev, GlobalRoute, MR, QKEY, SendWR, e, equal, refused, test
from pyverbs.addr import AH

dev = Dev(sys.argv[1], int(sys.argv[2]))
OK, FLUSHED = e.IBV_WC_SUCCESS, e.IBV_WC_WR_FLUSH_ERR
DRAINED = e.IBV_EVENT_SQ_DRAINED


def state(qp):
    attr, _ = qp.query(e.IBV_QP_STATE)
    return attr.qp_state, attr.sq_draining


def pair(qp_type=e.IBV_QPT_RC):
    a, b = dev.qp(qp_type), dev.qp(qp_type)
    dev.connect(a, b)
    return a, b


def sqd_when_idle():
    for notify in (0, 1):
        a, b = pair()
        dev.to_state(a, e.IBV_QPS_SQD, en_sqd_async_notify=notify)
        equal(dev.events(), [DRAINED] * notify)
        equal(state(a), (e.IBV_QPS_SQD, 0))


def sqd_drains():
    a, b = pair()
    # nobody is ready to receive: begun, and not complete
    dev.send(a, 1)
    equal(dev.events(), [])
    dev.to_state(a, e.IBV_QPS_SQD, en_sqd_async_notify=1)
    dev.send(a, 3)
    equal(dev.events(), [])
    equal(state(a), (e.IBV_QPS_SQD, 1))
    # packets under way were made for the path that there is
    attr = dev.attr(a, b)
    refused(a.modify, attr, e.IBV_QP_AV)
    for i in range(2):
        b.post_recv(dev.recv_wr(10 + i))
    equal(sorted(dev.wait(2)), [(1, OK), (10, OK)])
    equal(dev.events(), [DRAINED])
    equal(state(a), (e.IBV_QPS_SQD, 0))
    dev.none()
    a.modify(attr, e.IBV_QP_AV)
    # receiving goes on meanwhile
    a.post_recv(dev.recv_wr(20))
    dev.send(b, 21)
    equal(sorted(dev.wait(2)), [(20, OK), (21, OK)])
    dev.to_state(a, e.IBV_QPS_RTS)
    equal(sorted(dev.wait(2)), [(3, OK), (11, OK)])
    equal(dev.events(), [])


def sqd_and_a_long_message():
    a, b = pair()
    mr = MR(dev.pd, 2 ** 24, e.IBV_ACCESS_LOCAL_WRITE | e.IBV_ACCESS_REMOTE_WRITE)
    for i in range(20):
        wr = SendWR(wr_id=i, opcode=e.IBV_WR_RDMA_WRITE, num_sge=1,
                    sg=[dev.sge(0, 2 ** 22, mr)], send_flags=e.IBV_SEND_SIGNALED)
        wr.set_wr_rdma(mr.rkey, mr.buf + 2 ** 23)
        a.post_send(wr)
    dev.to_state(a, e.IBV_QPS_SQD, en_sqd_async_notify=1)
    equal(dev.events(2000), [DRAINED])
    got = []
    while (found := dev.cq.poll(100)[1]):
        got += [(wc.wr_id, wc.status) for wc in found]
    equal(dev.events(), [])
    dev.none()
    dev.to_state(a, e.IBV_QPS_RTS)
    got += dev.wait(20 - len(got), seconds=60) if len(got) < 20 else []
    equal(got, [(i, OK) for i in range(20)])


def sqd_to_error():
    a, b = pair()
    dev.send(a, 1)
    dev.to_state(a, e.IBV_QPS_SQD, en_sqd_async_notify=1)
    dev.send(a, 2)
    dev.to_state(a, e.IBV_QPS_ERR)
    equal(dev.wait(2), [(1, FLUSHED), (2, FLUSHED)])
    equal(dev.events(), [])


def recovers(a, b, send):
    """a's send with a wrong key fails: sends flush, receives go on, and RTS heals."""
    for i in range(4):
        b.post_recv(dev.recv_wr(10 + i))
        a.post_recv(dev.recv_wr(20 + i))
    send(a, b, 1)
    equal(sorted(dev.wait(2)), [(1, OK), (10, OK)])
    send(a, b, 2, mr=dev.stranger())
    send(a, b, 3)
    equal(dev.wait(2), [(2, e.IBV_WC_LOC_PROT_ERR), (3, FLUSHED)])
    equal(state(a)[0], e.IBV_QPS_SQE)
    send(a, b, 4)
    equal(dev.wait(1), [(4, FLUSHED)])
    send(b, a, 5)
    equal(sorted(dev.wait(2)), [(5, OK), (20, OK)])
    dev.to_state(a, e.IBV_QPS_RTS, cur=e.IBV_QPS_SQE)
    send(a, b, 6)
    equal(sorted(dev.wait(2)), [(6, OK), (11, OK)])
    equal(dev.events(), [])


def sqe_of_uc():
    a, b = pair(e.IBV_QPT_UC)
    recovers(a, b, lambda frm, to, wr_id, mr=None: dev.send(frm, wr_id, 3000 if mr else 100,
                                                            mr=mr))


def sqe_of_ud():
    a, b = pair(e.IBV_QPT_UD)
    ah = AH(dev.pd, attr=AHAttr(port_num=1, is_global=1,
                                gr=GlobalRoute(dgid=dev.gid, sgid_index=dev.gid_index)))

    def send(frm, to, wr_id, mr=None):
        wr = SendWR(wr_id=wr_id, num_sge=1, sg=[dev.sge(0, 100, mr)],
                    send_flags=e.IBV_SEND_SIGNALED)
        wr.set_wr_ud(ah, to.qp_num, QKEY)
        frm.post_send(wr)

    recovers(a, b, send)
    # longer than a datagram may be
    wr = SendWR(wr_id=7, num_sge=1, sg=[dev.sge(0, 5000)], send_flags=e.IBV_SEND_SIGNALED)
    wr.set_wr_ud(ah, b.qp_num, QKEY)
    a.post_send(wr)
    equal(dev.wait(1), [(7, e.IBV_WC_LOC_LEN_ERR)])
    equal(state(a)[0], e.IBV_QPS_SQE)


for fn in (sqd_when_idle, sqd_drains, sqd_and_a_long_message, sqd_to_error, sqe_of_uc, sqe_of_ud):
    test("states: " + fn.__name__.replace("_", " "), fn, dev)
