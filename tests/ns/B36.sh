#!/bin/bash
# A media server's notices no longer leave the container: what goes to a group
# is refused, or leaves with a TTL of 1. Right: it leaves by the host's
# interface with the sender's TTL, and answers come back from any port of any
# host. The container does not hear its own.
# once
#
#   c ──group──> hp ~~~ ph: sniffed, and answered from port 4444 of .3

. "$(dirname "$0")"/lib.sh
. "$DIR"/lib-group.sh

F -u 1900
group p sniff ph 1900
sniffed=$GLOG
group p respond ph 1900 239.255.255.250 -B 4444
group p respond ph 1900 ff05::c -B 4445
group c hear "$TAP" 1900
own=$GLOG
for ttl in 2 7; do
	said c "$TAP" 239.255.255.250 1900 search -t $ttl -w 1
	like "SSDP search, TTL $ttl: answered from another port" "$SAID" \
		"got answer from 192.0.2.[23] 4444 "
	ok "it left with TTL $ttl" wait_until has $sniffed \
		"^seen 192.0.2.1 [0-9]+ to 239.255.255.250 ttl $ttl\$"
done
said c "$TAP" ff05::c 1900 search -t 3 -w 1
like "SSDP over IPv6: answered" "$SAID" "got answer from 2001:db8::[23] 4445 "
ok "it left with hop limit 3" wait_until has $sniffed "to ff05::c ttl 3\$"
said c "$TAP" ff02::c 1900 quiet -w 0.1
ok "link-local group" wait_until has $sniffed "to ff02::c ttl 1\$"
said c "$TAP" 239.255.255.250 1900 notify -B 1900 -s -b 239.255.255.250
is "nothing of its own came back" "$(grep -c got $own)" 0

ip -n "${X}h" route del default
said c "$TAP" 239.255.255.250 1900 search -t 5 -w 1
like "no default route on the host" "$SAID" "got answer "
alive
done_testing
