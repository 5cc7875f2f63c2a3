# Bytes in both directions, and what a bad link does to them.
# parallel
# limit: 120

from lib_tcp import *


def order(d, fam):
    c, h = pair(d, fam)
    data = pattern(4000)
    for a, b in (1000, 2000), (3000, 4000), (0, 1000), (0, 1500), (500, 2500), (2400, 4000), \
            (0, 4000), (1000, 1001):
        c.send(ACK, data[a:b], seq=c.seq + a)
    c.seq += 4000
    c.acked("%s: out of order, overlapping, old: acknowledged" % fam[1])
    ok(read(h, 4000) == data, "and each byte arrives once")
    c.drain()
    c.send(ACK, data[:10], seq=c.seq - 10)
    f = c.recv()
    ok(f and not f.data and f.ack == c.seq % MOD, "old bytes are answered")
    c.send(ACK, b"x", seq=c.seq + 5)
    f = c.recv()
    ok(f and not f.data and f.ack == c.seq % MOD, "early bytes as well")
    c.send(ACK, seq=c.seq - 1)
    f = c.recv()
    ok(f and f.ack == c.seq % MOD, "keep-alive without a byte")
    c.send(ACK, b"\0", seq=c.seq - 1)
    f = c.recv()
    ok(f and f.ack == c.seq % MOD, "keep-alive with one")
    c.send()
    c.quiet("a mere acknowledgement is not answered")
    c.send(ACK | URG | PSH, b"urgent", urgent=3)
    c.seq += 6
    c.acked("urgent data")
    same(read(h, 6), b"urgent", "is data in its place")
    h.close()


def gaps(d, fam):
    """What comes behind a gap is kept, up to the next gap."""
    c, h = pair(d, fam, iss=MOD - 3000)
    data = pattern(10000)
    at = c.seq

    def send(*parts):
        for i in parts:
            c.send(ACK, data[1000 * i:1000 * (i + 1)], seq=at + 1000 * i)

    send(0, 1, 3, 4, 5, 7, 8)
    c.acked("%s: up to the first gap" % fam[1], at + 2000)
    for i in range(4):
        f = c.recv()
        same(f and f.ack, (at + 2000) % MOD, "duplicate %d" % i)
    send(2)
    c.acked("repaired: up to the second", at + 6000)
    send(6)
    c.acked("which repaired is", at + 7000)
    send(9, 7, 8)
    c.acked("all", at + 10000)
    ok(read(h, 10000) == data, "each byte once")
    c.seq += 10000
    c.drain()
    c.send(ACK, b"kept", seq=c.seq + 4)
    c.send(RST, seq=c.seq)
    same(ends(h), "RST", "what is kept is no hindrance")
    h.close()


def shuffled(d, fam):
    """Any pieces of a window in any order, until all has arrived"""
    c, h = pair(d, fam)
    data, at, rng = pattern(40000), c.seq, random.Random(fam[1])
    done = n = 0
    while done < len(data) and n < 5000:
        for _ in range(rng.randrange(1, 8)):
            a = done + rng.choice((0, rng.randrange(8000)))
            c.send(ACK, data[a:a + rng.randrange(1, 1400)], seq=at + a)
            n += 1
        while f := c.recv(0.002):
            done = (f.ack - at) % MOD
    same(done, len(data), "%s: %d pieces" % (fam[1], n))
    ok(read(h, len(data)) == data, "all of it, once and in order")
    h.close()


def wrap(d, fam):
    c, h = pair(d, fam, iss=MOD - 2000)
    data = pattern(9000)
    ok(not c.pour(data), "%s: numbers wrap" % fam[1])
    c.acked("acknowledged behind it")
    ok(read(h, 9000) == data, "all is there")
    h.close()


def loss(d, fam):
    c, h = pair(d, fam)
    data = pattern(3000)
    h.send(data)
    first, f = c.recv(), None
    t = time.monotonic()
    at = first.seq
    while not f or f.seq != at:
        f = c.recv()
        if not f:
            break
    t = time.monotonic() - t
    ok(f and f.seq == at, "%s: not acknowledged: sent again" % fam[1])
    ok(f and f.data == first.data, "the same bytes")
    ok(0.15 < t < 0.6, "after the time-out: %.3f s" % t)
    ok(c.hear(3000) == data, "taken now")
    c.drain()
    c.quiet("nothing more to send again", 0.5)
    h.close()


