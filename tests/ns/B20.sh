#!/bin/bash
# A service stops, clients go on polling it, and a flow that could not be set
# up brings the whole forwarder down. Right: a failed flow leaves nothing
# behind, and the first datagram or connection after the service is back gets
# through.
# once
#
#   p, h, c: 500 sockets each ──> closed ports, then the servers start

. "$(dirname "$0")"/lib.sh
. "$DIR"/lib-tcp.sh

# refused NAME CLIENT...: are all 500 connections refused or reset?
refused()
{
	local got

	got=$(tcp "${@:2}" -n 500 --window 250 -w 2)
	like "TCP: $1" "$got" \
		'^((Connection(Refused|Reset)|BrokenPipe)Error [0-9]+ ?)+$'
}

F -u 5000 -U 5001 -t 5000 -T 5001
for a in 192.0.2.1 2001:db8::1; do
	nok "nobody listens, from the LAN, $a" \
		udp p oneshot $a 5000 -n 500 --window 500 -w 0.2
	refused "nobody listens, from the LAN, $a" p many $a 5000
done
for a in 127.0.0.1 ::1; do
	nok "nobody listens, over loopback, $a" \
		udp h oneshot $a 5000 -n 500 --window 500 -w 0.2
	refused "nobody listens, over loopback, $a" h many $a 5000
	nok "nobody listens, out over loopback, $a" \
		udp c oneshot $a 5001 -n 500 --window 500 -w 0.2
	refused "nobody listens, out over loopback, $a" c many $a 5001
done
for a in 192.0.2.2 2001:db8::2; do
	nok "nobody listens, out, $a" \
		udp c oneshot $a 9001 -n 500 --window 500 -w 0.2
	refused "nobody listens, out, $a" c many $a 9001
done
alive
serve c echo 0.0.0.0 5000 :: 5000
serve h echo 127.0.0.1 5001 ::1 5001
serve p echo 192.0.2.2 9001 2001:db8::2 9001
tserve c 0.0.0.0 5000 :: 5000
tserve h 127.0.0.1 5001 ::1 5001
tserve p 192.0.2.2 9001 2001:db8::2 9001
for a in 192.0.2.1 2001:db8::1; do
	ok "the server is back, $a" ask p $a 5000 -c
	ok "TCP: the server is back, $a" tcp p ask $a 5000
done
for a in 127.0.0.1 ::1; do
	ok "the server is back, over loopback, $a" ask h $a 5000 -c
	ok "the host's server is back, $a" ask c $a 5001 -c
	ok "TCP: the server is back, over loopback, $a" tcp h ask $a 5000
	ok "TCP: the host's server is back, $a" tcp c ask $a 5001
done
for a in 192.0.2.2 2001:db8::2; do
	ok "the remote server is back, $a" ask c $a 9001 -c
	ok "TCP: the remote server is back, $a" tcp c ask $a 9001
done
done_testing
