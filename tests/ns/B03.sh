#!/bin/bash
# Requests arrive, but only clients on 127.0.0.1 ever see an answer. Right: the
# host's loopback, the host's own address and the LAN all get theirs, and the
# LAN client's address is kept.
# once
#
#   h 127.0.0.1, h .1, p .2 .3 ──> h:5000 ──> c

. "$(dirname "$0")"/lib.sh

for how in "" --no-map-gw; do
	# shellcheck disable=SC2086
	F -u 5000 $how
	serve c echo 0.0.0.0 5000 :: 5000
	for a in 127.0.0.1 192.0.2.1 ::1 2001:db8::1; do
		ok "from the host to $a $how" ask h $a 5000 -c
	done
	for a in 192.0.2.2 192.0.2.3; do
		like "the LAN's $a is kept $how" \
			"$(ask p 192.0.2.1 5000 -c -b $a)" "saw $a "
	done
	like "the LAN's IPv6 is kept $how" \
		"$(ask p 2001:db8::1 5000 -c -b 2001:db8::3)" "saw 2001:db8::3 "
	stop $SP $FP
done
done_testing
