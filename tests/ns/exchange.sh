#!/bin/bash
# 200 exchanges with random payloads of many sizes, compared: none may be lost,
# cut or changed on any of the four ways, in either family.
#
#   in: p ──> h:5000 ──tap──> c       the same from h's own address
#       h lo ──splice──> c            out: c ──tap──> p:9001

. "$(dirname "$0")"/lib.sh

F -u 5000
serve c echo 0.0.0.0 5000 :: 5000
serve p echo 192.0.2.2 9001 2001:db8::2 9001
for a in 192.0.2.1 2001:db8::1; do
	ok "in from the LAN, $a" udp p exchange $a 5000 -n 200
	ok "in over the tap from the host, $a" udp h exchange $a 5000 -n 200
done
for a in 127.0.0.1 ::1; do
	ok "in over loopback, $a" udp h exchange $a 5000 -n 200
done
for a in 192.0.2.2 2001:db8::2; do
	ok "out, $a" udp c exchange $a 9001 -n 200
done
alive
done_testing
