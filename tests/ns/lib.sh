# shellcheck shell=bash
# lib.sh - the bench of the namespace tests
#
#      h: the host                          p: its LAN
#   ┌───────────────────────┐           ┌─────────────────────────┐
#   │ lo                    │           │ ph 192.0.2.2    .3      │
#   │ hp 192.0.2.1/24       ├───────────┤    2001:db8::2  ::3     │
#   │    2001:db8::1/64     │   veth    │ gateways only: .254 ::fe│
#   │ PASTA runs here       │           └─────────────────────────┘
#   └─────────┬─────────────┘
#             │ tap
#   ┌─────────┴─────────────┐
#   │ c: the container      │  its addresses are those of hp, copied
#   └───────────────────────┘
#
# A script sources this file and gets a fresh bench. It runs in mount and PID
# namespaces of its own with an empty /run, so it cannot touch the machine, it
# works the same for real root, for the root of a user namespace and for an
# ordinary user, and whatever it leaves behind dies with it.
#
#   F ARGS...       start the forwarder in h, attached to c, and wait until it
#                   is ready; $FP is its process; no -u means -u none
#   serve NS ...    start udp.py in h, c or p, wait until it is bound; $SP, $SLOG
#   ask NS ...      udp.py ask        run NS CMD...   anything in a namespace
#   ok, nok, is, like: one check each, done_testing at the end
#   wait_until CMD...: until it succeeds, at most $WAIT seconds
#
# Environment: PASTA (default ./pasta of the project), OFFLOAD (uso)
# Exit status: 0 passed, 77 skipped, else failed.

set -u
export LC_ALL=C

skip()
{
	echo "1..0 # SKIP $*"
	exit 77
}

if [ -z "${NS_BENCH:-}" ]; then
	flags=(--mount --pid --fork --mount-proc --kill-child)
	if [ "$(id -u)" != 0 ] || [ -n "${OWN_USERNS:-}" ]; then
		flags+=(--user --map-root-user --net)
	fi
	unshare "${flags[@]}" true 2>/dev/null ||
		skip "cannot make namespaces: $(unshare "${flags[@]}" true 2>&1)"
	NS_BENCH=1 exec unshare "${flags[@]}" bash "$0" "$@"
fi
unset NS_BENCH
# Children must not inherit what only we use
exec </dev/null

