# shellcheck shell=bash
# instances: 1, 10, 100 and 200 forwarders on one host

workload_cells()
{
	local n counts="1 10 100 200"

	[ "$LEVEL" = full ] || counts="1 10"
	[ "$LEVEL" != smoke ] || counts=2
	for n in $counts; do echo "op=instances count=$n secs=$((2 + n / 10))"; done
}
