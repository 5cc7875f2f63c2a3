#!/bin/bash
# A DHCP server behind a published port never hears broadcasts. Right: a port
# published on any address takes them, and the server sees them as broadcasts;
# one published on one address does not, as on any host.
# once
#
#   p ──192.0.2.255:5000, 255.255.255.255:5000──> h ──> c

. "$(dirname "$0")"/lib.sh
. "$DIR"/lib-group.sh

F -u 5000 -u 192.0.2.1/5001
group c hear "$TAP" 5000
for to in 192.0.2.255 255.255.255.255; do
	said p ph $to 5000 "hello-$to"
	ok "$to arrives as it was sent" wait_until has $GLOG \
		"got hello-$to from 192.0.2.[23] [0-9]+ to $to "
done
said c "$TAP" 255.255.255.255 5000 own -w 0
said p ph 192.0.2.255 5000 marker
ok "another" wait_until has $GLOG "got marker"
is "its own is heard once, from its own kernel" \
	"$(grep -c "got own " $GLOG)" 1
like "the copy from the host was dropped" "$(stats own_group_copy)" '^[1-9]'
serve c echo 0.0.0.0 5002
stop $FP
F -u 5002
said p ph 192.0.2.255 5002 ask -w 1
like "the answer comes from the published port" "$SAID" \
	"got ask from 192.0.2.1 5002 "
alive
done_testing
