# shellcheck shell=bash
# ramp: load in steps, up and down, both ways at once
#
# Sent and received over time; what is lost at a step that a machine can carry
# shows how a forwarder takes a change.

workload_cells()
{
	local dir size step_s=1

	[ "$LEVEL" != smoke ] || return 0
	[ "$LEVEL" = full ] || step_s=.3
	for dir in in out; do for size in 1400 8900; do
		# A seventh of the largest load at each step
		echo "op=ramp path=tap dir=$dir size=$size peak=$((size * 700000))" \
			"step=$((size * 100000)) step_s=$step_s shape=up_down secs=$(awk "BEGIN { print $step_s * 13 + 3 }")"
	done; done
}
