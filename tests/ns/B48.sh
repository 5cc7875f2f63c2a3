#!/bin/bash
# A laptop in a plane, an air-gapped server: no interface to copy from, so
# containers do not start at all. Right: it always starts, the container gets
# an address of its own, and what is local works.
# once
#
#   h without network ──127.0.0.1, ::1──> h:5000 ──> c

. "$(dirname "$0")"/lib.sh

# local_works NAME ...: forwarder started with the rest
local_works()
{
	local name=$1

	shift
	F -u 5000 "$@"
	ok "$name: over loopback" ask h 127.0.0.1 5000 -c
	ok "$name: over loopback, v6" ask h ::1 5000 -c
	ok "$name: the host, by an alias" ask c 169.254.1.2 9000 -c
	like "$name: an address" \
		"$(ip -n "${X}c" -o -4 addr show)" ' (tap0|hp) .*inet '
	alive
	stop $FP
	ip -n "${X}c" link show tap0 >/dev/null 2>&1 &&
		ip -n "${X}c" link del tap0
	return 0
}

serve c echo -v 0.0.0.0 5000 :: 5000
serve h echo 0.0.0.0 9000 :: 9000
alias=(--map-host-loopback 169.254.1.2)

ip -n "${X}h" link set hp down
local_works "link down" "${alias[@]}"
ip -n "${X}h" addr flush dev hp
local_works "no address" "${alias[@]}"
ip -n "${X}h" link del hp
local_works "no link" "${alias[@]}"
local_works "no link, published by name" "${alias[@]}" -u 127.0.0.1/5001

# podman's words
f_args -u 5000-5000:5000-5000 --dns-forward 169.254.1.1 -t none -T none \
	--no-map-gw --netns "/run/netns/${X}c" --map-guest-addr 169.254.1.2
F --dns-forward 169.254.1.1 --no-map-gw --map-guest-addr 169.254.1.2 \
	-u 5000-5000:5000-5000
ok "podman's words" ask h 127.0.0.1 5000 -c
alive
done_testing