X=$(basename "$0" .sh)-
T=/run/t
WAIT=5
DIR=$(cd "$(dirname "$0")" && pwd)
PASTA=${PASTA:-$DIR/../../pasta}
case $PASTA in /*) ;; *) PASTA=$(cd "$(dirname "$PASTA")" && pwd)/pasta ;; esac
[ -x "$PASTA" ] || { echo "not ok - no $PASTA: run make"; exit 1; }
PY=/usr/bin/python3
[ -x $PY ] || PY=python3
# shellcheck disable=SC2034 # some are for scripts only
MAC=9a:55:9a:55:9a:55
HMAC=02:00:00:00:00:01
PMAC=02:00:00:00:00:02

checks=0
failed=0
H="nsenter --net=/run/netns/${X}h"
# shellcheck disable=SC2034
C="nsenter --net=/run/netns/${X}c"
# shellcheck disable=SC2034
P="nsenter --net=/run/netns/${X}p"

# Is this the machine's own root, not that of a user namespace?
is_root()
{
	[ "$(awk '{ print $3; exit }' /proc/self/uid_map)" = 4294967295 ]
}

pause()
{
	sleep 0.02 # sleep: between two looks
}

# wait_until CMD...: shell words, tried until they succeed
wait_until()
{
	local end=$((${EPOCHREALTIME/./} + WAIT * 1000000))

	until "$@" >/dev/null 2>&1; do
		[ "${EPOCHREALTIME/./}" -lt $end ] || return 1
		pause
	done
}

# has FILE REGEX
has()
{
	grep -Eq -e "$2" "$1" 2>/dev/null
}

gone()
{
	! kill -0 "$1" 2>/dev/null
}

run()
{
	local ns=$1

	shift
	nsenter --net=/run/netns/"$X$ns" "$@"
}

# bench_up: namespaces and the cable between h and p
bench_up()
{
	local n

	mount -t tmpfs -o mode=755 none /run
	mkdir -p $T/bin
	# A copy, because the program may be built anew while we run
	cp "$PASTA" $T/bin/pasta
	PASTA=$T/bin/pasta
	# A resolver of our own, also where the file points into /run
	n=$(readlink -m /etc/resolv.conf)
	[ -e "$n" ] || { mkdir -p "${n%/*}" && : >"$n"; }
	echo nameserver 192.0.2.2 >$T/resolv.conf
	mount --bind $T/resolv.conf "$n"
	for n in h c p; do
		ip netns add "$X$n"
		ip -n "$X$n" link set lo up
	done
	for n in h p; do
		run $n sh -c 'echo 0 >/proc/sys/net/ipv6/conf/default/dad_transmits'
	done
	ip link add hp address $HMAC netns "${X}h" type veth \
		peer name ph address $PMAC netns "${X}p"
	ip -n "${X}h" -batch - <<-IP
		addr add 192.0.2.1/24 dev hp
		addr add 2001:db8::1/64 dev hp nodad
		link set hp up
		neigh add 192.0.2.2 lladdr $PMAC dev hp
		neigh add 192.0.2.3 lladdr $PMAC dev hp
		neigh add 2001:db8::2 lladdr $PMAC dev hp
		neigh add 2001:db8::3 lladdr $PMAC dev hp
	IP
	ip -n "${X}p" -batch - <<-IP
		addr add 192.0.2.2/24 dev ph
		addr add 192.0.2.3/24 dev ph
		addr add 192.0.2.254/24 dev ph
		addr add 2001:db8::fe/64 dev ph nodad preferred_lft 0
		addr add 2001:db8::3/64 dev ph nodad
		addr add 2001:db8::2/64 dev ph nodad
		link set ph up
		neigh add 192.0.2.1 lladdr $HMAC dev ph
		neigh add 2001:db8::1 lladdr $HMAC dev ph
	IP
	ip -n "${X}h" -batch - <<-IP
		route add default via 192.0.2.254
		route add default via 2001:db8::fe
	IP
}

# more_addresses: a second address of each family on the host
more_addresses()
{
	ip -n "${X}h" addr add 192.0.2.11/24 dev hp
	ip -n "${X}h" addr add 2001:db8::11/64 dev hp nodad
}

# f_args ARGS...: the forwarder's argv in the array ARGV
f_args()
{
	local o

	ARGV=("$PASTA" -f -q ${CONFIG_NET---config-net} --runas 0)
	if "$PASTA" --offload=none --version >/dev/null 2>&1; then
		ARGV+=(--offload "${OFFLOAD:-uso}")
	fi
	for o in -t -T -u -U; do
		case " $* " in *" $o "*) ;; *) ARGV+=($o none) ;; esac
	done
	ARGV+=("$@")
}

# f_start NETNS LIMITS ARGS...: LIMITS are words for ulimit, or ""
# Sets FP, FLOG; the caller waits.
f_start()
{
	local ns=$1 limits=$2

	shift 2
	FN=$((${FN:-0} + 1))
	FLOG=$T/f$FN.log
	FPID=$T/f$FN.pid
	f_args -P "$FPID" --netns "/run/netns/$X$ns" "$@"
	# shellcheck disable=SC2086
	(
		[ -z "$limits" ] || ulimit $limits || exit
		exec $H ${WRAP:-} "${ARGV[@]}"
	) >$FLOG 2>&1 &
	FP=$!
}

# f_up: ready (status 0) or dead (1)?
f_up()
{
	[ -s "$FPID" ] || gone "$FP"
}

# F ARGS...: start the forwarder and wait for it
F()
{
	if ! try_F "$@"; then
		echo "# forwarder did not start: ${ARGV[*]}"
		sed 's/^/#   /' "$FLOG"
		exit 1
	fi
}

# try_F ARGS...: the same, but failing is allowed
try_F()
{
	f_start "${NETNS:-c}" "${LIMITS:-}" "$@"
	wait_until f_up
	[ -s "$FPID" ] && ! gone "$FP"
}

# stop PID...: end processes of ours and collect them
stop()
{
	kill "$@" 2>/dev/null
	wait "$@" 2>/dev/null
	return 0
}

# target UNSHARE-FLAGS...: a process in h with namespaces of its own; $TP
target()
{
	# shellcheck disable=SC2086
	$H ${AS:-} unshare "$@" sleep infinity &
	TP=$!
	# sleep: here the name of a program
	wait_until grep -qx sleep /proc/$TP/comm
}

# start_server PROGRAM NS ARGUMENTS...: one of our servers, until it is ready
start_server()
{
	local program=$1 ns=$2

	shift 2
	SN=$((${SN:-0} + 1))
	SLOG=$T/s$SN.log
	nsenter --net=/run/netns/"$X$ns" $PY -SE "$DIR/$program" "$@" \
		>$SLOG 2>&1 &
	# shellcheck disable=SC2034
	SP=$!
	if ! wait_until has $SLOG ^ready; then
		echo "# server did not start: $ns $program $*"
		sed 's/^/#   /' $SLOG
		exit 1
	fi
}

# serve NS UDP.PY-ARGUMENTS...
serve()
{
	start_server udp.py "$@"
}

# udp NS CMD ARGS...
udp()
{
	local ns=$1

	shift
	nsenter --net=/run/netns/"$X$ns" $PY -SE "$DIR/udp.py" "$@"
}

ask()
{
	local ns=$1

	shift
	udp "$ns" ask "$@"
}

# warm: the container knows its neighbour; until then its kernel keeps a few
# datagrams only. The cable between h and p has fixed entries for this.
warm()
{
	udp c tx 192.0.2.2 9
	udp c tx 2001:db8::2 9
}

# is_ending /proc/PID: a forwarder that has let go of its memory, and so has no
# program any more, holds the link until it is a zombie
is_ending()
{
	local comm state

	read -r _ comm state _ 2>/dev/null <"$1/stat" || return 1
	[ "$comm" = "(${PASTA##*/})" ] && [ "$state" != Z ] &&
		! readlink "$1/exe" >/dev/null
}

