# Frames that are wrong end here, each under its name; the daemon lives on.
# parallel

from lib import *

h4 = host_socket()
PORT = h4.getsockname()[1]
me, to = (GUEST4, 40000), (GW4, PORT)
me6, to6 = (GUEST6, 40000), (GW6, PORT)
good, good6 = datagram(me, to, b"data"), datagram(me6, to6, b"data")


def set_byte(raw, at, value):
    return raw[:at] + bytes([value]) + raw[at + 1:]


def with_ip_byte(raw, at, value):
    """Change one byte of the IPv4 header and make its checksum right again."""
    raw = set_byte(raw, 24 + at, value)
    head = raw[24:34] + b"\0\0" + raw[36:44]
    return raw[:34] + struct.pack("!H", fold(head) ^ 0xFFFF) + raw[36:]


with Daemon() as d:
    bad = [
        ("source port 0", "port_zero", datagram((GUEST4, 0), to, b"x")),
        ("destination port 0", "port_zero", datagram(me, (GW4, 0), b"x")),
        ("source port 0, IPv6", "port_zero", datagram((GUEST6, 0), to6, b"x")),
        ("UDP length 0", "bad_transport_header", datagram(me, to, b"data", length=0)),
        ("UDP length 4", "bad_transport_header", datagram(me, to, b"data", length=4)),
        ("UDP length 60,000", "bad_transport_header", datagram(me, to, b"data", length=60000)),
        ("UDP length 0, IPv6", "bad_transport_header", datagram(me6, to6, b"data", length=0)),
        ("UDP length 60,000, IPv6", "bad_transport_header", datagram(me6, to6, b"data", length=60000)),
        ("a wrong UDP checksum", "bad_checksum", datagram(me, to, b"data", csum=0x1234)),
        ("a wrong UDP checksum, IPv6", "bad_checksum", datagram(me6, to6, b"data", csum=0x1234)),
        ("a damaged payload", "bad_checksum", set_byte(good, len(good) - 1, 0x55)),
        ("a loopback source", "bad_address", datagram(("127.0.0.1", 9), to, b"x")),
        ("a loopback source, IPv6", "bad_address", datagram(("::1", 9), to6, b"x")),
        ("a loopback destination", "bad_address", datagram(me, ("127.0.0.1", PORT), b"x")),
        ("a multicast source", "bad_address", datagram(("224.0.0.1", 9), to, b"x")),
        ("an unspecified source", "bad_address", datagram(("0.0.0.0", 9), to, b"x")),
        ("an unknown EtherType", "unknown_ethertype", frame(b"x" * 50, kind=0x1234)),
        ("IP version 5", "bad_ip_header", with_ip_byte(good, 0, 0x55)),
        ("IPv4 header of 16 bytes", "bad_ip_header", with_ip_byte(good, 0, 0x44)),
        ("IPv4 length beyond the frame", "bad_ip_header",
         frame(ip4(GUEST4, GW4, udp(me, to, b"x"), length=2000))),
        ("IPv4 length of 10", "bad_ip_header",
         frame(ip4(GUEST4, GW4, udp(me, to, b"x"), length=10))),
        ("IPv6 length beyond the frame", "bad_ip_header",
         frame(ip6(GUEST6, GW6, udp(me6, to6, b"x"), length=2000))),
        ("SCTP", "protocol_not_carried", frame(ip4(GUEST4, GW4, bytes(20), proto=132))),
        ("no virtio-net header", "short_frame", b"x"),
        ("nothing but one", "short_frame", bytes(10)),
        ("13 bytes of frame", "short_frame", good[:23]),
        ("half an IPv4 header", "short_frame", good[:34]),
        ("half an IPv6 header", "short_frame", good6[:40]),
    ]
    for what, name, raw in bad:
        d.drop_test("%s: %s" % (what, name), {name: 1}, raw)

    data = bytes(300)
    d.drop_test("a super-frame with segments of 0 bytes",
                {"bad_transport_header": 1}, super_frame(me, to, data, 0))
    same(received(h4, 0), [], "none of these reached the host")
    d.send(good)
    same(received(h4, 1), [b"data"], "and a good one still does")
    same(d.recv(QUIET), None, "no frame came back")

    # Cut anywhere, a frame is a counted drop
    for whole, what in (good, "IPv4"), (good6, "IPv6"):
        before = sum(d.drops().values())
        d.send(*(whole[:n] for n in range(1, len(whole))))
        same(sum(d.drops().values()) - before, len(whole) - 1, "each beginning of an %s frame" % what)
    same(received(h4, 0), [], "none reached the host")
done()
