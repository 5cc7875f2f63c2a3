#!/bin/bash
# Under many clients the forwarder runs out of descriptors and its published
# ports stay dead. Right: it raises its own limit; where it cannot, the oldest
# one-shot flows give way, and new clients are served at once.
# once
#
#   ulimit -n; p, h: 3000 clients ──> h:5000; c: 1000 sockets ──> p:9001

. "$(dirname "$0")"/lib.sh

clients()
{
	ok "$1: clients from the LAN" udp p oneshot 192.0.2.1 5000 -n 3000
	ok "$1: v6" udp p oneshot 2001:db8::1 5000 -n 500
	udp h oneshot 127.0.0.1 5000 -n 1000 -w 1 >/dev/null
	udp c oneshot 192.0.2.2 9001 -n 1000 -w 1 >/dev/null
	ok "$1: another client" ask p 192.0.2.1 5000 -c
	ok "$1: another one over loopback" ask h 127.0.0.1 5000 -c
	ok "$1: another inner socket" ask c 192.0.2.2 9001 -c
	ok "$1: another inner socket, v6" ask c 2001:db8::2 9001 -c
	alive
}

serve p echo 192.0.2.2 9001 2001:db8::2 9001
serve c echo 0.0.0.0 5000 :: 5000
LIMITS="-Sn 64" F -u 5000
clients "soft limit 64"
stop $FP
# The right to raise the hard limit would undo the second test
WRAP="setpriv --bounding-set=-sys_resource --inh-caps=-sys_resource"
LIMITS="-n 256" F -u 5000
clients "hard limit 256"
atmost "descriptors" "$(ls /proc/$FP/fd | wc -l)" 256
done_testing
