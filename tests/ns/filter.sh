#!/bin/bash
# Who may answer on a port that the container has sent from: by default any
# port of an address it spoke to; --udp-filter makes it anybody, or only the
# very port.
# once
#
#   c:7001 ──> p .2:9001; then .2:9002 and .3:9003 send to h:7001

. "$(dirname "$0")"/lib.sh

# heard FILTER V4 V6: who reaches c; "" is the default
heard()
{
	F ${1:+--udp-filter $1}
	for f in 4 6; do
		if [ $f = 4 ]; then
			net=192.0.2. us=192.0.2.1
		else
			net=2001:db8:: us=2001:db8::1
		fi
		serve c hear ${net}2 9001 -B 7001 -w 1.5
		wait_until has $SLOG "^from ${net}2 9001"
		udp p tx $us 7001 -b ${net}2 -B 9002
		udp p tx $us 7001 -b ${net}3 -B 9003
		wait $SP
		is "filter ${1:-not given}, v$f" \
			"$(sed -n 's/^from \([^ ]* [0-9]*\).*/\1/p' $SLOG |
				sed "s/.*[.:]//" | xargs)" "$2"
	done
	like "filter ${1:-not given}: drops counted" "$(stats filtered)" "$3"
	stop $FP
}

serve p echo 192.0.2.2 9001 2001:db8::2 9001
heard "" "2 9001 2 9002" '^[1-9]'
heard address "2 9001 2 9002" '^[1-9]'
heard endpoint "2 9001 2 9002 3 9003" '^0'
heard port "2 9001" '^[1-9]'
done_testing
