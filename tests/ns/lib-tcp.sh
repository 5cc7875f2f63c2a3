# shellcheck shell=bash disable=SC2034
# lib-tcp.sh - for tests of TCP, beside lib.sh
#
#   tcp NS CMD ARGS...     a client of tcp.py, see there
#   bg_tcp NS CMD ARGS...  the same in the background; $CP, $CLOG
#   tserve NS ARGS...      tcp.py serve, until it listens; $SP, $SLOG
#   tshort NS ARGS...      tcp.py short, the same
#   quick NAME LIMIT REGEX CMD...: it fails, within LIMIT ms, and says so
#   counter NS NAME        of /proc/net/snmp or netstat, as nstat calls it
#   listening NS           "ADDR:PORT" of its TCP listeners, as bound() does
#   listens NS PORT        is there one of this port?
#   no_connections         does the forwarder know of none?
#   fds                    how many descriptors the forwarder has
#   thin ARRAY             keeps a third of it where we are not root: what does
#                          not depend on rights need not be tried twice in full

tcp()
{
	local ns=$1

	shift
	nsenter --net=/run/netns/"$X$ns" $PY -SE "$DIR/tcp.py" "$@"
}

bg_tcp()
{
	CN=$((${CN:-0} + 1))
	CLOG=$T/c$CN.log
	nsenter --net=/run/netns/"$X$1" $PY -SE "$DIR/tcp.py" "${@:2}" \
		>$CLOG 2>&1 &
	CP=$!
}

tserve()
{
	start_server tcp.py "$1" serve "${@:2}"
}

tshort()
{
	start_server tcp.py "$1" short "${@:2}"
}

quick()
{
	local name=$1 limit=$2 want=$3 start out rc

	shift 3
	start=$(now)
	out=$("$@" 2>&1)
	rc=$?
	if [ $rc != 0 ]; then
		like "$name" "$out" "$want"
		atmost "$name: milliseconds" $(($(now) - start)) "$limit"
	else
		report 1 "$name"
		echo "#   succeeded: $*"
	fi
}

counter()
{
	run "$1" cat /proc/self/net/snmp /proc/self/net/netstat |
		awk -v want="$2" '
		NR % 2 { split($0, names); next }
		{ for (i = 2; i <= NF; i++)
			if (substr($1, 1, length($1) - 1) names[i] == want)
				print $i }'
}

listening()
{
	run "$1" ss -Hltn | awk '{ print $4 }' | while read -r a; do
		case $a in
		\*:*) echo "0.0.0.0:${a#*:}"; echo "[::]:${a#*:}" ;;
		*) echo "$a" ;;
		esac
	done | sort
}

listens()
{
	listening "$1" | grep -q ":$2\$"
}

thin()
{
	local -n array=$1
	local i

	is_root || for i in "${!array[@]}"; do
		((i % 3 == 0)) || unset "array[i]"
	done
}

no_connections()
{
	[ "$(stats tcp_connections)/$(stats tcp_spliced_now)" = 0/0 ]
}

fds()
{
	local f

	f=(/proc/"$FP"/fd/*)
	echo ${#f[@]}
}
