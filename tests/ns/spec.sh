#!/bin/bash
# Every form of a port specification binds exactly the sockets it says.
# once
#
#   p, h ──> h:PORTS ──> c

. "$(dirname "$0")"/lib.sh

more_addresses

# binds SPEC... = WANT: what ss shows in h once the forwarder is up
binds()
{
	local args=()

	while [ "$1" != = ]; do
		args+=(-u "$1")
		shift
	done
	if try_F "${args[@]}"; then
		is "${args[*]}" "$(bound h | xargs)" "$2"
	else
		is "${args[*]}" "$(head -n 1 "$FLOG")" "$2"
	fi
	stop $FP
}

# both PORT...: that port on all addresses of both families
both()
{
	{
		printf '0.0.0.0:%s\n' "$@"
		printf '[::]:%s\n' "$@"
	} | sort | xargs
}

binds 5000 = "$(both 5000)"
binds 5000-5000:80-80 = "$(both 5000)"
binds 5000,5002 = "$(both 5000 5002)"
binds 5000-5003:6000-6003 = "$(both 5000 5001 5002 5003)"
binds 5000-5004,~5001-5003 = "$(both 5000 5004)"
binds '~5001-5003,5000-5004' = "$(both 5000 5004)"
binds '~1-4999,~5003-65535' = "$(both 5000 5001 5002)"
binds 5000 6000:5001 = "$(both 5000 6000)"
binds 192.0.2.1/5000 = 192.0.2.1:5000
binds '[192.0.2.1]/5000' = 192.0.2.1:5000
binds 2001:db8::1/5000 = '[2001:db8::1]:5000'
binds '[2001:db8::1]/5000-5001:80-81' = \
	'[2001:db8::1]:5000 [2001:db8::1]:5001'
binds ::1/5000-5000:5001-5001 = '[::1]:5000'
binds 127.0.0.1/5000 ::1/5000 = '127.0.0.1:5000 [::1]:5000'
binds 0.0.0.0/5000 ::/5000 = "$(both 5000)"
binds 0.0.0.0/5000 = 0.0.0.0:5000
binds %hp/5000 = '0.0.0.0%hp:5000 [::]%hp:5000'
binds 192.0.2.1%hp/5000 = 192.0.2.1%hp:5000
binds 2001:db8::1%hp/5000 = '[2001:db8::1]%hp:5000'
binds 127.0.0.1%lo/5000 = 127.0.0.1%lo:5000
binds ::1%lo/5000 = '[::1]%lo:5000'
binds none = ''

F -u 5000-5003:6000-6003 -u %hp/7000 -u ::1/7001-7001:6000-6000
serve c echo 0.0.0.0 6000 :: 6000 0.0.0.0 6003 :: 6003 0.0.0.0 7000 :: 7000
ok "the first of a range" ask p 192.0.2.1 5000 -c
ok "the last of a range" ask p 2001:db8::1 5003 -c
ok "by the device" ask p 192.0.2.1 7000 -c
ok "by the device, v6" ask p 2001:db8::1 7000 -c
nok "not by another device" ask h 127.0.0.1 7000 -c -w 0.3
ok "by loopback" ask h ::1 7001 -c
nok "not from outside" ask p 2001:db8::1 7001 -c -w 0.3
stop $FP

try_F -4 -u 5000
is "one family only" "$(bound h | xargs)" 0.0.0.0:5000
done_testing
