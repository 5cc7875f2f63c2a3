#!/bin/bash
# 25,000 one-shot clients of one published port: every one is answered, and
# afterwards the forwarder holds few descriptors and little memory.
# once
# limit: 90
#
#   p .2, 25,000 source ports ──> h:5000 ──tap──> c
#   h 127.0.0.1, as many      ──> h:5000 ──splice─> c

. "$(dirname "$0")"/lib.sh

F -u 5000
serve c echo 0.0.0.0 5000 :: 5000
ok "25,000 clients" udp p oneshot 192.0.2.1 5000 -n 25000 --first 10000 \
	--window 32 -b 192.0.2.2
ok "and one more" ask p 192.0.2.1 5000 -c
ok "and one over IPv6" ask p 2001:db8::1 5000 -c
few()
{
	local n=0 p

	for p in $(forwarders); do
		n=$((n + $(ls /proc/"$p"/fd | wc -l)))
	done
	atmost "$1: descriptors" $n 199
	atmost "$1: KiB of memory" "$(pss)" 8192
}

few "over the tap"
ok "25,000 clients over loopback" udp h oneshot 127.0.0.1 5000 -n 25000 \
	--first 10000 --window 32 -b 127.0.0.1
ok "and one more over loopback" ask h 127.0.0.1 5000 -c
few "over loopback too"
alive
done_testing
