# shellcheck shell=bash
# load: latency under load, and what arrives of what is offered

workload_cells()
{
	local dir rate secs=1 rates="5000 10000 20000 40000 80000"
	local floods="50000 100000 200000 400000 800000"

	case $LEVEL in
	smoke) return ;;
	quick) rates="5000 20000" floods="50000 200000 800000" secs=.5 ;;
	esac
	for dir in in out; do
		for rate in $rates; do
			echo "op=open path=tap dir=$dir size=1400 rate=$rate secs=$secs"
		done
		for rate in $floods; do
			echo "op=flood path=tap dir=$dir mtu=1500 mode=mmsg rate=$rate secs=$secs"
		done
	done
}
