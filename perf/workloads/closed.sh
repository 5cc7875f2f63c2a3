# shellcheck shell=bash
# closed: a bounded window, which loses nothing; the figure to compare CPU by
#
# The window times the memory of one datagram stays below the smallest socket
# queue of the way.

workload_cells()
{
	local f dir path secs=1.5

	[ "$LEVEL" = full ] || secs=.5
	[ "$LEVEL" != smoke ] || secs=.2
	for path in tap lo; do for dir in in out; do for f in 4 6; do
		case "$LEVEL $path $dir $f" in
		smoke\ *\ in\ 6 | smoke\ *\ out\ 4 | smoke\ lo\ *) continue ;;
		esac
		echo "op=closed path=$path dir=$dir family=$f size=1400 window=32 secs=$secs"
		[ "$LEVEL" = full ] || continue
		echo "op=closed path=$path dir=$dir family=$f size=1400 window=1 secs=$secs"
		echo "op=closed path=$path dir=$dir family=$f size=8900 window=8 secs=$secs"
		echo "op=closed path=$path dir=$dir family=$f size=65472 window=1 secs=$secs"
	done; done; done
}
