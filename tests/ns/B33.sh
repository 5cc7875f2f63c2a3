#!/bin/bash
# The host's path has a small MTU (VPN, cloud) and large packets of containers
# vanish, or are fragmented behind their back. Right: what may not be fragmented
# and is longer than the path takes gives EMSGSIZE inside, with the MTU;
# ordinary programs, which demand nothing, lose nothing.
#
#   c ──> h, route with MTU 1400 ──> p          c ──> h ──> p, routes with 1300

. "$(dirname "$0")"/lib.sh

DO=2 WANT=1 DONT=0 # of IP_MTU_DISCOVER

say()
{
	run c "$PY" -SE "$DIR/mark.py" say "$@"
}

# A narrow link behind p, at whose end d answers
ip netns add "${X}d"
ip -n "${X}d" link set lo up
ip link add pd netns "${X}p" mtu 1300 type veth peer name dp netns "${X}d" mtu 1300
run p sh -c 'echo 1 >/proc/sys/net/ipv4/ip_forward
	echo 1 >/proc/sys/net/ipv6/conf/all/forwarding
	ip addr add 198.51.100.1/24 dev pd; ip link set pd up
	ip addr add 2001:db8:1::1/64 dev pd nodad'
run d sh -c 'ip addr add 198.51.100.2/24 dev dp; ip link set dp up
	ip addr add 2001:db8:1::2/64 dev dp nodad
	ip route add default via 198.51.100.1
	ip route add default via 2001:db8:1::1'
ip -n "${X}h" route replace 192.0.2.0/24 dev hp mtu 1400
F
serve p echo 192.0.2.2 9001 2001:db8::2 9001
serve d echo 198.51.100.2 9001 2001:db8:1::2 9001
warm
like "the route's MTU: what fits" "$(say 192.0.2.2 9001 --pmtu $DO -s 1300)" \
	'^answered '
like "the route's MTU: what does not" \
	"$(say 192.0.2.2 9001 --pmtu $DO -s 3000)" '^EMSGSIZE'
for a in 198.51.100.2 2001:db8:1::2; do
	say "$a" 9001 -w 2 >/dev/null
	like "the path's MTU is told, $a" \
		"$(say "$a" 9001 --pmtu $DO -s 1400 -n 2 -w 0.5)" '^EMSGSIZE 1300'
	like "and then known, $a" "$(say "$a" 9001 --pmtu $DO -s 1200)" \
		'^answered 1300'
	like "ordinary programs lose nothing then, $a" \
		"$(say "$a" 9001 --pmtu $WANT -s 3000)" '^answered'
	like "without the demand, $a" \
		"$(say "$a" 9001 --pmtu $DONT -s 8000)" '^answered'
done
for a in 192.0.2.2 2001:db8::2; do
	like "host's link: larger, $a" "$(say "$a" 9001 -s 9000)" '^answered'
	like "host's link: larger on demand, $a" \
		"$(say "$a" 9001 --pmtu $DO -s 9000)" '^EMSGSIZE 1500'
done
alive
done_testing
