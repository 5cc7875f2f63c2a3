#!/bin/bash
# An empty datagram makes its socket look readable for ever, so the forwarder
# eats a whole processor and the network dies. Right: empty datagrams are
# delivered, and no time is spent once they are.
#
#   p, h, c ──empty──> echo ──empty──> back

. "$(dirname "$0")"/lib.sh

F -u 5000 -U 5001
serve c echo 0.0.0.0 5000 :: 5000
serve h echo 127.0.0.1 5001 ::1 5001
for a in 192.0.2.1 2001:db8::1; do
	ok "in from the LAN, $a" ask p $a 5000 -c -s 0 -n 3
done
for a in 127.0.0.1 ::1; do
	ok "in over loopback, $a" ask h $a 5000 -c -s 0 -n 3
	ok "out over loopback, $a" ask c $a 5001 -c -s 0 -n 3
done
before=$(cpu)
sleep 1 # sleep: the time that is looked at
atmost "clock ticks used in the second after" $(($(cpu) - before)) 2
for a in 192.0.2.1 2001:db8::1; do
	ok "ordinary ones still pass, $a" ask p $a 5000 -c
done
alive
done_testing
