#!/bin/bash
# A client in the container waits for its whole timeout on a closed remote
# port. Right: ECONNREFUSED at once, for IPv4 and IPv6, also behind the alias of
# the host's loopback; and other remotes of the same socket lose nothing.
#
#   c ──> p:9999, nobody there: ICMP port unreachable ──> c

. "$(dirname "$0")"/lib.sh

say()
{
	run c "$PY" -SE "$DIR/mark.py" say "$@"
}

F --map-host-loopback 192.0.2.254 --map-host-loopback 2001:db8::fe
serve p echo 192.0.2.2 9001 2001:db8::2 9001
warm
for a in 192.0.2.2 2001:db8::2 192.0.2.254 2001:db8::fe; do
	like "refused at once: $a" "$(say "$a" 9999 -w 2)" '^ECONNREFUSED '
done
for a in 192.0.2.2 2001:db8::2; do
	like "an open port, $a" "$(say "$a" 9001)" '^answered '
	ok "one socket, a closed port in between, $a" \
		udp c spread "$a" 9001 "$a" 9001 -B 5555 -n 20
	udp c tx "$a" 9998 -B 5556 -n 5
	ok "errors of others cost nothing, $a" ask c "$a" 9001 -B 5556
done
is "no datagram was lost" "$(stats host_send_error)" 0
alive
done_testing
