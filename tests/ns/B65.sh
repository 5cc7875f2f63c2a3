#!/bin/bash
# An explicit listen address is replaced by a wildcard one when the port is
# also found by auto-detection. Right: explicit settings win, and no socket is
# leaked.
# once
#
#   -u 192.0.2.1/5000 -u auto; c binds 5000 and 5001

. "$(dirname "$0")"/lib.sh

has_bound()
{
	bound h | grep -qxF "$1"
}

not_bound()
{
	! has_bound "$1"
}

F -u 192.0.2.1/5000 -u auto
serve c echo 0.0.0.0 5000 :: 5000 0.0.0.0 5001 :: 5001
echo_server=$SP
ok "auto finds the other port" wait_until has_bound 0.0.0.0:5001
is "what is bound" "$(bound h | grep ':500[01]$' | xargs)" \
	"0.0.0.0:5001 192.0.2.1:5000 [::]:5001"
ok "the explicit address works" ask p 192.0.2.1 5000 -c
nok "no other does" ask p 2001:db8::1 5000 -c -w 0.5
ok "the detected port works" ask p 2001:db8::1 5001 -c
stop $echo_server
ok "auto forgets" wait_until not_bound 0.0.0.0:5001
is "what is bound then" "$(bound h | grep ':500[01]$' | xargs)" 192.0.2.1:5000
done_testing
