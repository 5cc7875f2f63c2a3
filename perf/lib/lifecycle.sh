# shellcheck shell=bash disable=SC2034,SC2154 # variables are shared with perf/run
# lifecycle.sh - runs without a stream of datagrams: start-up, memory, many
# instances; each prints one record
#
# Ready is what a caller waits for: pasta's parent process has ended, slirp4netns
# has written to its descriptor. Memory is PSS over all processes.

# record SIDE REP ORDER KEY=NUMBER...
record()
{
	local w s=$1 rep=$2 order=$3

	shift 3
	for w in "$@"; do echo "$w"; done | jq -Rcn --arg cell "$cell_id" --arg side "$s" \
		--arg label "${label[$s]}" --argjson rep "$rep" --argjson order "$order" \
		--arg workload "${cell[workload]}" --arg op "${cell[op]}" \
		'$ARGS.named + ([inputs | capture("^(?<k>[^=]*)=(?<v>.*)$")
		| {(.k): (.v | tonumber)}] | add) + {valid: true, why: ""}'
}

now_us() { echo "${EPOCHREALTIME/[.,]/}"; }
ms() { awk "BEGIN { printf \"%.3f\", $1 / 1000 }"; }

# pss PID... - KiB of these and their descendants
pss()
{
	local p q sum=0

	for p in "$@"; do
		for q in $(family_of "$p"); do
			sum=$((sum + $(awk '/^Pss:/ { print $2 }' "/proc/$q/smaps_rollup")))
		done
	done
	echo $sum
}

# cpu_ns PID... - CPU time of these and their descendants
cpu_ns()
{
	local p q

	for p in "$@"; do
		for q in $(family_of "$p"); do cat /proc/"$q"/task/*/schedstat; done
	done | awk '{ n += $1 } END { printf "%.0f", n }'
}

# launch SIDE NETNS PIDFILE - as a caller would; returns when it says ready
launch()
{
	local pinned=()

	[ -z "$CPU_FWD" ] || pinned=(taskset -c "$CPU_FWD")
	rm -f "$3"
	(
		peer_defaults
		# shellcheck source=/dev/null
		. "$HERE/peers/${adapter[$1]}"
		# shellcheck disable=SC2034 # for another network than the bench's
		PROGRAM=${program[$1]} IN_PORTS=${LAUNCH_PORTS:-none} OUT_PORTS=none
		start_and_wait "nsenter --net=/run/netns/${1}h -- ${pinned[*]} ${program[$1]}" \
			"$2" 65520 "$3"
	)
	until_true 2 test -s "$3"
}

# One start, in a namespace that is there already
op_startup()
{
	local t0 t1 t2 n=${1}s pid f=$T/startup.pid

	ip netns add "$n"
	ip -n "$n" link set lo up
	t0=$(now_us)
	launch "$1" "$n" "$f" || { echo "did not start" >&2; return 1; }
	t1=$(now_us)
	pid=$(cat "$f")
	has_default "$n" || { echo "ready, but without a route" >&2; return 1; }
	record "$@" "ready_ms=$(ms $((t1 - t0)))" "pss_kib=$(pss "$pid")" \
		"cpu_fwd_s=$(cpu_ns "$pid" | awk '{ print $1 / 1e9 }')"
	t0=$(now_us)
	kill "$pid"
	until_true 5 gone "$pid"
	# shellcheck disable=SC2034
	t2=$(now_us)
	ip netns del "$n"
}

gone() { [ ! -e "/proc/$1/stat" ] || grep -q ') Z' "/proc/$1/stat"; }

# idle_flows SIDE - as many flows as the cell says that nobody uses any more,
# made anew if they could time out. Half of them IPv6: one address has too few
# ports for all.
idle_flows()
{
	local s=$1 n=${cell[idle]} key f way port rc=0

	key="$s ${fwd_pid[$s]} ${cell[dir]} $n"
	if [ "$n" = 0 ] || [ $((SECONDS - ${proved[$key]--1000})) -lt 100 ]; then
		return 0
	fi
	for f in 4 6; do
		many_flows "$s" $f $((n / 2)) > /dev/null || rc=1
	done
	proved[$key]=$SECONDS
	return $rc
}

# many_flows SIDE FAMILY N - one exchange each, from different ports
many_flows()
{
	local way server rc word family=${cell[family]}

	[ "$3" -gt 0 ] || return 0
	cell[family]=$2
	route "$1"
	cell[family]=$family
	for word in "${way[@]}"; do local "${word?}"; done
	# shellcheck disable=SC2154
	nsenter --net="/run/netns/$to" -- "$UDPLOAD" echo -b "$bind" -p "$echo_port" -t 600 > /dev/null 2>&1 &
	server=$!
	until_true 3 is_bound "$to" "$echo_port"
	# shellcheck disable=SC2154
	in_ns "$from" "$UDPLOAD" newflows "$dst" "$echo_port" -n "$3" --bind 6000
	rc=$?
	kill $server
	wait $server 2>/dev/null
	return $rc
}

# gauge SIDE KEY - one number of its counters, 0 if it has none
gauge()
{
	local n log=${fwd_log[$1]}

	[ "${fwd_counters[$1]}" = 1 ] || { echo 0; return; }
	n=$(grep -c '{"' "$log")
	kill -USR1 "${fwd_pid[$1]}"
	until_true 3 test_lines "$log" "$n"
	tail -n 1 "$log" | sed 's/^[^{]*//' | jq ".$2"
}

