#!/bin/bash
# An idle forwarder costs next to nothing: 3 MiB in all its processes, and no
# wake-up at all in 10 seconds when there is nothing to poll.
# once
# serial
#
#   PASTA attached to c, nothing published; then four open connections

. "$(dirname "$0")"/lib.sh
. "$DIR"/lib-tcp.sh

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
stop $FP

# Connections that are open and say nothing: both paths, both ways
F -t 5000 -T 5002
tserve c 192.0.2.1 5000
tserve h 127.0.0.1 5002
tserve p 192.0.2.2 9001
for way in "h 127.0.0.1 5000" "c 127.0.0.1 5002" "p 192.0.2.1 5000" \
	"c 192.0.2.2 9001"; do
	# shellcheck disable=SC2086
	bg_tcp ${way%% *} hear ${way#* }
	ok "open: $way" wait_until has $CLOG hearing
done
sleep 3 # sleep: acknowledgements are looked for until then
is "connections" "$(stats tcp_connections) $(stats tcp_spliced_now)" "2 2"
before=$(switches)
sleep 5 # sleep: the time that is looked at
is "voluntary switches in 5 s, with connections" $(($(switches) - before)) 0
alive
done_testing
