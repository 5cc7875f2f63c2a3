# shellcheck shell=bash
# overload: a flood, and whether all is well right after it

workload_cells()
{
	local dir mode path secs=1

	[ "$LEVEL" = full ] || secs=.3
	[ "$LEVEL" != smoke ] || secs=.2
	for path in tap lo; do for dir in in out; do for mode in mmsg gso; do
		[ "$LEVEL" != smoke ] || [ "$path $mode" = "tap gso" ] || continue
		echo "op=recover path=$path dir=$dir mtu=1500 mode=$mode secs=$secs count=200"
	done; done; done
}