def segments(d, fam):
    """However wide the link: a frame holds many small ones, where it may."""
    c, h = pair(d, fam, mss=60000)
    h.send(pattern(20000))
    f = c.recv()
    same(f and (len(f.data), f.gso and f.seg),
         (20000, 1440 if OFFLOAD in ("tso", "uso") else 0), "%s: segments of a frame" % fam[1])
    h.close()


def duplicates(d, fam):
    """Segments of which the first is lost: three duplicates ask for it."""
    c, h = pair(d, fam, mss=1000)
    for i in range(6):
        h.send(pattern(1000, i))
        f = c.recv()
        same(f and len(f.data), 1000, "%s: segment %d" % (fam[1], i))
    t = time.monotonic()
    for _ in range(3):
        c.send()
    f = c.recv()
    ok(f and f.seq == c.ack % MOD and f.data[:1000] == pattern(1000, 0),
       "three duplicates: sent again")
    ok(time.monotonic() - t < 0.15, "at once")
    c.drain()
    c.ack += 2000
    c.send()
    f = c.recv()
    ok(f and f.seq == c.ack % MOD and f.data[:1000] == pattern(1000, 2),
       "a partial acknowledgement: the next one")
    c.ack += 4000
    c.send()
    c.drain()
    h.send(b"new")
    same(c.hear(3), b"new", "all is well")
    h.close()


def bad_acks(d, fam):
    c, h = pair(d, fam)
    c.send(ACK, b"evil", ack=c.ack + 1)
    f = c.recv()
    ok(f and f.ack == c.seq % MOD, "%s: an ACK of what was not sent: challenge" % fam[1])
    c.send(ACK, b"evil", ack=c.ack - (65535 << 7) - 1)
    f = c.recv()
    ok(f and f.ack == c.seq % MOD, "an ACK too old: challenge")
    c.send(SYN)
    f = c.recv()
    ok(f and f.tflags == ACK and f.ack == c.seq % MOD, "SYN: challenge")
    c.send(RST, seq=c.seq + 100)
    f = c.recv()
    ok(f and f.tflags == ACK and f.ack == c.seq % MOD, "RST beside the exact number: challenge")
    c.send(RST, seq=c.seq - 100)
    c.quiet("RST out of the window: nothing")
    c.say(b"good")
    same(read(h, 4), b"good", "the connection lives, nothing of it arrived")
    c.drain()
    c.send(RST)
    same(ends(h), "RST", "the exact one ends it")
    c.send()
    c.flagged(RST, "and it is forgotten")
    h.close()


def zero_window(d, fam):
    c, h = pair(d, fam, mss=1000, wscale=0)
    c.window = 3000
    c.send()
    h.send(pattern(10000))
    got = c.hear(2000, False)
    got += c.hear(1000, False)
    c.send(window=0)
    ok(got == pattern(10000)[:3000], "%s: the window is filled" % fam[1])
    times = []
    for i in range(3):
        f = c.recv()
        if not ok(f and not f.data and f.seq == (c.ack - 1) % MOD, "probe %d" % i):
            break
        times.append(time.monotonic())
        c.send(window=0)
    ok(len(times) == 3 and times[2] - times[1] > 1.5 * (times[1] - times[0]), "ever later")
    c.send(window=0)
    c.quiet("a window of 0 again: nothing")
    c.send(window=100)
    f = c.recv()
    ok(f and len(f.data) == 100, "a silly window after that long: as much as it takes")
    c.ack += 100
    c.send(window=100)
    f = c.recv(0.1)
    ok(not f, "again: not at once")
    f = c.recv()
    ok(f and len(f.data) == 100, "but a while later")
    c.ack += 100
    c.window = 65535
    c.send()
    ok(c.hear(6800) == pattern(10000)[3200:], "an open one: the rest")
    h.close()


