# shellcheck shell=bash
# memory: before and after many flows

workload_cells()
{
	local n counts="1000 10000 100000"

	[ "$LEVEL" = full ] || counts=1000
	for n in $counts; do
		echo "op=memory dir=out flows=$n secs=$((n / 10000 + 1))"
		[ "$LEVEL" = smoke ] || echo "op=memory dir=in flows=$n secs=$((n / 10000 + 1))"
	done
}
