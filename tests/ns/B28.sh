#!/bin/bash
# Receive buffers of 208 kB overflow whenever the forwarder does not run for a
# moment, and nobody inside can raise them. Right: it asks for large buffers on
# its own sockets, so a short stall loses nothing.
#
#   PASTA stopped; p, h or c sends 800 x 1200 bytes; PASTA goes on

. "$(dirname "$0")"/lib.sh

is_root || [ "$(cat /proc/sys/net/core/rmem_max 2>/dev/null || echo 0)" \
	-ge 2000000 ] || skip "net.core.rmem_max is small and we may not pass it"

# stall NAME RX-NS RX-ADDR RX-PORT TX-NS TX-ADDR TX-PORT
stall()
{
	local p

	serve "$2" rx "$3" "$4" -w 10 -n 800
	for p in $(forwarders); do kill -STOP "$p"; done
	udp "$5" tx "$6" "$7" -n 800 -s 1200
	for p in $(forwarders); do kill -CONT "$p"; done
	wait $SP
	is "$1" "$(tail -n 1 $SLOG)" "got 800 twice 0 late 0"
}

F -u 5000 -U 5001
warm
stall "in, v4" c 0.0.0.0 5000 p 192.0.2.1 5000
stall "in, v6" c :: 5000 p 2001:db8::1 5000
stall "in over loopback, v4" c 0.0.0.0 5000 h 127.0.0.1 5000
stall "in over loopback, v6" c :: 5000 h ::1 5000
stall "out, v4" p 192.0.2.2 9001 c 192.0.2.2 9001
stall "out, v6" p 2001:db8::2 9001 c 2001:db8::2 9001
stall "out over loopback, v4" h 127.0.0.1 5001 c 127.0.0.1 5001
stall "out over loopback, v6" h ::1 5001 c ::1 5001
done_testing
