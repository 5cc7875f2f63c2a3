#!/bin/bash
# Discovery never reaches the container, though its program joined the group.
# Right: what the container joins is joined on the host, for published ports
# and for those it has sent from, and ends when it leaves.
# once
#
#   p ──239.1.1.1:5000, ff05::1:5──> hp ──> c: member

. "$(dirname "$0")"/lib.sh
. "$DIR"/lib-group.sh

# joined GROUP: is the host a member on hp?
joined()
{
	run h ip maddr show dev hp | grep -qw "$1"
}

left()
{
	! joined "$1"
}

F -u 5000
run p ip link set ph multicast on
said p ph 239.1.1.1 5000 before -w 0
group c hear "$TAP" 5000 239.1.1.1
four=$GLOG
fourpid=$GP
group c hear "$TAP" 5000 ff05::1:5
six=$GLOG
ok "the host joined the group" wait_until joined 239.1.1.1
ok "the host joined the IPv6 group" wait_until joined ff05::1:5
said p ph 239.1.1.1 5000 hello -t 3
ok "delivered, to the group" wait_until has $four \
	"got hello from 192.0.2.[23] [0-9]+ to 239.1.1.1 ttl "
said p ph ff05::1:5 5000 hello6 -t 3
ok "delivered, IPv6" wait_until has $six \
	"got hello6 from 2001:db8::[23] [0-9]+ to ff05::1:5 ttl "
nok "not what was sent before" has $four before
group h hear hp 5999 239.9.9.9
said p ph 239.9.9.9 5000 foreign -t 3
said p ph 239.1.1.1 5000 last -t 3
ok "the next arrives" wait_until has $four "got last"
nok "a group of a host program stays out" has $four foreign
stop $fourpid
ok "left with the last member" wait_until left 239.1.1.1

# Not published: the container sends from the port first
group c hear "$TAP" 5353 224.0.0.251 -s
mdns=$GLOG
said c "$TAP" 224.0.0.251 5353 multi-question -B 5353 -s -t 255
ok "the host joined mDNS's group" wait_until joined 224.0.0.251
group p respond ph 5353 224.0.0.251 -s
said c "$TAP" 224.0.0.251 5353 multi-question -B 5353 -s -t 255 -w 0.5
said p ph 224.0.0.251 5353 announcement -B 5353 -s -t 255
ok "an announcement is heard at the port it sent from" \
	wait_until has $mdns "got announcement from 192.0.2.[23] 5353 to 224.0.0.251"
alive
done_testing
