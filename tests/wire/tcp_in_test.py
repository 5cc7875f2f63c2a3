# Connections to published ports: the daemon begins, the guest answers.
# parallel

from lib_tcp import *

mine = own_address()


def call(address, port):
    h = socket.socket(family(address), socket.SOCK_STREAM)
    h.settimeout(WAIT)
    h.connect((address, port))
    return h


def answered(d, f, flags=SYN | ACK, **more):
    """A Conn of the guest for the SYN that came."""
    c = Conn(d, f.me[0], f.peer[0], f.peer[1], **more)
    c.me = f.me
    c.ack = f.seq + 1
    c.take(f)
    return c


def expect(d, what, wait=WAIT):
    f = next_tcp(d, wait)
    if not ok(f and f.tflags == SYN, what, f and names(f.tflags)):
        return None
    return f


def finish(c, h):
    h.close()
    f = c.flagged(FIN, "the end")
    c.ack = f.seq + len(f.data) + 1
    c.send(FIN | ACK)
    c.seq += 1
    c.acked("of both")


def simple(d):
    h = call(mine, port)
    f = expect(d, "a SYN for the guest")
    ok(f.me == (GUEST4, port) and f.peer[0] == mine, "from the address it was seen at", f.peer)
    ok(f.mss and f.wscale is not None and f.window, "with options and a window")
    c = answered(d, f)
    h.send(b"early")
    c.send(SYN | ACK, mss=1460, wscale=7)
    c.seq += 1
    f = c.recv()
    ok(f and f.tflags & ACK and f.ack == c.seq % MOD, "acknowledged")
    if f.data:
        ok(f.data == b"early", "with what was sent before")
        c.ack += 5
        c.send()
    else:
        same(c.hear(5), b"early", "what was sent before")
    ok(not c.pour(pattern(60000)), "the guest sends")
    ok(read(h, 60000) == pattern(60000), "and it arrives")
    c.acked("acknowledged")
    h.send(pattern(100000))
    ok(c.hear(100000) == pattern(100000), "the other way")
    finish(c, h)


def refused(d):
    h = call(mine, port)
    f = expect(d, "a SYN")
    c = answered(d, f)
    c.send(RST | ACK, seq=0)
    same(ends(h), "RST", "the guest refuses: so is the remote")
    h = call(mine, port)
    f = expect(d, "another")
    c = answered(d, f)
    c.send(ACK, seq=5, ack=f.seq + 1000)
    g = c.recv()
    ok(g and g.tflags == RST and g.seq == (f.seq + 1000) % MOD, "a stray answer has its RST")
    c.send(RST | ACK, seq=0, ack=f.seq)
    f = c.flagged(SYN, "RST that acknowledges nothing: asked again")
    h.setsockopt(socket.SOL_SOCKET, socket.SO_LINGER, struct.pack("ii", 1, 0))
    h.close()
    f = c.flagged(RST, "the remote gives up: the guest is told")
    same(f and f.seq, c.ack % MOD, "by the number it expects")


def crossing(d):
    """Both begin at once: the guest's SYN from the port it is called at."""
    h = call(mine, port)
    f = expect(d, "a SYN")
    c = answered(d, f)
    c.send(SYN, mss=1000, wscale=2)
    f = c.recv()
    ok(f and f.tflags == SYN | ACK and f.ack == (c.seq + 1) % MOD and f.seq == (c.ack - 1) % MOD,
       "SYN meets SYN: answered")
    c.send(SYN | ACK, mss=1000, wscale=2)
    c.seq += 1
    f = c.recv()
    ok(f and f.tflags == ACK and f.ack == c.seq % MOD, "and its answer acknowledged")
    c.say(b"crossed")
    same(read(h, 7), b"crossed", "it carries")
    h.send(b"yes")
    same(c.hear(3), b"yes", "both ways")
    finish(c, h)


def lost_syn(d):
    h = call(mine, port)
    f = expect(d, "a SYN")
    t = time.monotonic()
    g = expect(d, "not answered: again")
    ok(g.seq == f.seq and 0.8 < time.monotonic() - t < 1.5, "after a second, the same")
    c = answered(d, g)
    c.send(SYN | ACK, mss=1460)
    c.seq += 1
    c.send()
    c.say(b"late")
    same(read(h, 4), b"late", "it opens")
    c.drain()
    c.send(SYN | ACK, seq=c.seq - 5, mss=1460)
    f = c.recv()
    ok(f and f.tflags == ACK and f.ack == c.seq % MOD, "SYN and ACK again: acknowledged")
    finish(c, h)


def silence(d):
    """Bytes, a FIN, and a RST before the guest has answered."""
    h = call(mine, port)
    h.send(b"all of it")
    h.close()
    f = expect(d, "a SYN of a remote that has closed already")
    c = answered(d, f)
    c.send(SYN | ACK, mss=1460, wscale=7)
    c.seq += 1
    got = c.hear(9)
    same(got, b"all of it", "all of it comes")
    f = c.last if c.last.tflags & FIN else c.flagged(FIN, "and the end")
    c.ack += 1
    c.send(FIN | ACK)
    c.seq += 1
    c.acked("which is acknowledged")


if not mine:
    skip("no address but loopback")
with listener(mine) as s:
    port = s.getsockname()[1]
with Daemon("-t", "%s/%d" % (mine, port)) as d:
    d.send(arp_request(GW4))  # so that it knows our MAC address
    fds = descriptors(d)
    for test in simple, refused, crossing, lost_syn, silence:
        test(d)
    descriptors_back(d, fds)
done()
