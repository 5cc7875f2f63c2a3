# What the host refuses comes back to the guest as an ICMP error that quotes the
# guest's own datagram, and the guest's own errors are taken.
# parallel

from lib import *


def quote(raw, guest):
    """Type, code, and the quoted source, destination, ports and payload."""
    eth = raw[10:]
    v6 = ":" in guest
    l3, size = 14, 40 if v6 else 20
    icmp = eth[l3 + size:]
    inner = icmp[8:]
    at, n = (8, 16) if v6 else (12, 4)
    ends = inner[at:at + n], inner[at + n:at + 2 * n]
    ports = struct.unpack_from("!HHH", inner, size)
    return icmp[0], icmp[1], ends, ports, inner[size + 8:]


def closed(d, guest, gw, loopback):
    port = free_port(loopback)
    me = (guest, free_port(loopback))
    for size in 0, 1, 8, 520, 3000:
        data = bytes(i & 255 for i in range(size))
        d.send(datagram(me, (gw, port), data))
        raw = d.queue.pop(0) if d.queue else d.read(WAIT)
        if not ok(raw is not None, "%s: %d bytes to a closed port: told" % (gw, size)):
            continue
        kind, code, ends, ports, rest = quote(raw, guest)
        same((kind, code), (1, 4) if ":" in guest else (3, 3), "port unreachable")
        same(ends, (addr(guest), addr(gw)), "the addresses that the guest used")
        same(ports[:2], (me[1], port), "its ports")
        # Of a long one the host tells a part, and not how long it was
        same(ports[2], 8 + max(min(size, 520), len(rest)), "its length")
        ok(data.startswith(rest) and len(rest) >= min(size, 8), "its payload")


with Daemon() as d:
    for f in families():
        closed(d, *f)
    same(d.drops(), {}, "nothing was dropped")
done()
