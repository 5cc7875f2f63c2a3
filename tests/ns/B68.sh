#!/bin/bash
# The host's resolver listens on its loopback only (systemd-resolved, a VPN
# client): names resolve on the host and not in the container. Right: the
# address given by --dns-forward is answered by that resolver, for ports 53 and
# 853, and with the host's loopback closed to the container otherwise.
# once
#
#   c ──asks D──> h: 127.0.0.53 or ::1        c ──asks the gateway──> nothing

. "$(dirname "$0")"/lib.sh

D=192.0.2.53 D6=fd00::53

serve h echo 127.0.0.53 53 127.0.0.53 853 ::1 53 ::1 853 127.0.0.1 9005
printf 'nameserver 127.0.0.53\nnameserver ::1\n' >$T/resolv.conf
for gw in "" --no-map-gw; do
	F --dns-forward $D --dns-forward $D6 $gw
	for a in $D $D6; do
		for port in 53 853; do
			ok "$a port $port ${gw:-by default}" ask c $a $port -c
		done
	done
	[ "$gw" ] && nok "the host's loopback stays closed" \
		ask c 192.0.2.254 9005 -c -w 0.3
	nok "another port is not the resolver's" ask c $D 9005 -c -w 0.3
	is "several queries from one port, all answered" \
		"$(udp c spread $D 53 -n 20 | cut -d' ' -f1-4)" \
		"missing 0 wrong 0"
	alive
	stop $FP
done

# A resolver of the other family is better than none
echo 'nameserver ::1' >$T/resolv.conf
F --dns-forward $D
ok "IPv4 alias, the host has an IPv6 resolver only" ask c $D 53 -c
done_testing
