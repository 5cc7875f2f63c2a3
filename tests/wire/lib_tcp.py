# lib_tcp.py - one end of a TCP connection, segment by segment
#
# The test is the guest's kernel: nothing is sent, acknowledged or repeated that
# it does not ask for. Numbers are those of the wire, without an offset.

import random

from lib import *

FIN, SYN, RST, PSH, ACK, URG = 1, 2, 4, 8, 16, 32
TCP = 6
GSO_TCP4, GSO_TCP6 = 1, 4
MOD = 1 << 32
NAMES = "FSRPAU"


def names(flags):
    return "".join(n for i, n in enumerate(NAMES) if flags >> i & 1)


def segment(src, dst, flags, seq, ack=0, window=0, data=b"", mss=None, wscale=None,
            csum=None, offset=None, urgent=0):
    """TCP header and payload; src, dst: (address, port)."""
    options = b""
    if mss is not None:
        options += struct.pack("!BBH", 2, 4, mss)
    if wscale is not None:
        options += bytes((1, 3, 3, wscale))
    offset = 5 + len(options) // 4 if offset is None else offset
    head = struct.pack("!HHIIBBHHH", src[1], dst[1], seq % MOD, ack % MOD, offset << 4,
                       flags, window, 0, urgent) + options
    if csum is None:
        total = pseudo(addr(src[0]), addr(dst[0]), TCP, len(head) + len(data))
        csum = fold(head + data, total) ^ 0xFFFF
    return head[:16] + struct.pack("!H", csum) + head[18:] + data


def tcp_frame(src, dst, *args, **more):
    return frame(ip(src[0], dst[0], segment(src, dst, *args, **more), proto=TCP))


def parse_tcp(f):
    """Fields of a TCP segment of the daemon's; .ok says whether sums are right."""
    h = f.eth[f.l4:]
    sport, dport, f.seq, f.ack, off, f.tflags, f.window, csum, _ = \
        struct.unpack_from("!HHIIBBHHH", h)
    f.peer, f.me = (f.src, sport), (f.dst, dport)
    f.data = h[(off >> 4) * 4:]
    f.mss = f.wscale = None
    options = h[20:(off >> 4) * 4]
    while options and options[0]:
        if options[0] == 1:
            options = options[1:]
            continue
        if options[0] == 2:
            f.mss = struct.unpack_from("!H", options, 2)[0]
        elif options[0] == 3:
            f.wscale = options[2]
        options = options[options[1]:]
    total = pseudo(f.src_ip, f.dst_ip, TCP, len(h))
    if f.flags & NEEDS_CSUM:
        f.ok = f.ok and csum == total and f.start == f.l4 and f.offset == 16
    else:
        f.ok = f.ok and fold(h, total) == 0xFFFF
    if f.gso:
        f.ok = f.ok and f.gso == (GSO_TCP6 if ":" in f.src else GSO_TCP4) and \
            0 < f.seg < len(f.data) and OFFLOAD in ("tso", "uso")
    return f


def next_tcp(d, wait=WAIT):
    """The next TCP segment of any connection; None if none comes."""
    end = time.monotonic() + wait
    while True:
        f = d.recv(max(0.001, end - time.monotonic()))
        if not f:
            return None
        if f.proto == TCP:
            f = parse_tcp(f)
            if not f.ok:
                ok(False, "lengths and sums of a segment", f.raw[:90].hex())
            return f


def listener(address="127.0.0.1", backlog=16):
    s = socket.socket(family(address), socket.SOCK_STREAM)
    s.settimeout(WAIT)
    s.bind((address, 0))
    s.listen(backlog)
    return s


def descriptors(d):
    return len(os.listdir("/proc/%d/fd" % d.process.pid))


def descriptors_back(d, most, what="descriptors came back"):
    """At most so many, soon: the last segment is sent before its socket is closed."""
    end = time.monotonic() + WAIT
    while (n := descriptors(d)) > most and time.monotonic() < end:
        time.sleep(0.001)  # sleep: between two looks
    return ok(n <= most, what, "%d, wanted %d" % (n, most))


def cpu(d):
    """Seconds of processor time so far."""
    with open("/proc/%d/stat" % d.process.pid) as f:
        words = f.read().rpartition(")")[2].split()
    return (int(words[11]) + int(words[12])) / os.sysconf("SC_CLK_TCK")


def pattern(n, start=0):
    return random.Random(start).randbytes(n)


