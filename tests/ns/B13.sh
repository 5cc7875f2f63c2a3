#!/bin/bash
# The container has the host's address, so it cannot name the host by it; and
# the alias that stands for the host breaks when the host's address changes.
# Right: the alias given by --map-guest-addr leads to the host's address of the
# moment, within two seconds of a change, in both directions; what the
# container was given at the start stays as it is.
# once
#
#   c ──asks A──> h: .1, later .50      h: .50 ──> c, seen as A

. "$(dirname "$0")"/lib.sh

WAIT=2
A=169.254.1.2 A6=fd00::2

F -u 5000 --no-map-gw --map-guest-addr $A --map-guest-addr $A6
serve c echo 0.0.0.0 5000 :: 5000
before=$(run c ip -br addr show dev hp)
serve h echo 192.0.2.1 9005 2001:db8::1 9005
for a in $A $A6; do
	ok "$a: the host" ask c $a 9005 -c
	ok "$a: from one port" ask c $a 9005 -c -B 7000
done
stop $SP

for n in 50 51; do
	run h ip addr flush dev hp scope global
	ip -n "${X}h" addr add 192.0.2.$n/24 dev hp
	ip -n "${X}h" addr add 2001:db8::$n/64 dev hp nodad
	ip -n "${X}h" route add default via 192.0.2.254
	ip -n "${X}h" route replace default via 2001:db8::fe
	serve h echo 192.0.2.$n 9005 2001:db8::$n 9005
	for a in $A $A6; do
		ok "$a: the host at .$n" wait_until ask c $a 9005 -c -w 0.2
		ok "$a: .$n, from the port used before" \
			wait_until ask c $a 9005 -c -B 7000 -w 0.2
	done
	like "who the host is, at .$n" \
		"$(ask h 192.0.2.$n 5000 -c -b 192.0.2.$n)" "saw $A "
	like "who the host is, at ::$n" \
		"$(ask h 2001:db8::$n 5000 -c -b 2001:db8::$n)" "saw $A6 "
	ok "the new address itself" ask c 192.0.2.$n 9005 -c
	stop $SP
done
is "the container's addresses have not changed" \
	"$(run c ip -br addr show dev hp)" "$before"
alive
done_testing
