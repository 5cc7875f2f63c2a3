#!/bin/bash
# The address to publish on is not there yet (boot, VRRP, VPN), so the start
# fails. Right: by default it fails and says why; with --freebind the port is
# bound all the same, and works once the address comes.
# once
#
#   p ──later──> h 192.0.2.50:5000 ──> c

. "$(dirname "$0")"/lib.sh

"$PASTA" --freebind --version >/dev/null 2>&1 || skip "no --freebind"
f_args --netns "${X}c" -u 192.0.2.50/5000
fails "the address is not there" '192.0.2.50.*does not have|--freebind' \
	$H "${ARGV[@]}"
serve c echo 0.0.0.0 5000 :: 5000
F --freebind -u 192.0.2.50/5000 -u 2001:db8::50/5000 -u 5001-5001:5000-5000
nok "not there yet" ask p 192.0.2.50 5000 -c -w 0.3
ip -n "${X}h" addr add 192.0.2.50/24 dev hp
ip -n "${X}h" addr add 2001:db8::50/64 dev hp nodad
ok "once it is there" ask p 192.0.2.50 5000 -c
ok "once it is there, v6" ask p 2001:db8::50 5000 -c
nok "only there" ask p 192.0.2.1 5000 -c -w 0.3
ip -n "${X}h" addr del 192.0.2.50/24 dev hp
nok "gone again" ask p 192.0.2.50 5000 -c -w 0.3
ip -n "${X}h" addr add 192.0.2.50/24 dev hp
ok "back again" ask p 192.0.2.50 5000 -c
ok "other ports are not touched" ask p 192.0.2.1 5001 -c
alive
done_testing
