#!/bin/bash
# A container is restarted and its port is "already in use", by the old
# instance of the forwarder. Right: on SIGTERM, and when the namespace ends,
# sockets are closed before the exit can be seen, so a restart works at once.
# once
#
#   start, stop, start again without a pause, many times

. "$(dirname "$0")"/lib.sh

bad=0
for _ in $(seq 30); do
	try_F -u 5000 || bad=$((bad + 1))
	stop $FP
done
is "30 restarts by SIGTERM, foreground" "failed $bad" "failed 0"

f_args --netns "${X}c" -u 5000 -P $T/pid
bad=0
for _ in $(seq 15); do
	timeout 5 $H "$PASTA" "${ARGV[@]:2}" || bad=$((bad + 1))
	kill "$(cat $T/pid)"
	wait_until gone "$(cat $T/pid)" || bad=$((bad + 1))
done
is "15 restarts by SIGTERM, background" "failed $bad" "failed 0"

bad=0
for _ in $(seq 5); do
	try_F -u 5000 || bad=$((bad + 1))
	ip netns del "${X}c"
	wait $FP || bad=$((bad + 1))
	ip netns add "${X}c"
done
is "5 restarts after the end of the namespace" "failed $bad" "failed 0"

bad=0
for _ in $(seq 5); do
	timeout 5 $H "$PASTA" --config-net -u 5000 -t none -U none -- true ||
		bad=$((bad + 1))
done
is "5 commands one after the other" "failed $bad" "failed 0"
done_testing
