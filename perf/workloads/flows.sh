# shellcheck shell=bash
# flows: the same load spread over 1 to 100,000 flows, or beside idle ones
#
# The cost of a datagram must not grow with the number of flows: a program that
# speaks to thousands at once has one port.

workload_cells()
{
	local n dir flows="1 100 5000 100000" secs=3 count=20000 rate=20000

	case $LEVEL in
	smoke) flows=100 secs=.2 rate=5000 ;;
	quick) flows="1 100 5000" secs=.5 count=3000 ;;
	esac
	for dir in in out; do
		for n in $flows; do
			echo "op=open path=tap dir=$dir size=1400 flows=$n rate=$rate secs=$secs"
		done
		for n in 0 ${flows##* }; do
			[ "$LEVEL" != smoke ] || continue
			echo "op=rr path=tap dir=$dir size=64 count=$count idle=$n"
		done
	done
}
