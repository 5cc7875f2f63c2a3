# A published port: datagrams of the host's loopback become frames from the
# gateway, the guest's answers go back to the client.
# parallel

from lib import *


def clients(d, guest, gw, loopback, port, inner):
    ends = []
    for i in range(3):
        s = host_socket(loopback)
        s.sendto(b"hello %d" % i, (loopback, port))
        f = d.recv()
        if not ok(f is not None, "%s: client %d becomes a frame" % (loopback, i)):
            return
        same((f.src, f.dst, f.data), ((gw, s.getsockname()[1]), (guest, inner), b"hello %d" % i),
             "from the gateway's address and the client's port")
        ok(f.ok, "its lengths and checksums", f.raw[:70].hex())
        ends.append((s, f))
    for s, f in reversed(ends):
        d.send(datagram(f.dst, f.src, b"for %d" % f.src[1]))
    for s, f in ends:
        got, peer = s.recvfrom(99)
        same((got, peer[:2]), (b"for %d" % f.src[1], (loopback, port)),
             "each client gets its own answer from the published port")
        s.close()


def sizes(d, loopback, port):
    s = host_socket(loopback)
    for size in 0, 1, 1472, 65507:
        s.sendto(bytes(size), (loopback, port))
        f = d.recv()
        ok(f and f.ok and f.data == bytes(size) and not f.gso, "%d bytes arrive whole" % size)
    s.close()


port = free_port()
options = ["-u", "127.0.0.1/%d:%d" % (port, 5300)]
if has_ip6():
    options += ["-u", "[::1]/%d:%d" % (port, 5300)]
with Daemon(*options) as d:
    for f in families():
        clients(d, *f, port, 5300)
        sizes(d, f[2], port)
    same(d.drops(), {}, "nothing was dropped")
done()
