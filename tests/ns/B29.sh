#!/bin/bash
# A burst of more than 1000 packets overflows the tap's default queue, so at
# small MTUs throughput collapses. Right: a longer queue; a burst of 3000
# survives in both directions.
#
#   p ──3000 x 1200──> h:5000 ──tap──> c      c ──3000 x 1200──> p

. "$(dirname "$0")"/lib.sh

# burst NAME RX-NS RX-ADDR RX-PORT TX-NS TX-ADDR TX-PORT
burst()
{
	serve "$2" rx "$3" "$4" -w 10 -n 3000
	udp "$5" tx "$6" "$7" -n 3000 -s 1200
	wait $SP
	is "$1" "$(tail -n 1 $SLOG)" "got 3000 twice 0 late 0"
}

F -u 5000 -U 5001 -m 1500
warm
burst "in, v4" c 0.0.0.0 5000 p 192.0.2.1 5000
burst "in, v6" c :: 5000 p 2001:db8::1 5000
burst "in over loopback" c 0.0.0.0 5000 h 127.0.0.1 5000
burst "out, v4" p 192.0.2.2 9001 c 192.0.2.2 9001
burst "out, v6" p 2001:db8::2 9001 c 2001:db8::2 9001
burst "out over loopback" h 127.0.0.1 5001 c 127.0.0.1 5001
done_testing
