#!/bin/bash
# A port published on 0.0.0.0 and on [::] explicitly fails to start, or serves
# one family only, because the first socket takes both. Right: both are served.
# once
#
#   p, h ──v4, v6──> h:5000 on 0.0.0.0 and on [::] ──> c

. "$(dirname "$0")"/lib.sh

both='0.0.0.0:5000 [::]:5000'
for spec in '-u 0.0.0.0/5000 -u ::/5000' '-u ::/5000 -u 0.0.0.0/5000' \
		'-u [::]/5000 -u 0.0.0.0/5000-5000:5000-5000'; do
	# shellcheck disable=SC2086
	F $spec
	is "$spec: both are bound" "$(bound h | xargs)" "$both"
	stop $FP
done
F -u 0.0.0.0/5000 -u ::/5000
serve c echo 0.0.0.0 5000 :: 5000
for a in 192.0.2.1 2001:db8::1; do
	ok "from the LAN, $a" ask p $a 5000 -c
done
for a in 127.0.0.1 ::1; do
	ok "over loopback, $a" ask h $a 5000 -c
done
stop $FP

ip netns add "${X}d"
F -u ::/5000
is "one family only" "$(bound h | xargs)" '[::]:5000'
NETNS=d F -u 0.0.0.0/5000
serve d echo 0.0.0.0 5000
ok "the other family, by another forwarder" ask p 192.0.2.1 5000 -c
alive
done_testing
