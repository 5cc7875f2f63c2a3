#!/bin/bash
# A real program at both ends: questions and answers, and a transfer that ends
# with an empty datagram, in both directions.
# once
#
#   p, h: socat ──> h:5000 ──> c: socat      c: socat ──> p: socat

. "$(dirname "$0")"/lib.sh

command -v socat >/dev/null || skip "no socat"

head -c 53248 /dev/urandom >$T/file

# listens NS PORT
listens()
{
	bound "$1" | grep -q ":$2\$"
}

# transfer NAME FAMILY RX-NS PORT TX-NS ADDR: seven datagrams and an empty one.
# The receiver does not connect: the kernel may refuse a datagram meanwhile.
transfer()
{
	rm -f $T/got
	run "$3" socat -u "UDP$2-RECV:$4,null-eof,rcvbuf=1000000" \
		OPEN:$T/got,creat &
	local p=$!

	wait_until listens "$3" "$4"
	run "$5" socat -u -b 8192 OPEN:$T/file "UDP$2:$6:$4,shut-null"
	wait_until gone $p
	kill $p 2>/dev/null
	ok "$1, v$2" cmp $T/file $T/got
}

# answer NAME FAMILY RX-NS PORT TX-NS ADDR: a server that takes one client
answer()
{
	run "$3" socat "UDP$2-LISTEN:$4,fork" EXEC:"sed -u s/^/hello_/" &
	local p=$!

	wait_until listens "$3" "$4"
	is "$1, v$2" "$(echo you | run "$5" socat -t 1 - "UDP$2:$6:$4")" hello_you
	kill $p
	wait $p 2>/dev/null
}

F -u 5000,5001 -U 5002,5003
warm
transfer "in from the LAN" 4 c 5000 p 192.0.2.1
transfer "in from the LAN" 6 c 5000 p '[2001:db8::1]'
transfer "in over loopback" 4 c 5000 h 127.0.0.1
transfer "in over loopback" 6 c 5000 h '[::1]'
transfer "out" 4 p 9001 c 192.0.2.2
transfer "out" 6 p 9001 c '[2001:db8::2]'
transfer "out over loopback" 4 h 5002 c 127.0.0.1
transfer "out over loopback" 6 h 5002 c '[::1]'
answer "asked from the LAN" 4 c 5001 p 192.0.2.1
answer "asked from the LAN" 6 c 5001 p '[2001:db8::1]'
answer "asked over loopback" 4 c 5001 h 127.0.0.1
answer "asked by the container" 4 p 9002 c 192.0.2.2
answer "asked by the container" 6 p 9002 c '[2001:db8::2]'
done_testing
