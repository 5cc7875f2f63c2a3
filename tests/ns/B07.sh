#!/bin/bash
# One socket in the container sends to many peers and all its datagrams reach
# the first of them. Right: the destination is taken from each datagram, and
# each answer comes from the peer that was asked.
#
#   c, one socket ──> p .2:9001, .3:9002, .2:9002, in turn, before any answer

. "$(dirname "$0")"/lib.sh

F
serve p echo 192.0.2.2 9001 192.0.2.3 9002 192.0.2.2 9002 \
	2001:db8::2 9001 2001:db8::3 9002 2001:db8::2 9002
ok "v4" udp c spread 192.0.2.2 9001 192.0.2.3 9002 192.0.2.2 9002 -n 20
ok "v6" udp c spread 2001:db8::2 9001 2001:db8::3 9002 2001:db8::2 9002 -n 20
done_testing
