# SPDX-License-Identifier: GPL-2.0
"""Small things around pyverbs: one device, queue pairs connected with each other, test lines."""
import glob
import os
import select
import sys

from pyverbs.addr import AHAttr, GlobalRoute
from pyverbs.cq import CQ
from pyverbs.device import Context
from pyverbs.mr import MR
from pyverbs.pd import PD
from pyverbs.pyverbs_error import PyverbsError
from pyverbs.qp import QP, QPAttr, QPCap, QPInitAttr
from pyverbs.wr import SGE, RecvWR, SendWR
import pyverbs.enums as e

BUF = 65536
QKEY = 0x11111111


def test(name, fn, dev=None):
    """One test line, for run-tests. What an earlier test has left of dev's events does not count."""
    if dev:
        dev.events(0)
        dev.cq = CQ(dev.ctx, 1000)
    try:
        fn()
        print(f"ok {name}", flush=True)
    except Exception as ex:  # whatever it is, the next test goes on
        line = sys.exc_info()[2].tb_next
        while line and line.tb_next:
            line = line.tb_next
        print(f"not ok {name} - line {line.tb_lineno if line else '?'}: {ex!r}", flush=True)


def equal(got, want):
    if got != want:
        raise AssertionError(f"{got!r} where {want!r} should be")


def refused(fn, *args):
    """fn fails with an errno; returned is the message."""
    try:
        fn(*args)
    except PyverbsError as ex:
        return str(ex)
    raise AssertionError("was not refused")


class Dev:
    """A device, a PD, a CQ and a registered buffer."""

    def __init__(self, name, gid_index, cqe=1000):
        before = set(glob.glob("/proc/self/fd/*"))
        self.ctx = Context(name=name)
        self.gid_index = gid_index
        self.gid = self.ctx.query_gid(1, gid_index)
        self.pd = PD(self.ctx)
        self.cq = CQ(self.ctx, cqe)
        self.mr = MR(self.pd, BUF, e.IBV_ACCESS_LOCAL_WRITE | e.IBV_ACCESS_REMOTE_WRITE |
                     e.IBV_ACCESS_REMOTE_READ)
        self.strangers = []
        self.poll = select.poll()
        for path in set(glob.glob("/proc/self/fd/*")) - before:
            try:
                if "infinibandevent" in os.readlink(path):
                    os.set_blocking(int(os.path.basename(path)), False)
                    self.poll.register(int(os.path.basename(path)), select.POLLIN)
            except OSError:
                pass

    def events(self, ms=300):
        """The asynchronous events that come within some time after the last one."""
        found = []
        while self.poll.poll(ms):
            event = self.ctx.get_async_event()
            found.append(event.event_type)
            event.ack()
        return found

    def sge(self, offset=0, length=100, mr=None):
        mr = mr or self.mr
        return SGE(mr.buf + offset, length, mr.lkey)

    def recv_wr(self, wr_id=0, offset=0, length=1000, mr=None):
        return RecvWR(wr_id=wr_id, num_sge=1, sg=[self.sge(offset, length, mr)])

    def wait(self, n, cq=None, seconds=10):
        """n completions: (wr_id, status) each."""
        found = []
        cq = cq or self.cq
        for _ in range(int(seconds * 1000)):
            found += [(wc.wr_id, wc.status) for wc in cq.poll(n)[1]]
            if len(found) >= n:
                return found
            select.poll().poll(1)
        raise AssertionError(f"{len(found)} of {n} completions came: {found}")

    def stranger(self):
        """A region that belongs to another PD."""
        if not self.strangers:
            pd = PD(self.ctx)
            self.strangers = [MR(pd, 4096, e.IBV_ACCESS_LOCAL_WRITE), pd]
        return self.strangers[0]

    def none(self, cq=None):
        equal((cq or self.cq).poll(10)[0], 0)

    def qp(self, qp_type=e.IBV_QPT_RC, srq=None, pd=None, cq=None, depth=64, sig=1):
        cap = QPCap(max_send_wr=depth, max_recv_wr=0 if srq else depth, max_send_sge=1,
                    max_recv_sge=0 if srq else 1)
        return QP(pd or self.pd, QPInitAttr(qp_type=qp_type, scq=cq or self.cq,
                                            rcq=cq or self.cq, srq=srq, cap=cap,
                                            sq_sig_all=sig))

    def attr(self, qp, peer=None, **more):
        attr = QPAttr(port_num=1)
        attr.qp_access_flags = e.IBV_ACCESS_REMOTE_WRITE | e.IBV_ACCESS_REMOTE_READ
        if qp.qp_type == e.IBV_QPT_UD:
            attr.qkey = QKEY
            return attr
        attr.path_mtu = e.IBV_MTU_1024
        attr.dest_qp_num = peer.qp_num
        attr.rq_psn = attr.sq_psn = 0xfffff0
        attr.max_rd_atomic = attr.max_dest_rd_atomic = 4
        attr.min_rnr_timer, attr.timeout, attr.retry_cnt, attr.rnr_retry = 12, 14, 7, 7
        attr.ah_attr = AHAttr(port_num=1, is_global=1,
                              gr=GlobalRoute(dgid=self.gid, sgid_index=self.gid_index))
        for name, value in more.items():
            setattr(attr, name, value)
        return attr

    def connect(self, a, b, **more):
        a.to_rts(self.attr(a, b, **more))
        b.to_rts(self.attr(b, a, **more))

    def send(self, qp, wr_id=0, length=100, offset=0, opcode=e.IBV_WR_SEND, mr=None):
        wr = SendWR(wr_id=wr_id, opcode=opcode, num_sge=1, sg=[self.sge(offset, length, mr)],
                    send_flags=e.IBV_SEND_SIGNALED)
        qp.post_send(wr)

    @staticmethod
    def to_state(qp, state, cur=None, **more):
        attr = QPAttr(qp_state=state)
        mask = e.IBV_QP_STATE
        if cur is not None:
            attr.cur_qp_state = cur
            mask |= e.IBV_QP_CUR_STATE
        for name, value in more.items():
            setattr(attr, name, value)
            mask |= getattr(e, "IBV_QP_" + name.upper())
        qp.modify(attr, mask)
