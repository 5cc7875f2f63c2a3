#!/bin/bash
# A guest that forwards, as one does that has containers of its own, loses
# segments of theirs, each 300th here: a transfer goes on within a round trip, or
# a time-out (200 ms) where what is sent again is lost as well. Losses count in
# both directions, of payload and acknowledgements.
# once
#
#   d <──veth──> c: forwards, loses <──tap──> h <──veth──> p:9001

. "$(dirname "$0")"/lib.sh
. "$DIR"/lib-tcp.sh

run c sh -c 'echo 1 >/proc/sys/net/ipv4/ip_forward
	echo 1 >/proc/sys/net/ipv6/conf/all/forwarding' 2>/dev/null ||
	skip "no forwarding here"
ip netns add "${X}d"
ip link add near netns "${X}d" type veth peer name far netns "${X}c"
ip -n "${X}c" -batch - <<-IP
	addr add 198.51.100.1/24 dev far
	addr add 2001:db8:1::1/64 dev far nodad
	link set far up
IP
ip -n "${X}d" -batch - <<-IP
	addr add 198.51.100.2/24 dev near
	addr add 2001:db8:1::2/64 dev near nodad
	link set near up
	route add default via 198.51.100.1
	route add default via 2001:db8:1::1
IP
run c nft -f - <<-NFT || skip "no nftables"
	table inet loss {
		chain forward {
			type filter hook forward priority 0
			numgen inc mod 300 0 counter drop
		}
	}
NFT
lost()
{
	run c nft -j list ruleset | jq '[.. | .counter? // empty | .packets] | add'
}

F
tserve p 192.0.2.2 9001 2001:db8::2 9001
for a in 192.0.2.2 2001:db8::2; do
	for way in push pull; do
		n=$(lost)
		start=$(now)
		like "$way, $a" "$(tcp d $way $a 9001 -s 40000000 -w 10)" \
			"^under way.$way ok"
		atmost "$way, $a: milliseconds" $(($(now) - start)) 4000
		atmost "$way, $a: frames lost" 2 $(($(lost) - n))
	done
done
atmost "segments kept behind a gap" 1 "$(stats tcp_kept_out_of_order)"
alive
done_testing
