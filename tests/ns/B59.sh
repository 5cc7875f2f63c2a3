#!/bin/bash
# The target is given as /proc/PID/ns/net, where inotify tells nothing, and the
# forwarder never ends after the process is gone. Right: it ends soon, also
# when the target is given as PID, and also when nobody reaps the process.
# once
#
#   h: sleep in a network namespace of its own, PASTA attached to it

. "$(dirname "$0")"/lib.sh

# each NAME TARGET-WORDS...: ends after the death of $TP
each()
{
	local name=$1 start

	shift
	rm -f $T/pid
	f_args -P $T/pid "$@"
	$H "${ARGV[@]}" >$T/f0.log 2>&1 &
	FP=$!
	wait_until test -s $T/pid
	ok "$name: runs" kill -0 $FP
	start=$(now)
	kill -9 $TP
	wait $TP 2>/dev/null
	ok "$name: ends" wait_until gone $FP
	wait $FP
	is "$name: status" $? 0
	atmost "$name: milliseconds" $(($(now) - start)) 2500
	ok "$name: nothing left" wait_until no_forwarders
}

target -n
each "path" --netns /proc/$TP/ns/net
target -Urn
each "path, own user namespace" --netns /proc/$TP/ns/net
target -n
each "PID" $TP
target -Urn
each "PID, own user namespace" $TP
done_testing