# Every process of ours that runs the forwarder's program
forwarders()
{
	local p

	for p in /proc/[0-9]*; do
		if [ "$p/exe" -ef "$PASTA" ] || is_ending "$p"; then
			echo "${p#/proc/}"
		fi
	done
	return 0
}

no_forwarders()
{
	[ -z "$(forwarders)" ]
}

# pss: KiB of all processes of the forwarder
pss()
{
	local p sum=0 n

	for p in $(forwarders); do
		n=$(awk '/^Pss:/ { print $2 }' /proc/"$p"/smaps_rollup)
		sum=$((sum + n))
	done
	echo $sum
}

# cpu: clock ticks of all processes of the forwarder
cpu()
{
	local p

	for p in $(forwarders); do cat /proc/"$p"/stat; done |
		awk '{ n += $14 + $15 } END { print n + 0 }'
}

# stats KEY: one number of the forwarder's statistics line; drop reasons too
stats()
{
	local n

	gone "$FP" && return 1
	n=$(grep -c '^.*{"' "$FLOG")
	kill -USR1 "$FP"
	wait_until more_stats "$n" || return
	tail -n 1 "$FLOG" | $PY -SE -c 'import json, sys
d = json.loads("{" + sys.stdin.read().split("{", 1)[1])
d.update(d.get("drops", {}))
print(d.get(sys.argv[1], "no such key"))' "$1"
}

