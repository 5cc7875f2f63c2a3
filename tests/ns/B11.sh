#!/bin/bash
# A service bound to the container's loopback only is reached from the host
# through the published port. Right: what is private inside stays private.
# once
#
#   h, p ──> h:5000 ─/─> c 127.0.0.1:5000, ::1

. "$(dirname "$0")"/lib.sh

F -u 5000
serve c echo 127.0.0.1 5000 ::1 5000
for a in 127.0.0.1 192.0.2.1 ::1 2001:db8::1; do
	nok "from the host to $a" ask h $a 5000 -c -w 0.5
done
nok "from the LAN" ask p 192.0.2.1 5000 -c -w 0.5
stop $FP

F -u 5000 --host-lo-to-ns-lo
ok "unless asked for" ask h 127.0.0.1 5000 -c
nok "and then for the host's loopback only" ask p 192.0.2.1 5000 -c -w 0.5
done_testing
