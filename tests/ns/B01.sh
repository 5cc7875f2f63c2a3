#!/bin/bash
# A host has several addresses. A client asks one of them and gets the answer
# from another, so a connected socket drops it. Right: the answer leaves from
# the very address and port that was asked.
# once
#
#   p ──asks──> h .1 .11 ::1 ::11, 127.0.0.5 ──tap or splice──> c:5000

. "$(dirname "$0")"/lib.sh

more_addresses
F -u 5000
serve c echo 0.0.0.0 5000 :: 5000
for a in 192.0.2.1 192.0.2.11 2001:db8::1 2001:db8::11; do
	ok "from the LAN, $a" ask p $a 5000 -c
	ok "from the host itself, $a" ask h $a 5000 -c
	ok "from the host's $a to itself" ask h $a 5000 -c -b $a
done
for a in 127.0.0.1 127.0.0.5 ::1; do
	ok "over loopback, $a" ask h $a 5000 -c
done
ok "one client socket asks both v4 addresses" \
	udp p spread 192.0.2.1 5000 192.0.2.11 5000 -n 3
ok "one client socket asks both v6 addresses" \
	udp p spread 2001:db8::1 5000 2001:db8::11 5000 -n 3
ok "one client socket asks two loopback addresses" \
	udp h spread 127.0.0.1 5000 127.0.0.5 5000 -n 3
stop $FP

F -u 192.0.2.11/5000
ok "published on the second address only" ask p 192.0.2.11 5000 -c
nok "then the first is closed" ask p 192.0.2.1 5000 -c -w 0.5
alive
done_testing
