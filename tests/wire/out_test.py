# The guest speaks to its gateway and reaches a socket on the host's loopback;
# the answer comes back from the gateway's address.
# parallel

from lib import *


def exchange(d, guest, gw, loopback):
    h = host_socket(loopback)
    port = h.getsockname()[1]
    me = (guest, free_port(loopback))
    largest = 65535 - (48 if ":" in guest else 28)
    for size in 1, 100, 1471, 1472, 9000, largest:
        data = bytes(i * 7 & 255 for i in range(size))
        d.send(datagram(me, (gw, port), data))
        got, peer = h.recvfrom(65535)
        ok(got == data, "%s: %d bytes reach the host" % (gw, size))
        same(peer[:2], (loopback, me[1]), "from loopback and the guest's own port")
        h.sendto(data[::-1], peer)
        f = d.recv()
        if not ok(f is not None, "%d bytes: an answer frame" % size):
            continue
        same((f.src, f.dst), ((gw, port), me), "addresses and ports of the answer")
        ok(f.data == data[::-1], "its payload")
        same((f.eth_src, f.eth_dst), (OUR_MAC, GUEST_MAC), "its Ethernet addresses")
        ok(f.ok, "its lengths and checksums", f.raw[:70].hex())
        same(f.flags, 0 if OFFLOAD == "none" else NEEDS_CSUM, "checksum as --offload says")
    h.close()


def empty(d, guest, gw, loopback):
    h = host_socket(loopback)
    me = (guest, free_port(loopback))
    d.send(datagram(me, (gw, h.getsockname()[1]), b""))
    got, peer = h.recvfrom(65535)
    same(got, b"", "%s: an empty datagram reaches the host" % gw)
    h.sendto(b"", peer)
    f = d.recv()
    ok(f and f.ok and f.data == b"" and not f.gso, "and one comes back")
    h.sendto(b"a", peer)
    h.sendto(b"", peer)
    h.sendto(b"b", peer)
    same([s for f in d.recv_segs(3) for s in f.segs], [b"a", b"", b"b"],
         "between others it keeps its place")
    h.close()


def checksums(d, guest, gw, loopback):
    h = host_socket(loopback)
    to = (gw, h.getsockname()[1])
    me = (guest, free_port(loopback))
    start = 54 if ":" in guest else 34
    partial = pseudo(addr(guest), addr(gw), UDP, 8 + 4)
    d.send(frame(ip(guest, gw, udp(me, to, b"part", partial)),
                 vnet=(NEEDS_CSUM, 0, start + 8, 0, start, 6)))
    same(received(h, 1), [b"part"], "%s: a partial checksum is trusted" % gw)
    if ":" in guest:
        d.drop_test("UDP checksum 0 is refused over IPv6", {"bad_checksum": 1},
                    datagram(me, to, b"none", csum=0))
    else:
        d.send(datagram(me, to, b"none", csum=0))
        same(received(h, 1), [b"none"], "UDP checksum 0 passes over IPv4")
    h.close()


with Daemon() as d:
    for f in families():
        exchange(d, *f)
        empty(d, *f)
        checksums(d, *f)
    same(d.drops(), {"bad_checksum": 1} if has_ip6() else {}, "nothing else was dropped")
done()
