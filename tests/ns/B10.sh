#!/bin/bash
# The service in the container sees one internal address for all clients.
# Right: it sees the client's true address and port.
# once
#
#   p .2 and .3 ──> h:5000 ──tap──> c:5000 sees .2 and .3

. "$(dirname "$0")"/lib.sh

F -u 5000 -u 6000:5001
serve c echo 0.0.0.0 5000 :: 5000 0.0.0.0 5001 :: 5001
for port in 5000 6000; do
	for a in 192.0.2.2 192.0.2.3; do
		is "$a to $port" "$(ask p 192.0.2.1 $port -c -b $a -B 7003)" \
			"192.0.2.1 $port saw $a 7003"
	done
	for a in 2001:db8::2 2001:db8::3; do
		is "$a to $port" "$(ask p 2001:db8::1 $port -c -b $a -B 7003)" \
			"2001:db8::1 $port saw $a 7003"
	done
done
done_testing
