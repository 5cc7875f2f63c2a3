#!/bin/bash
# A QUIC stack sends trains of datagrams by UDP_SEGMENT, forbids fragments, and
# steers by ECN. Right: number, size, content and mark of each datagram survive,
# in and out, and nobody on the way ever makes or sees a fragment.
#
#   c ──> p:9001      p ──> h:5000 ──tap──> c      h 127.0.0.1 ──splice──> c

. "$(dirname "$0")"/lib.sh

quic()
{
	local ns=$1

	shift
	run "$ns" "$PY" -SE "$DIR/quic.py" "$@"
}

# fragments NS: made or put together by this kernel, both families
fragments()
{
	run "$1" awk '
		/^Ip:/ && $2 ~ /^[0-9]/ { n += $15 + $18 + $20 }
		/^Ip6(Reasm|Frag)/ { n += $2 }
		END { print n + 0 }' /proc/net/snmp /proc/net/snmp6
}

F -u 5000
start_server quic.py c server 0.0.0.0 5000
start_server quic.py c server :: 5000
start_server quic.py p server 192.0.2.2 9001
start_server quic.py p server 2001:db8::2 9001
for a in 192.0.2.2 2001:db8::2; do
	like "out: $a" "$(quic c client $a 9001 200 2>&1)" "^answered 2000$"
done
for a in 192.0.2.1 2001:db8::1; do
	like "in: $a" "$(quic p client $a 5000 200 2>&1)" "^answered 2000$"
done
for a in 127.0.0.1 ::1; do
	like "over loopback: $a" "$(quic h client $a 5000 200 2>&1)" \
		"^answered 2000$"
done
for n in h c p; do
	is "fragments in $n" "$(fragments $n)" 0
done
alive
done_testing
