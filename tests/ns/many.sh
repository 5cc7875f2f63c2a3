#!/bin/bash
# A host with hundreds of addresses and routes, whose list fills several
# netlink datagrams, makes the start slow or loses some of them. Right: 300
# addresses and 500 routes are taken over, in order, within two seconds.
# once
#
#   h: 300 addresses, 500 routes  ──copied──>  c

. "$(dirname "$0")"/lib.sh

# batch COUNT FORMAT: one line each, %a and %b stand for two counting bytes
batch()
{
	local i a b

	for ((i = 0; i < $1; i++)); do
		a=$((i / 200)) b=$((i % 200 + 1))
		printf '%s\n' "${2//%a/$a}" | sed "s/%b/$b/"
	done
}

{
	batch 150 "addr add 10.1.%a.%b/32 dev hp"
	batch 150 "addr add 2001:db8:1:%a::%b/128 dev hp nodad"
	batch 250 "route add 10.2.%a.%b/32 via 192.0.2.254"
	batch 250 "route add 2001:db8:2:%a::%b/128 via 2001:db8::fe"
} >$T/batch
ip -n "${X}h" -batch $T/batch

# addrs NS VERSION: global addresses, first to last
addrs()
{
	ip -n "$X$1" -o "-$2" addr show dev hp scope global |
		awk '{ print $4 }'
}

# n_routes NS VERSION
n_routes()
{
	ip -n "$X$1" "-$2" route show dev hp | grep -cE '^(10.2|2001:db8:2)'
}

start=$(now)
F -u 5000
atmost "milliseconds to start" $(($(now) - start)) 2000
for v in 4 6; do
	is "addresses of IPv$v, in order" "$(addrs c $v | md5sum)" \
		"$(addrs h $v | md5sum)"
	is "how many" "$(addrs c $v | wc -l)" 151
	is "routes of IPv$v" "$(n_routes c $v)" 250
done
serve c echo 0.0.0.0 5000 :: 5000
ok "it works" ask p 192.0.2.1 5000 -c
ok "it works, v6" ask p 2001:db8::1 5000 -c
alive
done_testing