more_stats()
{
	[ "$(grep -c '^.*{"' "$FLOG")" -gt "$1" ]
}

# bound NS: "ADDR:PORT" of its UDP sockets, wildcards as 0.0.0.0 and [::]
bound()
{
	run "$1" ss -Hlun | awk '{ print $4 }' | while read -r a; do
		case $a in
		\*:*) echo "0.0.0.0:${a#*:}"; echo "[::]:${a#*:}" ;;
		*) echo "$a" ;;
		esac
	done | sort
}

# Checks

report() # RC NAME
{
	checks=$((checks + 1))
	if [ "$1" = 0 ]; then
		echo "ok $checks - $2"
	else
		failed=$((failed + 1))
		echo "not ok $checks - $2"
	fi
}

# ok NAME CMD...: it succeeds
ok()
{
	local name=$1 out

	shift
	if out=$("$@" 2>&1); then
		report 0 "$name"
	else
		report 1 "$name"
		echo "#   $*" && tail -n 5 <<<"$out" | sed 's/^/#   /'
	fi
}

# nok NAME CMD...: it fails
nok()
{
	local name=$1 out

	shift
	if out=$("$@" 2>&1); then
		report 1 "$name"
		echo "#   $*" && tail -n 5 <<<"$out" | sed 's/^/#   /'
	else
		report 0 "$name"
	fi
}

# is NAME GOT WANT
is()
{
	if [ "$2" = "$3" ]; then
		report 0 "$1"
	else
		report 1 "$1"
		echo "#   got:  $2" && echo "#   want: $3"
	fi
}

# like NAME GOT REGEX
like()
{
	if [[ $2 =~ $3 ]]; then
		report 0 "$1"
	else
		report 1 "$1"
		echo "#   got:  $2" && echo "#   want: $3"
	fi
}

# atmost NAME GOT LIMIT
atmost()
{
	if [ -n "$2" ] && [ "$2" -le "$3" ]; then
		report 0 "$1 ($2 <= $3)"
	else
		report 1 "$1 ($2 > $3)"
	fi
}

# now: milliseconds
now()
{
	echo $((${EPOCHREALTIME/./} / 1000))
}

# fails NAME REGEX CMD...: a failed start: status 1 within a second, one line
# on stderr that matches REGEX, nothing on stdout
fails()
{
	local name=$1 want=$2 start rc lines took

	shift 2
	start=$(now)
	timeout 5 "$@" >$T/fails.out 2>$T/fails.err
	rc=$?
	took=$(($(now) - start))
	lines=$(wc -l <$T/fails.err)
	if [ $rc = 1 ] && [ $took -lt 1000 ] && [ "$lines" = 1 ] &&
		[ ! -s $T/fails.out ] && has $T/fails.err "$want"; then
		report 0 "$name"
	else
		report 1 "$name"
		echo "#   $*"
		echo "#   status $rc after $took ms, $lines lines, want: $want"
		head -n 5 $T/fails.err | sed 's/^/#   /'
	fi
}

# alive: the forwarder still runs
alive()
{
	ok "the forwarder lives" kill -0 "$FP"
}

done_testing()
{
	finished=1
	echo "1..$checks"
	[ $failed = 0 ] || exit 1
	exit 0
}

# Descendants die with our PID namespace; what the forwarder said helps
on_exit()
{
	local rc=$?

	if [ $rc != 0 ] && [ $rc != 77 ]; then
		[ -n "${finished:-}" ] || echo "not ok - ended early, status $rc"
		for f in "$T"/f*.log; do
			[ -s "$f" ] && grep -v '^{' "$f" | tail -n 8 |
				sed 's/^/# forwarder: /'
		done
	fi
	exit $rc
}
trap on_exit EXIT

bench_up
