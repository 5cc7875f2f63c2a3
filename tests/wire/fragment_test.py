# Fragments of the guest are put together, in any order, IPv4 and IPv6; an
# overlap gives up the whole datagram (RFC 5722).
# parallel

import random

from lib import *

rng = random.Random(1)


def whole(d, guest, gw, loopback):
    h = host_socket(loopback)
    to = (gw, h.getsockname()[1])
    me = (guest, free_port(loopback))
    for ident, (size, part) in enumerate(((3000, 1480), (65000, 1480), (100, 8), (65507, 65000))):
        data = rng.randbytes(size)
        pieces = fragments(me, to, data, part, ident + 100)
        for order in "in order", "reversed", "shuffled":
            if order == "reversed":
                pieces.reverse()
            elif order == "shuffled":
                rng.shuffle(pieces)
            d.send(*pieces)
            ok(received(h, 1, 0.02) == [data], "%s: %d bytes in %d fragments, %s" %
               (gw, size, len(pieces), order))
    same(d.drops(), {}, "nothing was dropped")

    data = rng.randbytes(3000)
    two = [fragments(me, to, data, 1000, 8), fragments(me, to, data[::-1], 1000, 9)]
    d.send(*(f for pair in zip(*two) for f in pair))
    got = received(h, 2, 0.02)
    same(got, [data, data[::-1]], "two at once do not mix")
    h.close()


def refused(d, guest, gw, loopback):
    h = host_socket(loopback)
    to = (gw, h.getsockname()[1])
    me = (guest, free_port(loopback))
    data = udp(me, to, rng.randbytes(1992))

    def part(off, end, more, ident):
        return fragment(guest, gw, data[off:end], off, more, ident)

    d.drop_test("%s: an overlap" % gw, {"fragment_overlap": 1},
                part(0, 1000, True, 20), part(992, 2000, True, 20))
    d.drop_test("an empty fragment", {"fragment_malformed": 1}, part(8, 8, True, 21))
    d.drop_test("a length that is not a multiple of 8, with more to come",
                {"fragment_malformed": 1}, part(0, 1001, True, 22))
    d.drop_test("one beyond 65,535 bytes", {"fragment_malformed": 1},
                fragment(guest, gw, data[:1000], 65528, False, 23))
    bad = bytearray(data)
    bad[-1] ^= 1
    d.drop_test("a wrong checksum of the whole", {"bad_checksum": 1},
                fragment(guest, gw, bytes(bad[:1000]), 0, True, 24),
                fragment(guest, gw, bytes(bad[1000:]), 1000, False, 24))
    same(received(h, 0), [], "none reached the host")
    d.send(*fragments(me, to, b"x" * 2000, 1000, 25))
    same(received(h, 1), [b"x" * 2000], "a good one still does")
    h.close()


for f in families():
    with Daemon() as d:
        whole(d, *f)
        refused(d, *f)
    with Daemon() as d:
        d.drop_test("a 17th datagram of one source evicts the oldest",
                    {"fragment_timeout_or_evicted": 1},
                    *(fragment(f[0], f[1], bytes(8), 0, True, i) for i in range(17)))
done()
