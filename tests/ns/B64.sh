#!/bin/bash
# Addresses change, interfaces stay: users want to publish on an interface, and
# without rights. Right: the socket is bound to the device; what comes by
# another is not served, and a new address is.
# once
#
#   p ──hp──> h:5000 ──> c        h ──lo──x

. "$(dirname "$0")"/lib.sh

F -u %hp/5000 -u 192.0.2.1%hp/5001-5001:5000-5000 -u %lo/5002-5002:5000-5000
serve c echo 0.0.0.0 5000 :: 5000
ok "by the device" ask p 192.0.2.1 5000 -c
ok "by the device, v6" ask p 2001:db8::1 5000 -c
nok "not by loopback" ask h 127.0.0.1 5000 -c -w 0.3
nok "not by loopback, v6" ask h ::1 5000 -c -w 0.3
ok "address and device" ask p 192.0.2.1 5001 -c
nok "loopback only, from outside" ask p 192.0.2.1 5002 -c -w 0.3
ok "loopback only" ask h 127.0.0.1 5002 -c
more_addresses
ok "a new address" ask p 192.0.2.11 5000 -c
ok "a new address, v6" ask p 2001:db8::11 5000 -c
nok "not where an address was given" ask p 192.0.2.11 5001 -c -w 0.3
alive
stop $FP

f_args --netns "${X}c" -u %nothere/5000
fails "no such interface" 'nothere' $H "${ARGV[@]}"
f_args --netns "${X}c" -u 192.0.2.1%nothere/5000
fails "address, and no such interface" 'nothere' $H "${ARGV[@]}"
f_args --netns "${X}c" -u %hp/5000
nok "nothing is left of it" ip -n "${X}c" link show hp

# Without rights: SO_BINDTODEVICE needs none since Linux 5.7
if is_root; then
	user="setpriv --reuid=1000 --regid=1000 --clear-groups --inh-caps=-all"
	AS=$user target -Urn
	chmod 777 $T
	FPID=$T/user.pid
	FLOG=$T/user.log
	# shellcheck disable=SC2086
	$H $user "$PASTA" -f -q --config-net -t none -T none -U none \
		-u %hp/5000 -P $FPID $TP >$FLOG 2>&1 &
	FP=$!
	wait_until f_up
	is "an ordinary user" "$(bound h | xargs)" \
		'0.0.0.0%hp:5000 [::]%hp:5000'
	alive
fi
done_testing
