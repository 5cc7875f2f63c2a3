# Every datagram that enters leaves or moves exactly one drop counter: a random
# mix of good, bad, segmented and fragmented frames, and traffic back.
# Repeat one with SEED=n.
# parallel

import random

from lib import *

seed = int(os.environ.get("SEED", "1"))
rng = random.Random(seed)
print("# SEED=%d" % seed)
fams = list(families())
port = free_port()


def one(i):
    """A frame or several, how many datagrams they stand for, whether they are good."""
    guest, gw, loopback = rng.choice(fams)
    me = (guest, 30000 + rng.randrange(50))
    to = (gw, rng.choice(hosts[loopback]).getsockname()[1])
    data = rng.randbytes(rng.choice((0, 1, 8, 100, 1000, 1472, 9000)))
    raw = datagram(me, to, data)
    kind = rng.randrange(10)
    if kind < 4:
        return [raw], 1, True
    if kind == 4:
        seg = rng.randrange(1, 500)
        n = rng.randrange(2, 60)
        return [super_frame(me, to, rng.randbytes(seg * n), seg)], n, True
    if kind == 5 and len(data) > 8:
        return fragments(me, to, data, max(8, len(data) // 3 // 8 * 8), i + 1), 1, True
    if kind == 6:
        return [raw[:rng.randrange(1, len(raw))]], 1, False
    if kind == 7:
        at = rng.randrange(10, len(raw))
        return [raw[:at] + bytes([raw[at] ^ 1 << rng.randrange(8)]) + raw[at + 1:]], 1, None
    if kind == 8:
        return [VNET.pack(0, 0, 0, 0, 0, 0) + eth(rng.randbytes(60), rng.randrange(0x600, 0x10000))], 1, None
    return [datagram(me, (gw, 0), data)], 1, False


def drain(sockets):
    got = 0
    for s in sockets:
        s.setblocking(False)
        try:
            while True:
                s.recv(65535)
                got += 1
        except OSError:
            pass
    return got


hosts = {f[2]: [host_socket(f[2]) for _ in range(3)] for f in fams}
all_hosts = [s for v in hosts.values() for s in v]
sent = sure = got = 0
with Daemon("-u", "127.0.0.1/%d" % port) as d:
    start = d.counters()
    for i in range(3000):
        frames, n, good = one(i)
        d.send(*frames)
        sent += n
        sure += n if good else 0
        if i % 20 == 0:
            d.barrier()
            got += drain(all_hosts)
    c = d.counters()  # after these nothing is under way
    got += drain(all_hosts)
    own = d.n_barriers
    drops = c["drops_total"] - start["drops_total"]
    waiting = sent - got - drops - (c["local_answers"] - own)
    same(waiting, 0, "sent %d = delivered %d + dropped %d + answered" % (sent, got, drops))
    ok(got >= sure, "the good ones, %d, are among the delivered" % sure)
    same(c["host_tx_datagrams"], got, "the daemon counted what arrived")
    same(c["drops_total"], sum(c["drops"].values()), "drops_total is the sum")
    print("#", {k: v for k, v in c["drops"].items() if v})

    # The way back
    d.queue.clear()
    sender = host_socket()
    n = frames = came = 0
    for i in range(300):
        sender.sendto(rng.randbytes(rng.choice((0, 1, 700, 700, 700, 1400))), ("127.0.0.1", port))
        n += 1
        if i % 20 == 19:
            came += sum(len(f.segs) for f in d.recv_segs(20))
    e = d.counters()
    same(came, n, "all %d datagrams of the host came as frames" % n)
    same(e["host_rx_datagrams"] - c["host_rx_datagrams"], n, "the daemon read them all")
    same(e["tap_tx_datagrams"] - c["tap_tx_datagrams"], n, "and counted them out")
    same(e["drops_total"], c["drops_total"], "none was dropped")
done()
