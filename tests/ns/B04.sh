#!/bin/bash
# The host asks a daemon in the container: the request gets in, the answer never
# out, since the container may not speak to the host's loopback. Right: what
# the container may begin has nothing to do with answers.
# once
#
#   h 127.0.0.1, ::1 ──> h:5000 ──> c, host loopback off

. "$(dirname "$0")"/lib.sh

for how in "--no-map-gw" "--map-host-loopback none" "--deny 127.0.0.0/8" \
	"--no-map-gw --no-splice"; do
	# shellcheck disable=SC2086
	F -u 5000 $how
	serve c echo 0.0.0.0 5000 :: 5000
	ok "127.0.0.1, $how" ask h 127.0.0.1 5000 -c
	ok "::1, $how" ask h ::1 5000 -c
	ok "the host's own address, $how" ask h 192.0.2.1 5000 -c
	stop $SP $FP
done
done_testing
