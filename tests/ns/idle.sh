#!/bin/bash
# An idle forwarder costs next to nothing: 3 MiB in all its processes, and no
# wake-up at all in 10 seconds when there is nothing to poll.
# once
# serial
#
#   PASTA attached to c, nothing published

. "$(dirname "$0")"/lib.sh

# switches: voluntary context switches of all processes
switches()
{
	local p

	for p in $(forwarders); do
		grep -h ^voluntary /proc/"$p"/task/*/status
	done | awk '{ n += $2 } END { print n + 0 }'
}

F
sleep 3 # sleep: start-up is over then, and the checks of the new addresses of h
atmost "KiB of memory" "$(pss)" 3072
before=$(switches)
ticks=$(cpu)
sleep 10 # sleep: the time that is looked at
is "voluntary switches in 10 s" $(($(switches) - before)) 0
is "clock ticks in 10 s" $(($(cpu) - ticks)) 0
atmost "processes" "$(forwarders | wc -l)" 3
alive
done_testing
