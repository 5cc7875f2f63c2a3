#!/bin/bash
# A program in the namespace binds a port below 1024 while we run, and -u auto
# shall publish it; the forwarder has given up the right to do so. Right: if the
# right was there at the start, an agent on the host binds it, as wildcard, on
# an address or an interface; it is gone with the port, and the agent with us.
# once
#
#   c binds 53, 123 ──> h offers them, bound by the agent

. "$(dirname "$0")"/lib.sh

WAIT=2

free()
{
	! bound h | grep -q ":$1\$"
}

F -u auto -U auto
serve c echo 0.0.0.0 53 :: 53
server=$SP
ok "v4" wait_until ask p 192.0.2.1 53 -c -w 0.1
ok "v6" wait_until ask p 2001:db8::1 53 -c -w 0.1
ok "over loopback" ask h 127.0.0.1 53 -c
is "who asks is seen" "$(ask p 192.0.2.1 53 -c -b 192.0.2.3 |
	awk '{ print $4 }')" 192.0.2.3
stop $server
ok "forgotten" wait_until free 53
serve h echo 127.0.0.1 123 ::1 123
ok "the other way, v4" wait_until ask c 127.0.0.1 123 -c -w 0.1
ok "the other way, v6" wait_until ask c ::1 123 -c -w 0.1
stop $SP
kill -KILL $FP
ok "nothing is left" wait_until no_forwarders

F -u 192.0.2.1%hp/auto
serve c echo 0.0.0.0 123
ok "on an address and an interface" wait_until ask p 192.0.2.1 123 -c -w 0.1
nok "not elsewhere" ask h 127.0.0.1 123 -c -w 0.3
alive
stop $FP

# Without the right: others are followed, and nothing is said
F_WRAP="setpriv --bounding-set=-net_bind_service --inh-caps=-net_bind_service"
if $F_WRAP true 2>/dev/null; then
	WRAP=$F_WRAP F -u auto
	serve c echo 0.0.0.0 1500
	ok "a high port without the right" \
		wait_until ask p 192.0.2.1 1500 -c -w 0.1
	nok "a low one is not there" ask p 192.0.2.1 123 -c -w 0.3
	alive
fi
done_testing
