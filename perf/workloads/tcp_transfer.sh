# shellcheck shell=bash
# tcp_transfer: a gigabyte each way, compared, while both ends pause at random
#
# A run is broken if a byte is wrong or missing, or if nothing moves for a second.

workload_cells()
{
	local path dir way n=1000000000 pause=200 ways="up down both" paths="tap lo"

	case $LEVEL in
	smoke) n=20000000 pause=5 ways=both ;;
	quick) n=200000000 ways=both ;;
	esac
	for path in $paths; do for dir in in out; do for way in $ways; do
		echo "op=tcp_transfer path=$path dir=$dir mtu=1500 way=$way bytes=$n pause=$pause secs=$((n / 150000000))"
	done; done; done
}
