# shellcheck shell=bash
# gate: the few cells that perf/gate compares; only when named

workload_cells()
{
	local secs=.4 dir

	for dir in in out; do
		echo "op=flood path=tap dir=$dir mtu=1500 mode=gso secs=$secs"
		echo "op=closed path=tap dir=$dir size=1400 window=32 secs=$secs"
	done
	echo "op=closed path=lo dir=in size=1400 window=32 secs=$secs"
	echo "op=rr path=tap dir=in size=64 count=3000 secs=$secs"
	echo "op=newflows path=tap dir=in size=64 count=5000 secs=$secs"
}
