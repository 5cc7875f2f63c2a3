#!/bin/bash
# traceroute from a container shows only stars. Right: the time to live of each
# datagram is kept (we do not count as a hop), and a router's time-exceeded
# reaches the socket that sent it.
#
#   c, TTL 7 ──> p, sees 7      c, TTL 1 ──> p, routes 198.51.100.0/24: exceeded

. "$(dirname "$0")"/lib.sh

say()
{
	run c "$PY" -SE "$DIR/mark.py" say "$@"
}

# What p routes to; nobody needs to be there
ip netns add "${X}d"
ip link add far netns "${X}p" type veth peer name near netns "${X}d"
ip -n "${X}d" link set near up
run p sh -c 'echo 1 >/proc/sys/net/ipv4/ip_forward
	echo 1 >/proc/sys/net/ipv6/conf/all/forwarding
	ip addr add 198.51.100.1/24 dev far
	ip addr add 2001:db8:1::1/64 dev far nodad
	ip link set far up'
F
run p "$PY" -SE "$DIR/mark.py" see ph 9001 >>"$T"/see 2>&1 &
wait_until has "$T"/see ready
for a in 192.0.2.2 2001:db8::2; do
	: >"$T"/see
	for ttl in 7 64 33 255; do
		say "$a" 9001 --ttl "$ttl" -w 0.1 >/dev/null
	done
	is "as sent: $a" "$(awk '{ print $2 }' $T/see | xargs)" "7 64 33 255"
done
for a in 198.51.100.9 2001:db8:1::9; do
	like "exceeded: $a" "$(say "$a" 33434 --ttl 1 --recverr -n 3)" '^EHOSTUNREACH '
done
alive
done_testing
