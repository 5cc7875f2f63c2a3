#!/bin/bash
# "auto" follows the ports that are bound on the other side: a new one is
# served within two seconds, one that is gone is forgotten, and our own sockets
# are not taken for programs.
# once
#
#   -u auto: c binds ──> h offers      -U auto: h binds ──> c's lo offers

. "$(dirname "$0")"/lib.sh

WAIT=2

free()
{
	! bound "$1" | grep -q ":$2\$"
}

F -u auto -U auto
serve c echo 0.0.0.0 5000 :: 5000
server=$SP
ok "in, v4" wait_until ask p 192.0.2.1 5000 -c -w 0.1
ok "in, v6" wait_until ask p 2001:db8::1 5000 -c -w 0.1
ok "in over loopback" wait_until ask h 127.0.0.1 5000 -c -w 0.1
serve h echo 127.0.0.1 5001 ::1 5001
hserver=$SP
ok "out over loopback, v4" wait_until ask c 127.0.0.1 5001 -c -w 0.1
ok "out over loopback, v6" wait_until ask c ::1 5001 -c -w 0.1
stop $server $hserver
ok "in: forgotten" wait_until free h 5000
ok "out: forgotten" wait_until free c 5001
serve c echo 0.0.0.0 5000 :: 5000
ok "in: again" wait_until ask p 192.0.2.1 5000 -c -w 0.1
is "our own sockets do not come back" \
	"$(bound h | xargs) / $(bound c | xargs)" \
	"0.0.0.0:5000 [::]:5000 / 0.0.0.0:5000 [::]:5000"
alive
done_testing
