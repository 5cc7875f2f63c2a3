# shellcheck shell=bash
# pasta_udp: host <-> namespace over tap and loopback, by MTU, ways to send
#
# What other projects publish as one number: here with the loss beside it, and
# the CPU time per datagram. An exchange after the other (rr) for each way, too.
# iperf_udp is how they measure it: UDP of iperf3, with its control connection by
# the same way. Its loss is computed from bytes; it does not see all of it itself.

workload_cells()
{
	local mtus="1500 4000 16384 65520" families="4 6" streams="1 4" secs=1.5 n=20000
	local modes="plain mmsg gso" mtu f path dir mode x

	case $LEVEL in
	smoke) smoke_cells; return ;;
	quick) mtus="1500 65520" streams=1 modes="mmsg gso" secs=.5 n=5000 ;;
	esac
	for mtu in $mtus; do
		for path in tap lo; do for dir in in out; do for f in $families; do
			for mode in $modes; do for x in $streams; do
				# One datagram fills a message already
				[ "$mode $mtu" != "gso 65520" ] || continue
				echo "op=flood path=$path dir=$dir family=$f mtu=$mtu mode=$mode streams=$x secs=$secs"
			done; done
			echo "op=iperf_udp path=$path dir=$dir family=$f mtu=$mtu rate=10G secs=$secs"
			[ "$mtu" = 65520 ] || continue
			echo "op=rr path=$path dir=$dir family=$f mtu=$mtu size=64 count=$n"
		done; done; done
	done
}

smoke_cells()
{
	local path dir

	for path in tap lo; do
		echo "op=iperf_udp path=$path dir=out mtu=1500 rate=1G secs=1"
		for dir in in out; do
			echo "op=flood path=$path dir=$dir mtu=1500 mode=gso streams=1 secs=.2"
			echo "op=flood path=$path dir=$dir family=6 mtu=1500 mode=mmsg streams=1 secs=.2"
		done
		echo "op=rr path=$path dir=in family=6 mtu=1500 size=64 count=300"
		echo "op=rr path=$path dir=out mtu=1500 size=64 count=300"
	done
	echo "op=flood path=tap dir=in mtu=65520 mode=mmsg streams=4 secs=.2"
	echo "op=flood path=tap dir=out mtu=65520 mode=plain streams=1 secs=.2"
}
