# How connections end: each side first, both at once, by force, and half.
# parallel

from lib_tcp import *


def guest_first(d, fam):
    c, h = pair(d, fam)
    c.send(FIN | ACK, b"last")
    c.seq += 5
    c.acked("%s: data with FIN: acknowledged" % fam[1])
    same(read(h, 10), b"last", "the data")
    same(ends(h), "FIN", "and the end")
    c.send(FIN | ACK, seq=c.seq - 1)
    f = c.recv()
    ok(f and f.ack == c.seq % MOD, "FIN again: acknowledged again")
    data = pattern(300000)
    h.settimeout(0.01)
    sent = 0
    got = b""
    while sent < len(data):
        try:
            sent += h.send(data[sent:sent + 50000])
        except socket.timeout:
            pass
        while len(got) < sent:
            part = c.hear(1)
            if not part:
                break
            got += part
    ok(got == data, "the other half still carries %d bytes" % len(got))
    h.close()
    f = c.flagged(FIN, "its end")
    c.ack = f.seq + len(f.data) + 1
    c.send()
    d.barrier()
    c.send()
    f = c.recv()
    ok(f and f.tflags == RST, "then it is forgotten")


def host_first(d, fam):
    c, h = pair(d, fam)
    h.send(b"bye")
    h.shutdown(socket.SHUT_WR)
    same(c.hear(3), b"bye", "%s: data before FIN" % fam[1])
    f = c.last if c.last.tflags & FIN else c.flagged(FIN, "FIN")
    c.quiet("once", 0.1)
    f = c.flagged(FIN, "not acknowledged: sent again")
    same(f and f.seq, c.ack % MOD, "by its number")
    c.ack += 1
    c.send()
    c.quiet("acknowledged: no more", 0.6)
    ok(not c.pour(pattern(40000)), "the guest still sends")
    ok(read(h, 40000) == pattern(40000), "and it arrives")
    c.send(FIN | ACK)
    c.seq += 1
    c.acked("its FIN is acknowledged")
    same(ends(h), "FIN", "and passed on")
    h.close()
    c.send()
    c.flagged(RST, "forgotten")


def both(d, fam):
    c, h = pair(d, fam)
    h.shutdown(socket.SHUT_WR)
    f = c.flagged(FIN, "%s: FIN of the host" % fam[1])
    c.send(FIN | ACK)  # not having seen it
    c.seq += 1
    c.acked("FINs cross: acknowledged")
    same(ends(h), "FIN", "both have ended")
    c.ack = f.seq + 1
    c.send()
    d.barrier()
    c.send()
    c.flagged(RST, "forgotten")
    h.close()


def early_fin(d, fam):
    c, h = pair(d, fam)
    c.send(FIN | ACK, b"two", seq=c.seq + 3)
    f = c.recv()
    ok(f and f.ack == c.seq % MOD, "%s: FIN out of order waits" % fam[1])
    c.say(b"one")
    c.seq += 3
    c.acked("what was missing, and what came early")
    c.send(FIN | ACK)
    c.seq += 1
    c.acked("FIN")
    same(read(h, 10), b"onetwo", "all in order")
    c.send(ACK, b"more")
    f = c.recv()
    ok(f and f.ack == c.seq % MOD, "data behind FIN: not acknowledged")
    h.settimeout(QUIET)
    same(ends(h), "FIN", "nor passed on")
    h.close()


def forced(d, fam):
    c, h = pair(d, fam)
    h.setsockopt(socket.SOL_SOCKET, socket.SO_LINGER, struct.pack("ii", 1, 0))
    h.close()
    f = c.flagged(RST, "%s: RST of the host is passed on" % fam[1])
    same(f and f.seq, c.ack % MOD, "by the exact number")
    c, h = pair(d, fam)
    h.send(pattern(5000))
    c.hear(5000, False)
    c.send(RST | ACK)
    d.barrier()
    h.settimeout(WAIT)
    same(ends(h), "RST", "RST of the guest with data under way")
    c, h = pair(d, fam)
    c.say(b"data")
    d.barrier()
    c.send(RST, seq=c.seq)
    read(h, 4)
    same(ends(h), "RST", "RST by what was sent last")
    c, h = pair(d, fam)
    h.close()
    f = c.flagged(FIN, "the host closes")
    c.ack = f.seq + 1
    c.send()
    c.say(b"nobody reads this")
    c.flagged(RST, "data then: RST")


def lost_end(d, fam):
    """After a time-out the number of a RST is one that the guest expects."""
    c, h = pair(d, fam, mss=1000)
    h.send(pattern(5000))
    c.hear(5000, False)
    c.send(window=0, ack=c.ack - 5000)
    time.sleep(0.7)  # sleep: a time-out without room to send again
    h.setsockopt(socket.SOL_SOCKET, socket.SO_LINGER, struct.pack("ii", 1, 0))
    h.close()
    f = c.flagged(RST, "%s: RST after a time-out" % fam[1])
    same(f and f.seq, c.ack % MOD, "exactly")


with Daemon() as d:
    before = descriptors(d)
    for fam in families():
        for test in guest_first, host_first, both, early_fin, forced, lost_end:
            test(d, fam)
    c = d.counters()
    # That of data behind FIN is half open
    descriptors_back(d, before + len(list(families())))
done()
