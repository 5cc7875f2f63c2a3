# Ten thousand SYNs to a port that refuses, to one that listens and is never
# answered, and to one whose queue is full: counted, and all is given back.
# limit: 120
# parallel

from lib_tcp import *

import select

import lib

N = 10000


def syns(guest, gw, port, n, data=b""):
    for i in range(n):
        yield tcp_frame((guest, 10000 + i % 50000), (gw, port), SYN, 1000 + i, 0, 65535, data,
                        mss=1460, wscale=7)


def flood(d, frames, on=None):
    """Send all; what comes meanwhile is read, since the link is no queue."""
    n = 0
    for i, f in enumerate(frames):
        d.send(f)
        if i % 64 == 63:
            d.barrier()
            n += answers(d, on)
    d.barrier()
    return n + answers(d, on)


def answers(d, on):
    n = 0
    while d.queue or select.select([d.link], [], [], 0)[0]:
        f = d.recv()
        if f.proto == TCP:
            parse_tcp(f)
            n += 1
            if on:
                on(f)
    return n


def alive(d, fam, what):
    c, h = pair(d, fam)
    c.say(b"hello")
    ok(read(h, 5) == b"hello", what)
    h.close()
    f = c.flagged(FIN, "the end")
    c.ack = f.seq + 1
    c.send(FIN | ACK)
    c.seq += 1
    c.acked("of both")


def refused(d, fam):
    guest, gw, loopback = fam
    with listener(loopback) as s:
        port = s.getsockname()[1]
    fds = descriptors(d)
    start = d.counters()["tcp_refused"]
    kinds = set()
    n = flood(d, syns(guest, gw, port, N), lambda f: kinds.add(f.tflags))
    while n < N:
        f = next_tcp(d)
        if not f:
            break
        kinds.add(f.tflags)
        n += 1
    same((n, kinds), (N, {RST | ACK}), "%s: each SYN to a closed port has its RST" % gw)
    same(d.counters()["tcp_refused"] - start, N, "counted")
    descriptors_back(d, fds, "no descriptor is left")
    alive(d, fam, "alive")


def unanswered(d, fam):
    """The listener's program takes none; the guest resets what is answered."""
    guest, gw, loopback = fam
    fds = descriptors(d)
    answered = []
    with listener(loopback, 1) as s:
        port = s.getsockname()[1]
        n = flood(d, syns(guest, gw, port, N), answered.append)
        most = descriptors(d)
        ok(most - fds > 100, "%s: %d sockets wait" % (gw, most - fds))
        c = d.counters()
        ok(all(f.tflags == SYN | ACK for f in answered), "%d are answered" % n)
        # All give up: those that wait, and those that were answered
        flood(d, (tcp_frame((guest, 10000 + i), (gw, port), RST, 1001 + i)
                  for i in range(N)))
        descriptors_back(d, fds, "given up: no descriptor is left")
    alive(d, fam, "alive")


def accepted(d, fam):
    """A listener that takes all, and a guest that never says a word more."""
    guest, gw, loopback = fam
    fds = descriptors(d)
    taken = []
    with listener(loopback, 4096) as s:
        port = s.getsockname()[1]
        s.setblocking(False)

        def take(f):
            try:
                while True:
                    taken.append(s.accept()[0])
            except OSError:
                pass
        flood(d, syns(guest, gw, port, 400), take)
        take(None)
    same(len(taken), 400, "%s: a server takes 400" % gw)
    for h in taken:
        h.setsockopt(socket.SOL_SOCKET, socket.SO_LINGER, struct.pack("ii", 1, 0))
        h.close()
    resets = []
    end = time.monotonic() + WAIT
    while len(resets) < 400 and time.monotonic() < end:
        f = next_tcp(d)
        if f and f.tflags & RST:
            resets.append(f.me)
    same(len(set(resets)), 400, "it gives them up: the guest is told")
    d.barrier()
    descriptors_back(d, fds, "no descriptor is left")
    alive(d, fam, "alive")


def few_descriptors(fam):
    guest, gw, loopback = fam
    passt = lib.PASST
    with tempfile.TemporaryDirectory() as tmp:
        lib.PASST = os.path.join(tmp, "passt")
        with open(lib.PASST, "w") as script:
            script.write('#!/bin/sh\nulimit -n 200\nexec "%s" "$@"\n' % passt)
        os.chmod(lib.PASST, 0o755)
        d = Daemon()
        lib.PASST = passt
    with d:
        fds = descriptors(d)
        with listener(loopback, 1) as s:
            port = s.getsockname()[1]
            flood(d, syns(guest, gw, port, 1000))
            ok(fds + 50 < descriptors(d) <= 200, "%s: %d of 200 descriptors" % (
                gw, descriptors(d)))
            c = d.drops()
            ok(c.get("no_socket", 0) + c.get("flow_table_full", 0) >= 800, "the others are counted", c)
            before = cpu(d)
            d.recv(0.5)
            ok(cpu(d) - before < 0.1, "and cost nothing afterwards")
            flood(d, (tcp_frame((guest, 10000 + i), (gw, port), RST, 1001 + i)
                      for i in range(1000)))
            descriptors_back(d, fds, "given up: no descriptor is left")
        alive(d, fam, "alive")


for fam in families():
    few_descriptors(fam)
with Daemon() as d:
    for fam in families():
        refused(d, fam)
        unanswered(d, fam)
        accepted(d, fam)
    print("#", {k: v for k, v in d.drops().items()})
done()
