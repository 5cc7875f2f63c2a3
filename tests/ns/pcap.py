# pcap.py FILE: read a capture; one line per frame, "in" or "out" as the guest
# sees it, what it is, and whether its UDP checksum is right. Status 1 if the
# file is no capture of whole records.
import struct
import sys


def words_sum(data):
    if len(data) % 2:
        data += b"\0"
    total = sum(struct.unpack("!%dH" % (len(data) // 2), data))
    while total >> 16:
        total = (total & 0xFFFF) + (total >> 16)
    return total


def udp(frame):
    l3 = frame[14:]
    kind = struct.unpack_from("!H", frame, 12)[0]
    if kind == 0x800:
        at, proto, ends = (l3[0] & 15) * 4, l3[9], l3[12:20]
        length = struct.unpack_from("!H", l3, 2)[0]
        if words_sum(l3[:at]) != 0xFFFF:
            return "bad IPv4 header"
    elif kind == 0x86DD:
        at, proto, ends = 40, l3[6], l3[8:40]
        length = 40 + struct.unpack_from("!H", l3, 4)[0]
    else:
        return "type %04x" % kind
    if proto != 17:
        return "protocol %d" % proto
    body = l3[at:length]
    pseudo = ends + struct.pack("!LL", len(body), proto)
    right = words_sum(pseudo + body) == 0xFFFF
    return "UDP %d > %d, %d bytes, %s" % (
        *struct.unpack_from("!HH", body),
        len(body) - 8,
        "right" if right else "wrong",
    )


data = open(sys.argv[1], "rb").read()
if struct.unpack_from("=LHHlLLL", data) != (0xA1B2C3D4, 2, 4, 0, 0, 262144, 1):
    sys.exit("not a capture")
ours = bytes.fromhex("9a559a559a55")
at = 24
while at < len(data):
    length, whole = struct.unpack_from("=LL", data, at + 8)
    frame = data[at + 16 : at + 16 + length]
    if length != whole or len(frame) != length:
        sys.exit("not a whole record at %d" % at)
    print("in" if frame[6:12] == ours else "out", udp(frame))
    at += 16 + length