def lost_piece(d, fam):
    """A small piece into a small window is lost."""
    c, h = pair(d, fam, mss=1000, wscale=0)
    c.window = 3000
    c.send()
    h.send(pattern(10000))
    c.hear(3000, False)
    c.send(window=50)
    n = 0
    end = time.monotonic() + 5
    while n < 3 and time.monotonic() < end:
        f = c.recv()
        n += bool(f and len(f.data) == 50 and f.seq == c.ack % MOD)
    same(n, 3, "%s: a piece is sent until it is acknowledged" % fam[1])
    c.ack += 50
    c.send()
    ok(c.hear(6950) == pattern(10000)[3050:], "then the rest")
    h.close()


def shrunk(d, fam):
    c, h = pair(d, fam, mss=1000, wscale=0)
    h.send(pattern(3000))
    f = c.recv()
    n = 0
    c.send(window=0)
    end = time.monotonic() + 3
    while n < 3 and time.monotonic() < end:
        f = c.recv()
        if f and not f.data and f.seq == (c.ack - 1) % MOD:
            n += 1
            c.send(window=0)
    ok(n >= 2, "%s: a window taken back from bytes under way: probes" % fam[1])
    c.send(window=65535)
    ok(c.hear(3000) == pattern(3000), "given again: all is sent")
    h.close()


def back_pressure(d, fam):
    """The host does not read: the window closes, opens, and a lost update is
    asked for."""
    c, h = pair(d, fam)
    sent = 0
    while True:
        left = c.pour(pattern(1 << 20))
        sent += (1 << 20) - len(left)
        if left:
            break
    ok(sent > 30000, "%s: %d bytes until the window is closed" % (fam[1], sent))
    f = c.last if c.last.ack == c.seq % MOD else c.acked()
    ok(f, "what the host's program does not take is acknowledged all the same")
    c.send(ACK, b"x")
    f = c.recv()
    ok(f and not f.data, "a probe is answered")
    want = b"".join(pattern(1 << 20) for _ in range(sent // (1 << 20) + 1))[:sent]
    ok(read(h, sent) == want, "the host reads all")
    f = c.recv()
    ok(f, "and the window opens by itself")
    c.drain()  # as if it had been lost
    c.send(ACK, seq=c.seq - 1)
    f = c.recv()
    ok(f and f.window, "asked for, it is told again")
    c.say(b"more")
    same(read(h, 4), b"more", "it goes on")
    h.close()


def both_stuck(d, fam):
    """Nobody reads: nothing to do for the daemon, either."""
    c, h = pair(d, fam, wscale=0)
    c.window = 2000
    c.send()
    h.setblocking(False)
    try:
        while True:
            h.send(bytes(100000))
    except OSError:
        pass
    while True:
        left = c.pour(bytes(1 << 20))
        if left:
            break
    before = cpu(d)
    time.sleep(1)  # sleep: time is what is measured
    ok(cpu(d) - before < 0.1, "%s: both ways stuck: %.2f s of CPU in 1 s" % (
        fam[1], cpu(d) - before))
    h.close()


def urgent(d, fam):
    """The host's urgent data in one wake-up with what is around it."""
    c, h = pair(d, fam)
    os.kill(d.process.pid, signal.SIGSTOP)
    h.send(b"abc")
    h.send(b"!", socket.MSG_OOB)
    h.send(b"def")
    os.kill(d.process.pid, signal.SIGCONT)
    same(c.hear(7), b"abc!def", "%s: urgent data and what follows" % fam[1])
    os.kill(d.process.pid, signal.SIGSTOP)
    h.send(b"abc")
    h.send(b"!", socket.MSG_OOB)
    h.send(b"def")
    h.close()
    os.kill(d.process.pid, signal.SIGCONT)
    same(c.hear(7), b"abc!def", "the same before the end")
    if not c.last.tflags & FIN:
        c.flagged(FIN, "which comes behind it")
    same(c.last.seq + len(c.last.data), c.ack % MOD, "in its place")
    h.close()


with Daemon() as d:
    for fam in families():
        for test in order, gaps, shuffled, wrap, loss, segments, duplicates, bad_acks, zero_window, \
                lost_piece, shrunk, back_pressure, both_stuck, urgent:
            test(d, fam)
    same(d.drops().get("tcp_no_buffer", 0), 0, "no byte inside a window was dropped")
done()
