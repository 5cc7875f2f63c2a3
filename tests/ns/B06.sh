#!/bin/bash
# Several clients use one port at the same time and answers reach the wrong
# one, because a batch of datagrams is handled as if all came from the first
# sender. Right: each goes by its own addresses; nothing is lost or swapped.
#
#   8 clients in p, h or c, 50 datagrams each, all sent before any is read

. "$(dirname "$0")"/lib.sh

# mixed NAME NS ADDR PORT; the question makes neighbours known, which a burst
# would overrun
mixed()
{
	ask "$2" "$3" "$4" >/dev/null
	ok "$1" udp "$2" mix "$3" "$4"
}

F -u 5000 -U 5001
serve c echo 0.0.0.0 5000 :: 5000
for a in 192.0.2.1 2001:db8::1; do
	mixed "in from the LAN, $a" p $a 5000
	mixed "in from the host itself, $a" h $a 5000
done
for a in 127.0.0.1 ::1; do
	mixed "in over loopback, $a" h $a 5000
done
serve p echo 192.0.2.2 9001 2001:db8::2 9001
for a in 192.0.2.2 2001:db8::2; do
	mixed "out, $a" c $a 9001
done
serve h echo 127.0.0.1 5001 ::1 5001
for a in 127.0.0.1 ::1; do
	mixed "out over loopback, $a" c $a 5001
done
done_testing
