#!/bin/bash
# Whatever the tap's device may do for us, from nothing to segmentation: bytes
# of TCP arrive, in messages of many sizes and in a stream, both ways at once.
#
#   in: p ──> h:5000 ──tap──> c       out: c ──tap──> p:9001

. "$(dirname "$0")"/lib.sh
. "$DIR"/lib-tcp.sh

tserve c 0.0.0.0 5000 :: 5000
tserve p 192.0.2.2 9001 2001:db8::2 9001
jobs=("exchange -n 50" "push -s 8000001" "pull -s 8000001" "swap -s 4000001")
for mtu in 1500 65520; do
	F -m $mtu -t 5000
	for way in "p 192.0.2.1 5000" "c 2001:db8::2 9001"; do
		# shellcheck disable=SC2086
		is "MTU $mtu, $way" "$(tcp ${way%% *} each ${way#* } \
			"${jobs[@]}" | grep -c ': ok$')" ${#jobs[@]}
	done
	stop $FP
done
done_testing