test_lines() { [ "$(grep -c '{"' "$1")" -gt "$2" ]; }

# Memory before and after N flows
op_memory()
{
	local s=$1 n=${cell[flows]} before after known answered=0 f out

	side_down "$s"
	side_up "$s" "${cell[mtu]}"
	route "$s"
	proof "$s" || { echo "no exchange" >&2; return 1; }
	before=$(pss "${fwd_pid[$s]}")
	for f in 4 6; do
		peer_call "$s" supports tap "${cell[dir]}" $f || continue
		out=$(many_flows "$s" $f $((n / 2))) || true
		[ -z "$out" ] || answered=$((answered + $(jq .answered <<< "$out")))
	done
	after=$(pss "${fwd_pid[$s]}")
	known=$(gauge "$s" flows)
	record "$@" "idle_kib=$before" "pss_kib=$after" "flows_answered=$answered" \
		"flows_known=$known" \
		"per_flow_bytes=$(((after - before) * 1024 / (known ? known : answered ? answered : 1)))"
}

# N forwarders at once: how long until all are ready, their memory, what they
# use when nothing happens
op_instances()
{
	local s=$1 n=${cell[count]} i t0 t1 pids=() c0 c1 memory

	for ((i = 0; i < n; i++)); do
		ip netns add "${s}i$i"
		ip -n "${s}i$i" link set lo up
	done
	t0=$(now_us)
	for ((i = 0; i < n; i++)); do
		if ! LAUNCH_PORTS=$((20000 + i)) launch "$s" "${s}i$i" "$T/i$i.pid"; then
			echo "instance $i did not start" >&2
			break
		fi
		pids+=("$(cat "$T/i$i.pid")")
	done
	t1=$(now_us)
	sleep .5
	memory=$(pss "${pids[@]}")
	c0=$(cpu_ns "${pids[@]}")
	sleep 1
	c1=$(cpu_ns "${pids[@]}")
	for i in "${pids[@]}"; do kill "$i"; done
	for i in "${pids[@]}"; do until_true 5 gone "$i"; done
	for ((i = 0; i < n; i++)); do ip netns del "${s}i$i"; done
	[ ${#pids[@]} = "$n" ] || return 1
	record "$@" "ready_ms=$(ms $(((t1 - t0) / n)))" "pss_kib=$((memory / n))" \
		"idle_cpu_ms=$(awk "BEGIN { print ($c1 - $c0) / 1e6 / $n }")" "instances=$n"
}
