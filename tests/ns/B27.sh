#!/bin/bash
# Datagrams above about 1500 bytes never arrive, or the largest come back cut.
# Right: every size to the protocol's maximum passes both ways, at any MTU; one
# that is too big costs only itself.
#
#   p, h ──SIZE──> c ──SIZE──> back      c ──SIZE──> p ──SIZE──> back

. "$(dirname "$0")"/lib.sh

# shellcheck disable=SC2086 # sizes are words

sizes="1472 1473 2953 9000 32000 65492 65493 65507"
serve p echo 192.0.2.2 9001 2001:db8::2 9001
serve c echo 0.0.0.0 5000 :: 5000
serve h echo 127.0.0.1 5001 ::1 5001

for mtu in 65520 1500; do
	F -u 5000 -U 5001 -m $mtu
	for a in 192.0.2.1 2001:db8::1; do
		ok "in, MTU $mtu, $a" udp p sweep --to $a 5000 -- $sizes
	done
	for a in 192.0.2.2 2001:db8::2; do
		ok "out, MTU $mtu, $a" udp c sweep --to $a 9001 -- $sizes
	done
	[ $mtu = 1500 ] || for a in 127.0.0.1 ::1; do
		ok "in over loopback, $a" udp h sweep --to $a 5000 -- $sizes
		ok "out over loopback, $a" udp c sweep --to $a 5001 -- $sizes
	done
	alive
	stop $FP
done
F -u 5000
nok "one byte more than v4 can carry" ask p 192.0.2.1 5000 -c -s 65508 -w 0.2
ok "costs only itself" ask p 192.0.2.1 5000 -c
done_testing
