# shellcheck shell=bash
# tcp: one connection of iperf3, by MTU, over tap and loopback, both ways
#
# The client sends, unless reverse=1: then a connection from outside carries
# data of the container, and the other way round.

workload_cells()
{
	local mtus="1500 4000 16384 65520" families="4 6" secs=3 reverse="0 1" mtu f dir r

	case $LEVEL in
	smoke)
		echo "op=stream path=tap dir=out mtu=1500 secs=1"
		echo "op=stream path=tap dir=in family=6 mtu=1500 secs=1"
		echo "op=stream path=lo dir=in mtu=1500 secs=1"
		return ;;
	quick) mtus="1500 65520" families=4 secs=1 reverse=0 ;;
	esac
	for mtu in $mtus; do for f in $families; do for dir in in out; do
		for r in $reverse; do
			echo "op=stream path=tap dir=$dir family=$f mtu=$mtu reverse=$r secs=$secs"
			# No segments on the way through loopback
			[ "$mtu" = 65520 ] || continue
			echo "op=stream path=lo dir=$dir family=$f mtu=$mtu reverse=$r secs=$secs"
		done
	done; done; done
}
