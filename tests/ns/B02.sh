#!/bin/bash
# A client with a connected socket times out because the answer comes from
# another port than the one it asked. Right: the same host port both ways, also
# when published and inner port differ.
#
#   p, h ──ask :6000──> h ──tap or splice──> c:5000

. "$(dirname "$0")"/lib.sh

F -u 6000:5000
serve c echo 0.0.0.0 5000 :: 5000
for a in 192.0.2.1 2001:db8::1; do
	ok "from the LAN, $a" ask p $a 6000 -c -n 3
	ok "from the host itself, $a" ask h $a 6000 -c -n 3
done
for a in 127.0.0.1 ::1; do
	ok "over loopback, $a" ask h $a 6000 -c -n 3
done
nok "the inner number is not published" ask p 192.0.2.1 5000 -c -w 0.5
done_testing
