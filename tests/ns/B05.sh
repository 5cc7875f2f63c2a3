#!/bin/bash
# With a changed port number answers leave by the wrong socket, or the sum of
# port and offset overruns 16 bits. Right: any pair of outer and inner port
# works, whichever is the larger, in both directions.
# once
#
#   p, h ──> h:OUTER ──tap or splice──> c:INNER      c:OUTER ──splice──> h:INNER

. "$(dirname "$0")"/lib.sh

F -u 6000:5000 -u 60000:1000 -u 65535:2 -u 3:65534 \
	-u 40000-40003:20000-20003 -U 60001:1001,4:65533
serve c echo 0.0.0.0 5000 :: 5000 0.0.0.0 1000 :: 1000 0.0.0.0 2 :: 2 \
	0.0.0.0 65534 :: 65534 0.0.0.0 20000 :: 20000 0.0.0.0 20003 :: 20003
for port in 6000 60000 65535 3 40000 40003; do
	for a in 192.0.2.1 2001:db8::1; do
		ok "from the LAN, $a $port" ask p $a $port -c
	done
	for a in 127.0.0.1 ::1; do
		ok "over loopback, $a $port" ask h $a $port -c
	done
done
serve h echo 127.0.0.1 1001 ::1 1001 127.0.0.1 65533 ::1 65533
for port in 60001 4; do
	for a in 127.0.0.1 ::1; do
		ok "from the namespace, $a $port" ask c $a $port -c
	done
done
alive
done_testing
