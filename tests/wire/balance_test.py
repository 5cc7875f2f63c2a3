# Both ways at once, with all that may happen to a datagram: policy, closed
# ports, echo, groups, strangers, hairpin. What entered has left, or moved one
# drop counter. Repeat one with SEED=n.
# parallel

import random

from lib import *

seed = int(os.environ.get("SEED", "1"))
rng = random.Random(seed)
print("# SEED=%d" % seed)
fams = list(families())
port = free_port()
mine = own_address()
hosts = {f[2]: [host_socket(f[2]) for _ in range(3)] for f in fams}
denied = {f[2]: host_socket(f[2]).getsockname()[1] for f in fams}
closed = {f[2]: free_port(f[2]) for f in fams}
clients = [host_socket() for _ in range(4)]
group = {GUEST4: "239.255.7.7", GUEST6: "ff05::7"}


def echo(guest, to, data, good):
    kind = 128 if ":" in guest else 8
    head = struct.pack("!BBHHH", kind, 0, 0, rng.randrange(1, 5), rng.randrange(65536))
    total = pseudo(addr(guest), addr(to), ICMP6, 8 + len(data)) if kind == 128 else 0
    csum = fold(head + data, total) ^ 0xFFFF
    head = head[:2] + struct.pack("!H", csum if good else csum ^ 0x55) + head[4:]
    return frame(ip(guest, to, head + data, proto=ICMP6 if kind == 128 else 1))


def from_guest():
    """Frames, and how many datagrams they are."""
    guest, gw, loopback = rng.choice(fams)
    me = (guest, 30000 + rng.randrange(30))
    data = rng.randbytes(rng.choice((0, 1, 100, 1472, 9000)))
    mark = {"tos": rng.choice((0, 0, 2, 0xB8)), "ttl": rng.choice((64, 64, 7))}
    to = rng.choice((rng.choice(hosts[loopback]).getsockname()[1], closed[loopback],
                     denied[loopback]))
    kind = rng.randrange(8)
    if kind == 0:
        return [echo(guest, gw, data, rng.randrange(4))], 1
    if kind == 1:
        return [datagram(me, (group[guest], 7000), data, **mark)], 1
    if kind == 2 and len(data) > 8:
        return fragments(me, (gw, to), data, len(data) // 3 // 8 * 8 + 8, rng.randrange(1 << 16)), 1
    if kind == 3:
        n, seg = rng.randrange(2, 60), rng.randrange(1, 500)
        return [super_frame(me, (gw, to), rng.randbytes(seg * n), seg, **mark)], n
    if kind == 4 and guest == GUEST4:
        return [datagram(me, (gw, port), data, **mark)], 1  # to its own published port
    if kind == 5 and guest == GUEST4 and mine:
        return [datagram(me, (mine, at_mine.getsockname()[1]), data, **mark)], 1
    return [datagram(me, (gw, to), data, **mark)], 1


def count_segs(d):
    """Datagrams among the frames that came; errors are none."""
    d.link.setblocking(False)
    try:
        while True:
            d.queue.append(d.link.recv(70000))
    except OSError:
        pass
    n = 0
    for raw in d.queue:
        f = parse(raw)
        if f.proto == UDP:
            n += len(f.segs)
        elif f.proto in (1, ICMP6) and f.eth[f.l4] in (0, 129):
            n += 1
    d.queue.clear()
    return n


def drain(sockets):
    """Number of datagrams, and who sent the last."""
    n, last = 0, None
    for s in sockets:
        s.setblocking(False)
        for _ in range(100000):
            try:
                last = s.recvfrom(65535)[1]
                n += 1
            except ConnectionRefusedError:
                continue
            except OSError:
                break
    return n, last


at_mine = host_socket(mine) if mine else None
ends = [s for v in hosts.values() for s in v] + ([at_mine] if mine else [])
rules = [w for f in fams for w in
         ("--deny", "[%s]:%d" % (f[2], denied[f[2]]) if ":" in f[2] else "%s:%d" % (f[2], denied[f[2]]))]
entered = got = came = 0
known = None
with Daemon("-i", "lo", "-u", "127.0.0.1/%d" % port, *rules) as d:  # groups stay here
    start = d.counters()
    for i in range(4000):
        frames, n = from_guest()
        d.send(*frames)
        entered += n
        if not i % 3:
            clients[i % 4].sendto(rng.randbytes(rng.choice((0, 1, 700, 1400))), ("127.0.0.1", port))
        if known and not i % 7:
            clients[0].sendto(b"stranger", known)
        if not i % 10:
            d.barrier()
            came += count_segs(d)
            n, last = drain([at_mine] if mine else [])
            known = last or known
            got += n + drain(ends)[0]
    for _ in range(3):  # what comes back by the host comes after what went out
        c = d.counters()
    came += count_segs(d)
    got += drain(ends)[0]

    def moved(name):
        return c[name] - start[name]

    drops = c["drops_total"] - start["drops_total"]
    kernel = moved("kernel_socket_dropped")
    print("#", {k: v for k, v in c["drops"].items() if v})
    same(moved("tap_rx_datagrams"), entered - (c["drops"]["fragment_overlap"]),
         "each datagram of the guest entered once")
    same(moved("tap_rx_datagrams") + moved("host_rx_datagrams"),
         moved("host_tx_datagrams") + moved("tap_tx_datagrams") + drops,
         "what entered left, or was dropped once")
    same(moved("tap_tx_datagrams"), came, "the guest got what was counted out")
    ok(moved("host_tx_datagrams") >= got > 0, "the host's programs got %d" % got)
    same(kernel, 0, "the kernel dropped nothing at our sockets")
    for name in ("denied_by_policy", "no_translation") + (("filtered",) if mine else ()):
        ok(c["drops"][name] > 0, "some were %s" % name)
done()
