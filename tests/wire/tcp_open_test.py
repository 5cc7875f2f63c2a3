# How connections of the guest begin, and what is refused.
# parallel

from lib_tcp import *


def answer(d, fam):
    guest, gw, loopback = fam
    c = Conn(d, guest, gw, 0, wscale=3, mss=1200)
    with listener(loopback) as s:
        c.to = (gw, s.getsockname()[1])
        f = c.open()
        h, peer = s.accept()
    same(f.mss, 65480 - (20 if ":" in guest else 0), "%s: our MSS" % gw)
    ok(f.wscale and f.window > 10000, "and window scale")
    same(peer[0], loopback, "from loopback")
    h.send(pattern(5000))
    ok(c.hear(5000) == pattern(5000), "data comes")
    ok(len(c.last.data) <= 1200 or c.last.seg == 1200, "in segments of its MSS")
    h.close()
    c.flagged(FIN, "and the end")


def no_options(d, fam):
    c, h = pair(d, fam, wscale=None, mss=None, window=20000)
    same(c.scale, 0, "no scale is said where none was")
    h.send(pattern(30000))
    n, seg = 0, 0
    while n < 20000 - 536:
        f = c.recv()
        if not f:
            break
        n, seg = n + len(f.data), max(seg, f.seg if f.gso else len(f.data))
    same(seg, 536, "segments of the default size")
    c.quiet("no more than the window", 0.1)
    ok(n <= 20000, "%d bytes are in it" % n)
    ok(not c.pour(pattern(50000)), "50000 bytes into a window that is not scaled")
    ok(read(h, 50000) == pattern(50000), "arrive")
    h.close()


def repeated(d, fam):
    guest, gw, loopback = fam
    with listener(loopback) as s:
        c = Conn(d, guest, gw, s.getsockname()[1])
        c.syn()
        c.syn()
        c.seq += 1
        f = c.recv()
        c.syn(seq=c.seq - 1)
        g = c.recv()
        ok(g and (g.tflags, g.seq, g.ack) == (SYN | ACK, f.seq, f.ack),
           "%s: a SYN again has the same answer" % gw)
        c.ack = f.seq + 1
        c.send(ack=f.seq + 2)
        g = c.flagged(RST, "an acknowledgement of nothing sent: RST")
        same(g and g.seq, (f.seq + 2) % MOD, "by its number")
        f = c.flagged(SYN, "not answered: SYN and ACK again")
        c.send(ACK | PSH, b"first")
        h = s.accept()[0]
        same(read(h, 5), b"first", "data with the last segment of the handshake")
        h.close()


def with_data(d, fam):
    guest, gw, loopback = fam
    with listener(loopback) as s:
        c = Conn(d, guest, gw, s.getsockname()[1])
        c.syn(data=b"early")
        c.seq += 1
        f = c.recv()
        ok(f and f.tflags == SYN | ACK, "%s: a SYN with data" % gw)
        c.ack = f.seq + 1
        if f.ack == (c.seq + 5) % MOD:
            c.seq += 5
            c.send()
        else:
            same(f.ack, c.seq, "is taken without it")
            c.send(ACK | PSH, b"early")
        h = s.accept()[0]
        h.settimeout(WAIT)
        same(read(h, 5), b"early", "the data arrives once")
        h.settimeout(QUIET)
        same(ends(h), "silence", "and nothing else")
        h.close()


def refused(d, fam):
    guest, gw, loopback = fam
    with listener(loopback) as s:
        port = s.getsockname()[1]
    c = Conn(d, guest, gw, port)
    c.syn()
    f = c.recv()
    ok(f and f.tflags == RST | ACK and f.ack == c.seq + 1 and f.seq == 0,
       "%s: a closed port: RST and ACK" % gw)


def stray(d, fam):
    guest, gw, loopback = fam
    c = Conn(d, guest, gw, 9)
    n = d.drops().get("tcp_no_connection", 0)
    c.send(ACK, b"data", ack=123456)
    f = c.recv()
    ok(f and f.tflags == RST and f.seq == 123456, "%s: stray ACK: RST by its number" % gw)
    c.send(FIN, b"abc", seq=4000)
    f = c.recv()
    ok(f and f.tflags == RST | ACK and f.ack == 4004, "stray FIN: RST and ACK of all")
    c.send(SYN | ACK, ack=99)
    f = c.recv()
    ok(f and f.tflags == RST and f.seq == 99, "stray SYN and ACK")
    c.send(RST)
    c.send(RST | ACK)
    c.quiet("RST is not answered")
    same(d.drops().get("tcp_no_connection", 0) - n, 5, "all are counted")


def damaged(d, fam):
    guest, gw, loopback = fam
    c, h = pair(d, fam)
    d.drop_test("%s: a bad checksum" % gw, {"bad_checksum": 1},
                tcp_frame(c.me, c.to, ACK, c.seq, c.ack, 65535, b"evil", csum=0x1234))
    bad = [tcp_frame(c.me, c.to, ACK, c.seq, c.ack, 65535, offset=4),
           tcp_frame(c.me, c.to, ACK, c.seq, c.ack, 65535, offset=15),
           frame(ip(guest, gw, segment(c.me, c.to, ACK, c.seq)[:12], proto=TCP))]
    before = sum(d.drops().values())
    d.send(*bad)
    same(sum(d.drops().values()) - before, 3, "bad data offsets, a short one: dropped")
    c.quiet("nothing is answered")
    c.say(b"good")
    same(read(h, 4), b"good", "the connection lives")
    h.close()


def crowded(d, fam):
    """A listener whose queue is full keeps us waiting for its answer."""
    guest, gw, loopback = fam
    before = descriptors(d)
    with listener(loopback, 0) as s:
        fill = [socket.socket(family(loopback), socket.SOCK_STREAM) for _ in range(4)]
        for f in fill:
            f.setblocking(False)
            f.connect_ex(s.getsockname())
        c = Conn(d, guest, gw, s.getsockname()[1])
        c.syn()
        c.quiet("%s: no answer before the remote's" % gw)
        same(descriptors(d), before + 1, "one socket waits")
        c.send(RST, seq=c.seq + 2)
        d.barrier()
        same(descriptors(d), before + 1, "RST beside it: nothing")
        c.send(RST, seq=c.seq + 1)
        d.barrier()
        descriptors_back(d, before, "RST: given up")
        for f in fill:
            f.close()


with Daemon() as d:
    for fam in families():
        for test in answer, no_options, repeated, with_data, refused, stray, damaged, crowded:
            test(d, fam)
done()
