#!/bin/bash
# RFC 5382 REQ-8, hairpinning: a container connects to a port of its own that is
# published on the host, by the host's address or by one that stands for it. The
# connection comes back to it, and the server sees what a neighbour would: the
# external address, unless that is its own.
# once
#
#   c ──tap──> h: socket to 192.0.2.1:5000 ──lo──> h: -t 5000 ──tap──> c:5000
#
#   address of the host in c     leads by      the server sees
#   its own                      the tap       the same
#   --map-guest-addr             the tap       that alias
#   the gateway                  loopback      itself

. "$(dirname "$0")"/lib.sh
. "$DIR"/lib-tcp.sh

jobs=("exchange -n 30" "swap -s 1000000" "early -s 100000" "both -n 3"
	"reset -w 1")

# turned NAME ADDR SEEN: by ADDR the container reaches itself
turned()
{
	local job want

	like "$1: the client" "$(tcp c ask "$2" 5000)" "^saw $3 [0-9]+\$"
	tcp c each "$2" 5000 "${jobs[@]}" >$T/each
	for job in "${jobs[@]}"; do
		want=ok
		[ "$job" != "reset -w 1" ] || want=ConnectionResetError
		is "$1: $job" "$(sed -n "s/^$job: //p" $T/each)" $want
	done
}

# ways: connections opened and accepted over the tap, and spliced; 8 each time
ways()
{
	echo "$(stats tcp_opened_by_guest)" "$(stats tcp_accepted)" \
		"$(stats tcp_spliced)"
}

# c has addresses of its own
F -t 5000 -a 10.9.0.2 -n 24 -g 10.9.0.1 -a fd00::2 -g fd00::1
tserve c 0.0.0.0 5000 :: 5000
turned "the host's address" 192.0.2.1 192.0.2.1
turned "the host's address, v6" 2001:db8::1 2001:db8::1
turned "the gateway" 10.9.0.1 10.9.0.2
turned "the gateway, v6" fd00::1 fd00::2
is "the ways they took" "$(ways)" "32 16 16"
ok "all of it is over" wait_until no_connections
stop $SP $FP

# c has those of the host, which it cannot name but by an alias
ip netns del "${X}c"
ip netns add "${X}c"
ip -n "${X}c" link set lo up
F -t 5000 --map-guest-addr 169.254.1.2 --map-guest-addr fd99::2
tserve c 0.0.0.0 5000 :: 5000
turned "an alias" 169.254.1.2 169.254.1.2
turned "an alias, v6" fd99::2 fd99::2
turned "the gateway, addresses shared" 192.0.2.254 192.0.2.1
is "the ways they took" "$(ways)" "24 16 8"
ok "all of it is over" wait_until no_connections
alive
done_testing
