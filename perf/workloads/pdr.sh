# shellcheck shell=bash
# pdr: the largest rate at which not more is lost than a goal; only when named
#
# The goal is for what the forwarder's way loses; the sink's own queue is counted
# apart. What is given is the rate that was forwarded, not the one offered.

workload_cells()
{
	local dir size secs=1 trials=7 width=5

	[ "$LEVEL" != smoke ] || return 0
	[ "$LEVEL" = full ] || { secs=.3 trials=3 width=10; }
	for dir in in out; do for size in 64 1472; do
		[ "$LEVEL" = full ] || [ $size = 1472 ] || continue
		echo "op=pdr path=tap dir=$dir mtu=1500 size=$size mode=mmsg goal=${GOAL:-0.5}" \
			"width=$width trials=$trials secs=$secs"
	done; done
}
