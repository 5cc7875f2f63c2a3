# Endpoint-independent mapping (RFC 4787 REQ-1) and who may answer (REQ-8):
# one source port towards every remote; --udp-filter decides who gets in.
# parallel

from lib import *

host = own_address()
if not host:
    skip("the host has no address but loopback")
REMOTES = 3


def start(d):
    """Speak to the first remotes from one guest port; returns them and the map's address."""
    remotes = [host_socket(host) for _ in range(REMOTES)]
    me = (GUEST4, free_port(host))
    for r in remotes[:2]:
        d.send(datagram(me, (host, r.getsockname()[1]), b"out"))
    seen = [r.recvfrom(99)[1] for r in remotes[:2]]
    same(seen[0], seen[1], "two remotes see one address and port")
    same(seen[0], (host, me[1]), "the guest's own port on the host's address")
    return me, remotes, seen[0]


def answers(d, me, sock, mapped):
    """Does a datagram of this remote reach the guest?"""
    before = d.drops().get("filtered", 0)
    sock.sendto(b"in", mapped)
    f = d.recv(QUIET * 3)
    filtered = d.drops().get("filtered", 0) - before
    if f:
        same((f.dst, f.data, f.ok, filtered), (me, b"in", True, 0), "it arrives whole")
        if not sock.getsockname()[0].startswith("127."):
            same(f.src, sock.getsockname(), "it comes from the remote's own address")
    else:
        same(filtered, 1, "what is kept out is counted")
    return f is not None


# who:                 spoken to, another port of it, another address
for level, want in (("address", (True, True, False)),
                    ("endpoint", (True, True, True)),
                    ("port", (True, False, False))):
    with Daemon("--udp-filter", level) as d:
        me, remotes, mapped = start(d)
        other = host_socket("127.0.0.5")
        same(answers(d, me, remotes[0], mapped), want[0], "%s: one that was spoken to" % level)
        same(answers(d, me, remotes[2], mapped), want[1], "%s: another port of its address" % level)
        same(answers(d, me, other, mapped), want[2], "%s: another address" % level)
        if level != "address":
            continue
        d.send(datagram(me, remotes[2].getsockname(), b"now"))
        same(remotes[2].recvfrom(99), (b"now", mapped), "the third remote sees the same port")
        h = host_socket()
        d.send(datagram(me, (GW4, h.getsockname()[1]), b"own"))
        got, peer = h.recvfrom(99)
        same((got, peer), (b"own", ("127.0.0.1", me[1])), "the gateway is reached by its own socket")
        h.sendto(b"back", peer)
        same(d.recv().src, (GW4, h.getsockname()[1]), "and answers")
        # The kernel refuses a stranger, so that nothing is counted
        host_socket().sendto(b"in", peer)
        same(d.recv(QUIET), None, "a stranger cannot use that socket")
done()
