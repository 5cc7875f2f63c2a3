#!/bin/bash
# With "host loopback off" the container still reaches services on the host's
# 127.0.0.1. Right: no path is left, by no alias, gateway, 127/8 or ::1; only
# what -U names is offered.
# once
#
#   c ─/─> h 127.0.0.1:9005, ::1:9005

. "$(dirname "$0")"/lib.sh

serve h echo 127.0.0.1 9005 ::1 9005 127.0.0.1 9006
closed()
{
	for a in 127.0.0.1 127.0.0.2 ::1 192.0.2.254 2001:db8::fe 192.0.2.1 \
		2001:db8::1; do
		nok "$a, $1" ask c $a 9005 -w 0.3
	done
	gw=$(ip -n "${X}c" -6 route show default |
		sed -n 's/.*via \(fe80[^ ]*\) dev \([^ ]*\).*/\1%\2/p')
	[ -z "$gw" ] || nok "the IPv6 gateway, $1" ask c "$gw" 9005 -w 0.3
}

F --no-map-gw
closed --no-map-gw
stop $FP
F --map-host-loopback none
closed "--map-host-loopback none"
stop $FP
F --no-map-gw -U 9006
closed "-U for another port"
ok "what -U names is offered" ask c 127.0.0.1 9006
stop $FP
F --deny 127.0.0.0/8 --deny ::1
closed "--deny"
stop $FP
F
ok "open by default, by the gateway" ask c 192.0.2.254 9005
done_testing