class Conn:
    """The guest's end; seq: what it sends next, ack: what it expects next."""

    used = 20000

    def __init__(self, d, guest, gw, port, iss=7000, window=65535, wscale=7, mss=1460):
        Conn.used += 1
        self.d, self.me, self.to = d, (guest, Conn.used), (gw, port)
        self.seq, self.ack, self.window = iss, 0, window
        self.wscale, self.mss = wscale, mss
        self.last = None  # the last segment that came
        self.edge, self.scale = 0, 0  # what it may send up to

    def send(self, flags=ACK, data=b"", seq=None, ack=None, window=None, **more):
        self.d.send(tcp_frame(
            self.me, self.to, flags, self.seq if seq is None else seq,
            (self.ack if ack is None else ack) if flags & ACK else 0,
            self.window if window is None else window, data, **more))

    def recv(self, wait=WAIT):
        """The next segment of this connection; None if none comes."""
        end = time.monotonic() + wait
        while True:
            f = next_tcp(self.d, max(0.001, end - time.monotonic()))
            if not f:
                return None
            if (f.peer, f.me) == (self.to, self.me):
                self.last = f
                self.take(f)
                return f

    def take(self, f):
        if f.tflags & SYN:
            self.scale = f.wscale or 0
        scale = 0 if f.tflags & SYN else self.scale
        if f.tflags & ACK:
            self.edge = f.ack + (f.window << scale)

    def syn(self, **more):
        self.send(SYN, mss=self.mss, wscale=self.wscale, **more)

    def open(self):
        self.syn()
        self.seq += 1
        f = self.recv()
        if not f or f.tflags != SYN | ACK or f.ack != self.seq % MOD:
            self.d.die("no SYN and ACK: %s" % (f and names(f.tflags)))
        self.ack = f.seq + 1
        self.send()
        return f

    def say(self, data, **more):
        self.send(ACK | PSH, data, **more)
        self.seq += len(data)

    def pour(self, data, size=1400):
        """All of it, as the window allows; returns what did not go."""
        while data:
            room = (self.edge - self.seq) % MOD
            room = 0 if room > MOD // 2 else room
            part = data[:min(room, size)]
            if part:
                self.say(part)
                data = data[len(part):]
            elif not self.recv():
                break
        return data

    def drain(self):
        """Forget what came, a window among it."""
        while self.recv(QUIET / 3):
            pass

    def acked(self, what=None, seq=None, wait=WAIT):
        """Wait until all that was said is acknowledged; returns the segment."""
        want = (self.seq if seq is None else seq) % MOD
        end = time.monotonic() + wait
        while True:
            f = self.recv(max(0.001, end - time.monotonic()))
            if f is None or f.ack == want:
                if what:
                    ok(f, what)
                return f

    def hear(self, n, answer=True):
        """n bytes in order, acknowledged; fewer if they do not come."""
        got = b""
        while len(got) < n:
            f = self.recv()
            if not f:
                break
            if f.data and f.seq == self.ack % MOD:
                got += f.data
                self.ack += len(f.data)
                if answer:
                    self.send()
        return got

    def quiet(self, what, wait=QUIET):
        f = self.recv(wait)
        return ok(not f, what, f and "%s seq %d ack %d, %d bytes" % (
            names(f.tflags), f.seq, f.ack, len(f.data)))

    def flagged(self, flags, what, wait=WAIT):
        """The next segment that has them; others may come before."""
        end = time.monotonic() + wait
        while True:
            f = self.recv(max(0.001, end - time.monotonic()))
            if not f or f.tflags & flags == flags:
                ok(f, what)
                return f


def pair(d, fam, **more):
    """An open connection and the host's end of it."""
    guest, gw, loopback = fam
    with listener(loopback) as s:
        c = Conn(d, guest, gw, s.getsockname()[1], **more)
        c.open()
        h = s.accept()[0]
    h.settimeout(WAIT)
    c.drain()
    return c, h


def read(h, n):
    """n bytes of the host's end, fewer at its end."""
    got = b""
    try:
        while len(got) < n:
            part = h.recv(n - len(got))
            if not part:
                break
            got += part
    except OSError:
        pass
    return got


def ends(h):
    """What the host's end says next: 'FIN', 'RST', 'silence', or bytes."""
    try:
        return h.recv(65536) or "FIN"
    except ConnectionResetError:
        return "RST"
    except OSError:
        return "silence"
