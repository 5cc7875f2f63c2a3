#!/bin/bash
# Conversations that would look the same stay apart: one client port to two
# addresses of the host, two published ports for one inner port, two inner
# addresses with one port; and each leaves from the address that the host's
# route to its remote wants.
# once
#
#   p:7100 ──> h .1:5000, .11:5000, .1:5001 ──> c:5000
#   c .1:7001, c .77:7001 ──> p .2 and q 198.51.100.2 behind hq 198.51.100.1

. "$(dirname "$0")"/lib.sh

more_addresses
ip link add hq netns "${X}h" type veth peer name pq netns "${X}p"
ip -n "${X}h" addr add 198.51.100.1/24 dev hq
ip -n "${X}p" addr add 198.51.100.2/24 dev pq
ip -n "${X}h" link set hq up
ip -n "${X}p" link set pq up
F -u 5000 -u 5001:5000 --udp-filter port
serve c echo -v 0.0.0.0 5000
slog=$SLOG

ok "one client port to two addresses, and to two published ports" \
	udp p spread 192.0.2.1 5000 192.0.2.11 5000 192.0.2.1 5001 -n 3 -B 7100
is "the guest sees three conversations" \
	"$(grep '^got' $slog | sort -u | wc -l)" 3
ok "one of them has the client's own port" grep -q " 7100\$" $slog

serve p echo 192.0.2.2 9001 198.51.100.2 9001
like "by the default interface, its address" "$(ask c 192.0.2.2 9001 -B 7001)" \
	"saw 192.0.2.1 7001\$"
like "by another interface, that one's address" \
	"$(ask c 198.51.100.2 9001 -B 7001)" "saw 198.51.100.1 7001\$"
ok "both by one socket" udp c spread 192.0.2.2 9001 198.51.100.2 9001 -n 3

ip -n "${X}c" addr add 192.0.2.77/24 dev hp
like "a second inner address" "$(ask c 192.0.2.2 9001 -b 192.0.2.77 -B 7001)" \
	"saw 192.0.2.1 "
like "and the first again" "$(ask c 192.0.2.2 9001 -b 192.0.2.1 -B 7001)" \
	"saw 192.0.2.1 7001\$"
alive
done_testing
