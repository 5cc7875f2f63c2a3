#!/bin/bash
# ping in a container says nothing, or "operation not permitted" on the host, or
# loses its sequence numbers. Right: echo requests and replies pass for IPv4 and
# IPv6, for the gateway's alias too; errors come back; where the host allows
# nobody ping sockets, it is said with the name of the setting.
#
#   c, ping ──> h, ping socket ──> p, h's loopback, nowhere

. "$(dirname "$0")"/lib.sh

command -v ping >/dev/null || skip "no ping"

# range FIRST LAST: groups that may have ping sockets on the host
range()
{
	run h sh -c "echo $1 $2 >/proc/sys/net/ipv4/ping_group_range"
}

pings()
{
	run c ping -n -W 1 "$@"
}

received()
{
	sed -n 's/.*, \([0-9]*\) received.*/\1/p' <<<"$1"
}

# A new namespace allows nobody
F
nok "nobody may: no reply" pings -c 1 192.0.2.2
nok "nobody may: no reply" pings -c 1 192.0.2.2
is "said once" "$(grep -c ping_group_range "$FLOG")" 1
is "counted" "$(stats no_ping_socket)" 2
alive
stop "$FP"

range 0 0 || skip "cannot set ping_group_range"
F --map-host-loopback 192.0.2.254 --map-host-loopback 2001:db8::fe
for a in 192.0.2.2 2001:db8::2; do
	out=$(pings -c 3 -i 0.2 -s 1000 "$a")
	is "replies, $a" "$(received "$out")" 3
	like "in sequence, $a" "$out" "seq=1 .*seq=2 .*seq=3 "
	ok "a large one, $a" pings -c 1 -s 20000 "$a"
	ok "the largest, $a" pings -c 1 -s 65507 "$a"
	ok "an identifier of its own choice, $a" pings -c 1 -e 4242 "$a"
	nok "nobody there, $a" pings -c 1 "${a%2}99"
done
ok "two at once" sh -c "
	nsenter --net=/run/netns/${X}c ping -n -W 1 -c 5 -i 0.05 192.0.2.2 &
	a=\$!
	nsenter --net=/run/netns/${X}c ping -n -W 1 -c 5 -i 0.05 192.0.2.3 &&
		wait \$a"
for a in 192.0.2.254 2001:db8::fe; do
	ok "the alias is the host's loopback, $a" pings -c 1 "$a"
done
ip -n "${X}h" route add unreachable 198.51.100.0/24
ip -n "${X}h" route add unreachable 2001:db8:7::/64
for a in 198.51.100.1 2001:db8:7::1; do
	like "no way there: told, $a" "$(pings -c 1 "$a" 2>&1)" \
		"[Uu]nreachable"
done
# A router that refuses
ip netns add "${X}d"
ip link add far netns "${X}p" type veth peer name near netns "${X}d"
ip -n "${X}d" link set near up
run p sh -c 'echo 1 >/proc/sys/net/ipv4/ip_forward
	echo 1 >/proc/sys/net/ipv6/conf/all/forwarding
	ip addr add 203.0.113.1/24 dev far
	ip addr add 2001:db8:1::1/64 dev far nodad
	ip link set far up'
for a in 203.0.113.9 2001:db8:1::9; do
	like "exceeded on the way, $a" \
		"$(pings -c 3 -i 0.2 -t 1 "$a" 2>&1)" \
		"[Ee]xceeded"
done
is "none refused" "$(stats no_ping_socket)" 0
alive
done_testing
