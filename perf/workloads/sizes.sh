# shellcheck shell=bash
# sizes: small, usual and large datagrams to and from another host
#
# Kept per change, so that throughput does not fall between two releases unseen.

workload_cells()
{
	local f dir size secs=1

	[ "$LEVEL" != smoke ] || return 0
	for f in 4 6; do for dir in in out; do for size in 64 512 1200 8900 65487; do
		[ "$LEVEL" = full ] || { [ $f = 4 ] && secs=.4; } || continue
		echo "op=flood path=lan dir=$dir family=$f size=$size mode=mmsg secs=$secs"
	done; done; done
}
