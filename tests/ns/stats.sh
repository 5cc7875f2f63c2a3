#!/bin/bash
# Every datagram that is lost has a reason with a number: SIGUSR1 writes one
# line of JSON with all counters, kernel drops included; --stats repeats it.
# Nothing else is written about packets.
# once
#
#   PASTA stopped: c or p floods its queues; PASTA goes on and accounts

. "$(dirname "$0")"/lib.sh

flood()
{
	kill -STOP $FP
	udp "$1" tx "$2" "$3" -n "$4" -s 1200
	kill -CONT $FP
	wait $SP
	got=$(sed -n 's/^got \([0-9]*\) .*/\1/p' $SLOG)
}

F -u 5000
warm
serve c echo 0.0.0.0 5000 :: 5000
echo_server=$SP
ok "ten exchanges" ask p 192.0.2.1 5000 -c -n 10
is "datagrams from the host" "$(stats host_rx_datagrams)" 10
is "datagrams to the tap" "$(stats tap_tx_datagrams)" 10
like "datagrams from the tap" "$(stats tap_rx_datagrams)" '^1[0-9]$'
is "flows" "$(stats flows_new)" 3
is "nothing else was written" "$(grep -vc '^{"' $FLOG)" 0
stop $echo_server

serve p rx 192.0.2.2 9001 -n 0 -w 5 --idle 0.5
flood c 192.0.2.2 9001 6000
drops=$(stats kernel_tap_tx_dropped)
atmost "a full tap queue loses frames" 1 "${drops:-0}"
# Frames of the container's kernel may be among those
like "and all are accounted for: $got + $drops" $((got + drops)) '^600[0-5]$'

serve c rx 0.0.0.0 5000 -n 0 -w 5 --idle 0.5
flood p 192.0.2.1 5000 40000
drops=$(stats kernel_socket_dropped)
atmost "a full socket loses datagrams" 1 "${drops:-0}"
is "and all are accounted for: $got + $drops" $((got + drops)) 40000
stop $FP

F --stats 1
two_lines()
{
	[ "$(grep -c '^{"' $FLOG)" -ge 2 ]
}
ok "--stats 1 repeats" wait_until two_lines
stop $FP

F --stats 1 -l $T/log -d
ok "the log file gets it too" wait_until has $T/log '\{"tap_rx_frames"'
done_testing
