#!/bin/bash
# A service stops, clients go on polling it, and a flow that could not be set
# up brings the whole forwarder down. Right: a failed flow leaves nothing
# behind, and the first datagram after the service is back gets through.
# once
#
#   p, h, c: 500 sockets each ──> closed ports, then the servers start

. "$(dirname "$0")"/lib.sh

F -u 5000 -U 5001
for a in 192.0.2.1 2001:db8::1; do
	nok "nobody listens, from the LAN, $a" \
		udp p oneshot $a 5000 -n 500 --window 500 -w 0.2
done
for a in 127.0.0.1 ::1; do
	nok "nobody listens, over loopback, $a" \
		udp h oneshot $a 5000 -n 500 --window 500 -w 0.2
	nok "nobody listens, out over loopback, $a" \
		udp c oneshot $a 5001 -n 500 --window 500 -w 0.2
done
for a in 192.0.2.2 2001:db8::2; do
	nok "nobody listens, out, $a" \
		udp c oneshot $a 9001 -n 500 --window 500 -w 0.2
done
alive
serve c echo 0.0.0.0 5000 :: 5000
serve h echo 127.0.0.1 5001 ::1 5001
serve p echo 192.0.2.2 9001 2001:db8::2 9001
for a in 192.0.2.1 2001:db8::1; do
	ok "the server is back, $a" ask p $a 5000 -c
done
for a in 127.0.0.1 ::1; do
	ok "the server is back, over loopback, $a" ask h $a 5000 -c
	ok "the host's server is back, $a" ask c $a 5001 -c
done
for a in 192.0.2.2 2001:db8::2; do
	ok "the remote server is back, $a" ask c $a 9001 -c
done
done_testing
