#!/bin/bash
# Each destination sees another source port, so hole punching (STUN, WebRTC)
# fails. Right: one inner address and port is one outer port, whatever the
# destination, also when the inner number itself is not to be had outside.
# once
#
#   c:PORT ──> p .2:9001 and .3:9002: both see the same port

. "$(dirname "$0")"/lib.sh

F
serve p echo 192.0.2.2 9001 192.0.2.3 9002 2001:db8::2 9001 2001:db8::3 9002
serve h hold 192.0.2.1 7002 2001:db8::1 7002
for port in 0 7001 7002; do
	like "v4, inner port $port" \
		"$(udp c spread 192.0.2.2 9001 192.0.2.3 9002 -n 3 -B $port)" \
		'^missing 0 wrong 0 ports [0-9]+$'
	like "v6, inner port $port" \
		"$(udp c spread 2001:db8::2 9001 2001:db8::3 9002 -n 3 -B $port)" \
		'^missing 0 wrong 0 ports [0-9]+$'
done
done_testing
