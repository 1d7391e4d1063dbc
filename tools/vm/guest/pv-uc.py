#!/usr/bin/python3 -B
# SPDX-License-Identifier: GPL-2.0
"""UC queue pairs, through librxe: pv-uc.py DEVICE GID-INDEX"""
import random
import sys

from pv import Dev, SendWR, e, equal, test

dev = Dev(sys.argv[1], int(sys.argv[2]))
OK = e.IBV_WC_SUCCESS
UC = e.IBV_QPT_UC
HALF = 32768


def pair(**more):
    a, b = dev.qp(UC), dev.qp(UC)
    dev.connect(a, b, **more)
    return a, b


def put(data, offset=0):
    dev.mr.write(data, len(data), offset)


def get(length, offset=HALF):
    return dev.mr.read(length, offset)


def write(qp, length, rkey=None, opcode=e.IBV_WR_RDMA_WRITE, wr_id=100, address=None):
    wr = SendWR(wr_id=wr_id, opcode=opcode, num_sge=1, sg=[dev.sge(0, length)],
                send_flags=e.IBV_SEND_SIGNALED, imm_data=7)
    wr.set_wr_rdma(dev.mr.rkey if rkey is None else rkey, address or dev.mr.buf + HALF)
    qp.post_send(wr)


def sends_and_writes():
    a, b = pair()
    for length in (0, 1, 1023, 1024, 1025, 5000, 30000):
        data = bytes(random.randrange(256) for _ in range(length))
        put(data)
        put(bytes(length), HALF)
        b.post_recv(dev.recv_wr(1, HALF, 30000))
        dev.send(a, 100, length)
        equal(sorted(dev.wait(2)), [(1, OK), (100, OK)])
        equal(get(length), data)
        put(bytes(length), HALF)
        b.post_recv(dev.recv_wr(2, 0, 1))
        write(a, length, opcode=e.IBV_WR_RDMA_WRITE_WITH_IMM)
        equal(sorted(dev.wait(2)), [(2, OK), (100, OK)])
        equal(get(length), data)
    write(a, 1000)
    equal(dev.wait(1), [(100, OK)])


def no_receive_is_a_loss():
    a, b = pair()
    for i in range(5):
        dev.send(a, 100, 3000)
    equal(dev.wait(5), [(100, OK)] * 5)
    b.post_recv(dev.recv_wr(1, HALF, 4000))
    dev.send(a, 100, 2000)
    equal(sorted(dev.wait(2)), [(1, OK), (100, OK)])
    equal(dev.events(50), [])


def what_is_not_allowed_is_dropped():
    a, b = pair()
    b.post_recv(dev.recv_wr(1, HALF, 2000))
    # too long for the receive, a key that is none, beyond the region
    dev.send(a, 100, 5000)
    write(a, 5000, rkey=dev.mr.rkey ^ 0x5500)
    write(a, 5000, address=dev.mr.buf + 65536 - 4999)
    write(a, 5000, rkey=1, opcode=e.IBV_WR_RDMA_WRITE_WITH_IMM)
    equal(dev.wait(4), [(100, OK)] * 4)
    dev.none()
    # both go on, with the receive that was there
    dev.send(a, 101, 1500)
    equal(sorted(dev.wait(2)), [(1, OK), (101, OK)])


def own_fault_is_an_error():
    a, b = pair()
    b.post_recv(dev.recv_wr(1, mr=dev.stranger()))
    b.post_recv(dev.recv_wr(2))
    dev.send(a, 100)
    equal(sorted(dev.wait(3)), [(1, e.IBV_WC_LOC_PROT_ERR), (2, e.IBV_WC_WR_FLUSH_ERR), (100, OK)])
    equal(b.query(e.IBV_QP_STATE)[0].qp_state, e.IBV_QPS_ERR)


def no_reads():
    a, b = pair()
    write(a, 100, opcode=e.IBV_WR_RDMA_READ)
    equal(dev.wait(1), [(100, e.IBV_WC_LOC_QP_OP_ERR)])


for fn in (sends_and_writes, no_receive_is_a_loss, what_is_not_allowed_is_dropped,
           own_fault_is_an_error, no_reads):
    test("UC: " + fn.__name__.replace("_", " "), fn, dev)
