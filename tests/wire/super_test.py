# Super-frames: what the guest sends segmented arrives as datagrams; what the
# host sends segmented reaches the guest whole or singly, as --offload says.
# parallel

from lib import *

UDP_SEGMENT = 103


def cut(data, seg):
    return [data[i:i + seg] for i in range(0, len(data), seg)]


def from_guest(d, guest, gw, loopback):
    h = host_socket(loopback)
    to = (gw, h.getsockname()[1])
    me = (guest, free_port(loopback))
    for n, seg, last in (2, 100, 100), (44, 1472, 1472), (5, 1000, 1), (64, 64, 64), (64, 1, 1):
        data = os.urandom((n - 1) * seg + last)
        d.send(super_frame(me, to, data, seg))
        same(received(h, n), cut(data, seg), "%s: %d of %d bytes, last %d" % (gw, n, seg, last))
    data = os.urandom(900)
    d.send(*(datagram(me, to, p) for p in cut(data, 100)))
    same(received(h, 9), cut(data, 100), "single frames in a row keep their order")
    mixed = [b"a" * 10, b"b" * 10, b"c" * 9, b"d" * 10, b"", b"e" * 11, b"f" * 11]
    d.send(*(datagram(me, to, p) for p in mixed))
    same(received(h, len(mixed)), mixed, "frames of all sizes, too")
    h.close()


def to_guest(d, guest, gw, loopback):
    h = host_socket(loopback)
    me = (guest, free_port(loopback))
    d.send(datagram(me, (gw, h.getsockname()[1]), b"first"))
    peer = h.recvfrom(99)[1]
    for n, seg, last in (44, 1400, 1400), (10, 500, 7):
        data = os.urandom((n - 1) * seg + last)
        h.sendmsg([data], [(UDP, UDP_SEGMENT, struct.pack("=H", seg))], 0, peer)
        frames = d.recv_segs(n)
        same([s for f in frames for s in f.segs], cut(data, seg),
             "%s: %d of %d bytes come to the guest" % (gw, n, seg))
        ok(all(f.ok for f in frames), "every frame's lengths and checksums")
        if OFFLOAD == "uso":
            same(len(frames), 1, "as one super-frame")
            same((frames[0].gso, frames[0].seg), (GSO_UDP_L4, seg), "that says so")
        else:
            same([f.gso for f in frames], [0] * n, "one frame each")
    h.close()


with Daemon() as d:
    for f in families():
        from_guest(d, *f)
        to_guest(d, *f)
    same(d.drops(), {}, "nothing was dropped")
done()
