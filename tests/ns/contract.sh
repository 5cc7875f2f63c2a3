#!/bin/bash
# podman's acceptance suite of pasta (505-networking-pasta.bats) without podman:
# every row that does not need the Internet. A caller like podman builds
# the command line, reads one pipe to its end, runs socat on both sides, and at
# the end unmounts and unlinks the namespace's file. Each row prints its number
# and name in the suite; what podman relies on outside the suite follows.
# once
# limit: 90
#
#   p: gateway, resolver      h: podman and its host
#                               │ pasta ARGS --netns FILE
#                             container: a new namespace for every row

. "$(dirname "$0")"/lib.sh

for tool in socat jq nslookup; do
	command -v $tool >/dev/null || skip "no $tool"
done

A4=192.0.2.1
A6=2001:db8::1
IF=hp
DNS=169.254.1.1
ALIAS=169.254.1.2

# The caller

# occurs WORD...: is one of them in ARGV?
occurs()
{
	local a w

	for a in "${ARGV[@]}"; do
		for w; do
			[ "$a" != "$w" ] || return 0
		done
	done
	return 1
}

# build USER-OPTION...: podman's argv, in podman's order, with the words of the
# array PUBLISH for published ports
build()
{
	local o

	ARGV=(--config-net ${FIRST:-})
	for o; do
		[ "$o" = --map-gw ] || ARGV+=("$o")
	done
	ARGV+=("${PUBLISH[@]}")
	occurs --dns-forward || ARGV+=(--dns-forward $DNS)
	occurs -t --tcp-ports || ARGV+=(-t none)
	occurs -u --udp-ports || ARGV+=(-u none)
	occurs -T --tcp-ns || ARGV+=(-T none)
	occurs -U --udp-ns || ARGV+=(-U none)
	[[ " $* " = *" --map-gw "* ]] || ARGV+=(--no-map-gw)
	occurs -d --debug --trace || ARGV+=(--quiet)
	ARGV+=(--netns "$NETNS_FILE")
	occurs --map-guest-addr || ARGV+=(--map-guest-addr $ALIAS)
}

# call: as podman does: one pipe, read until it ends; output in OUT, status RC
call()
{
	local n=${#ARGV[@]}

	OUT=$($H timeout 10 "$PASTA" "${ARGV[@]}" </dev/null 2>&1)
	RC=$?
	[ $RC = 1 ] && [[ $OUT = *"unrecognized option '--map-guest-addr"* ]] ||
		return 0
	ARGV=("${ARGV[@]:0:n-2}")
	OUT=$($H timeout 10 "$PASTA" "${ARGV[@]}" </dev/null 2>&1)
	RC=$?
}

new_netns()
{
	NETNS_FILE=$T/netns/netns-$(cat /proc/sys/kernel/random/uuid)
	mkdir -p $T/netns
	: >"$NETNS_FILE"
	unshare --net="$NETNS_FILE" true
}

# up USER-OPTION...: a container with its network
up()
{
	new_netns
	build "$@"
	call
	same "exit status ($OUT)" $RC 0
	is_root || same "output" "$OUT" ""
}

# down: podman's way to end a container: nothing but the name goes
down()
{
	umount -l "$NETNS_FILE"
	rm "$NETNS_FILE"
	wait_until no_forwarders || WHY+=("pasta outlives its namespace")
}

inside()
{
	nsenter --net="$NETNS_FILE" "$@"
}

# Rows

WHY=()
PUBLISH=()

same() # WHAT GOT WANT
{
	[ "$2" = "$3" ] || WHY+=("$1: got \"$2\", want \"$3\"")
}

# verdict NAME: about what happened since the last one
verdict()
{
	if [ ${#WHY[@]} = 0 ]; then
		report 0 "$1"
	else
		report 1 "$1"
		printf '#   pasta'
		printf ' %s' "${ARGV[@]}"
		printf '\n#   %s' "${WHY[@]}"
		echo
	fi
	WHY=()
	PUBLISH=()
}

row() # NUMBER NAME
{
	verdict "row $1: $2"
}

# addrs VERSION: the container's global addresses, first to last
addrs()
{
	inside ip -j "-$1" addr show | jq -r '[.[] | select(.ifname != "lo") |
		.addr_info[] | select(.scope == "global") | .local] | join(" ")'
}

# ips: what podman calls the container's addresses: IPAddresses
ips()
{
	inside ip -j addr show | jq -r '[.[] | select(.ifname != "lo") |
		.addr_info[] | .local | select(startswith("fe80") | not)] |
		join(" ")'
}

gateway()
{
	"${@:2}" ip -j "-$1" route show default |
		jq -r '.[0] | .gateway // .nexthops[0].gateway'
}

mtu()
{
	inside ip -j link | jq '[.[] | select(.link_type == "ether")][0].mtu'
}

# Configuration

up
same address "$(addrs 4 | cut -d' ' -f1)" $A4
down
row 1 "IPv4 default address assignment"

up -a 192.0.2.1
same addresses "$(addrs 4)" 192.0.2.1
down
row 2 "IPv4 address assignment"

up -6
same addresses "$(addrs 4)" ""
same "IPv6 address" "$(addrs 6 | cut -d' ' -f1)" $A6
down
row 3 "No IPv4"

up
same address "$(addrs 6 | cut -d' ' -f1)" $A6
down
row 4 "IPv6 default address assignment"

up -a 2001:db8::1
same addresses "$(addrs 6)" 2001:db8::1
down
row 5 "IPv6 address assignment"

up -4
same addresses "$(addrs 6)" ""
same "IPv4 address" "$(addrs 4)" $A4
down
row 6 "No IPv6"

up
same "first of all addresses" "$(ips | cut -d' ' -f1)" $A4
down
row 7 "podman puts pasta IP in /etc/hosts"

up
same gateway "$(gateway 4 inside)" "$(gateway 4 run h)"
down
row 8 "IPv4 default route"

up -a 192.0.2.2 -g 192.0.2.1
same gateway "$(gateway 4 inside)" 192.0.2.1
down
row 9 "IPv4 default route assignment"

up
same gateway "$(gateway 6 inside)" "$(gateway 6 run h)"
down
row 10 "IPv6 default route"

up -a 2001:db8::2 -g 2001:db8::1
same gateway "$(gateway 6 inside)" 2001:db8::1
down
row 11 "IPv6 default route assignment"

up
same MTU "$(mtu)" 65520
down
row 12 "Default MTU"

up -m 1280
same MTU "$(mtu)" 1280
down
row 13 "MTU assignment"

up
same flags "$(inside ip -j link show lo | jq -r '.[0].flags | index("UP") |
	. != null')" true
down
row 14 "Loopback interface state"

# The resolver behind the host's resolv.conf, bench_up() names it

serve p dns 192.0.2.2 53

# look_up SERVER: what podman would write as the first line of resolv.conf
look_up()
{
	[ -n "$(addrs 4)" ] || WHY+=("no address of the resolver's family")
	inside timeout 5 nslookup -type=a -timeout=2 l.root-servers.net "$1" |
		awk '/^Server:/ { s = $2 } /^Address:/ { a = $2 } END { print s, a }'
}

up
same "server and answer" "$(look_up $DNS)" "$DNS 192.0.2.77"
down
row 16 "Default nameserver forwarding"

up --dns-forward 198.51.100.1
same "server and answer" "$(look_up 198.51.100.1)" "198.51.100.1 192.0.2.77"
down
row 17 "Custom DNS forward address, IPv4"

# Traffic

# listens PROTOCOL FIRST-PORT LAST-PORT
listens()
{
	local n

	n=$(inside ss -Hln "--${1,,}" "sport >= :$2 and sport <= :$3" | wc -l)
	[ "$n" = $(($3 - $2 + 1)) ]
}

# transfer PROTOCOL FAMILY ADDRESS FIRST-HOST-PORT FIRST-PORT COUNT FILE: as the
# suite's pasta_test_do(), one pair of socats for each port, all at once
transfer()
{
	local proto=$1 v=$2 to=$3 host=$4 port=$5 n=$6 file=$7
	local i rx=() tx=() end='' shut=''

	[ "$v" = 4 ] || to="[$to]"
	[ "$proto" = TCP ] || end=,null-eof shut=,shut-null
	for ((i = 0; i < n; i++)); do
		inside timeout 10 socat -u \
			"$proto$v-LISTEN:$((port + i))$end" \
			STDOUT >"$T/rx$i" &
		rx+=($!)
	done
	wait_until listens "$proto" "$port" $((port + n - 1)) ||
		WHY+=("the container's socat does not listen")
	for ((i = 0; i < n; i++)); do
		$H timeout 10 socat -u "OPEN:$file" \
			"$proto$v:$to:$((host + i))$shut" &
		tx+=($!)
	done
	wait "${tx[@]}" || WHY+=("socat on the host failed")
	wait "${rx[@]}"
	for ((i = 0; i < n; i++)); do
		same "bytes on port $((port + i))" "$(wc -c <"$T/rx$i")" \
			"$(wc -c <"$file")"
		same "digest on port $((port + i))" "$(md5sum <"$T/rx$i")" \
			"$(md5sum <"$file")"
	done
}

printf x >$T/byte
head -c 2048 /dev/urandom >$T/small
head -c 10485760 /dev/urandom >$T/large-TCP
# wmem_default / 4, as the suite reads it
head -c 53248 /dev/urandom >$T/large-UDP

# option PROTOCOL SHORT-OF-TCP SHORT-OF-UDP
option()
{
	case $1 in TCP) echo "$2" ;; UDP) echo "$3" ;; esac
}

address() # FAMILY tap|loopback
{
	case $1$2 in
	4tap) echo $A4 ;;
	6tap) echo $A6 ;;
	4loopback) echo 127.0.0.1 ;;
	6loopback) echo ::1 ;;
	esac
}

# forward NUMBER NAME PROTOCOL FAMILY WAY LAST-OFFSET DELTA: 1 byte on each port
forward()
{
	local a p=$((5000 + RANDOM % 1000)) q

	a=$(address "$4" "$5")
	q=$((p + $7))
	PUBLISH=("$(option $3 -t -u)" "$a/$p-$((p + $6)):$q-$((q + $6))")
	up
	transfer "$3" "$4" "$a" $p $q $(($6 + 1)) $T/byte
	down
	row "$1" "$2, IPv$4, $5"
}

# by_interface NUMBER PROTOCOL FAMILY WAY
by_interface()
{
	local a p=$((5000 + RANDOM % 1000)) dev=$IF

	a=$(address "$3" "$4")
	[ "$4" = tap ] || dev=lo
	up "$(option $2 --tcp-ports --udp-ports)" "$a%$dev/$p:$p"
	transfer "$2" "$3" "$a" $p $p 1 $T/byte
	down
	row "$1" "Interface-bound $2 port forwarding, IPv$3, $4"
}

n=19
for proto in TCP UDP; do
	for v in 4 6; do
		for form in "Single $proto port forwarding:0:0" \
				"$proto port range forwarding:2:0" \
				"Translated $proto port forwarding:0:1" \
				"$proto translated port range forwarding:2:1" \
				"Address-bound $proto port forwarding:0:0"; do
			IFS=: read -r name last delta <<<"$form"
			for way in tap loopback; do
				forward $n "$name" $proto $v $way "$last" "$delta"
				n=$((n + 1))
			done
		done
		for way in tap loopback; do
			by_interface $n $proto $v $way
			n=$((n + 1))
		done
	done
done

# bulk NUMBER PROTOCOL FAMILY SIZE WAY: random data, size and digest compared
bulk()
{
	local a p=$((5000 + RANDOM % 1000)) file=$T/$4

	[ "$4" = small ] || file=$file-$2
	a=$(address "$3" "$5")
	PUBLISH=("$(option $2 -t -u)" "$a/$p-$p:$p-$p")
	up
	transfer "$2" "$3" "$a" $p $p 1 "$file"
	down
	row "$1" "$2/IPv$3 $4 transfer, $5"
}

n=67
for proto in TCP UDP; do
	for v in 4 6; do
		for size in small large; do
			for way in tap loopback; do
				bulk $n $proto $v $size $way
				n=$((n + 1))
			done
		done
	done
done

# Life

up --pid $T/pasta.pid
pid=$(tr -d '[:space:]' <$T/pasta.pid)
kill -0 "$pid" 2>/dev/null || WHY+=("\"$pid\" is no process")
down
gone "$pid" || WHY+=("$pid is still there")
row 83 "pasta(1) quits when the namespace is gone"

FIRST="-I myname --ns-mac-addr 9a:dd:31:ea:92:98" \
	up -I myname --ns-mac-addr aa:bb:cc:dd:ee:ff
same MAC "$(inside cat /sys/class/net/myname/address 2>/dev/null ||
	inside ip -j link show myname | jq -r '.[0].address')" aa:bb:cc:dd:ee:ff
down
row 85 "Use options from containers.conf"

# host_internal: the host by podman's alias, and no address of the host's taken
host_internal()
{
	inside $PY -SE "$DIR"/udp.py ask $ALIAS 9005 -c >$T/ask ||
		WHY+=("the host does not answer as $ALIAS")
}

serve h echo $A4 9005
up
host_internal
down
# The namespace of bridge networks, where podman keeps the PID
FIRST="--pid $T/rootless-netns-conn.pid" up
host_internal
kill "$(tr -d '[:space:]' <$T/rootless-netns-conn.pid)" ||
	WHY+=("no process of this PID")
wait_until no_forwarders || WHY+=("it outlives SIGTERM")
call
same "a second start" $RC 0
host_internal
down
up -a 192.168.0.2 -g 192.168.0.1 -n 24
same address "$(addrs 4)" 192.168.0.2
host_internal
down
row 86 "pasta/bridge and host.containers.internal"

# Outside the suite: probes, failures, what documentation tells users to type

for probe in "" --host-lo-to-ns-lo; do
	# shellcheck disable=SC2086
	OUT=$("$PASTA" $probe --version --nonsense 2>&1)
	same "exit status" $? 0
	[[ $OUT =~ ^pasta\ [^[:space:]]+$ ]] || WHY+=("\"$OUT\" is no version")
	verdict "--version is one line on stdout, errors behind it are not seen"
done

new_netns
PUBLISH=(-u 5000-5000:80-80)
build --frobnicate
call
same "exit status" $RC 1
[[ $OUT = *"unrecognized option '--frobnicate'"* ]] || WHY+=("$OUT")
verdict "an unknown option, in getopt's words"

# fails_with REGEX: the call fails as podman can tell, and leaves nothing
fails_with()
{
	call
	same "exit status" $RC 1
	[[ $OUT =~ $1 ]] || WHY+=("it says $OUT")
	wait_until no_forwarders || WHY+=("a process is left")
	same "interfaces left" "$(inside ip -j link | jq -r '[.[].ifname |
		select(. != "lo")] | join(" ")')" ""
}

serve h hold 0.0.0.0 5000
PUBLISH=(-u 5000-5000:80-80)
build
fails_with 'UDP port 5000.*in use'
verdict "a published port is in use on the host"
stop $SP
call
same "exit status ($OUT)" $RC 0
verdict "and a second attempt in the same namespace works"
down

new_netns
nsenter --net=/run/netns/"${X}h" $PY -SEc 'import signal, socket
s = socket.create_server(("0.0.0.0", 8080))
signal.pause()' &
holder=$!
wait_until eval 'run h ss -Hltn | grep -q ":8080 "'
PUBLISH=(-t 8080-8080:80-80)
build
fails_with 'TCP port 8080.*in use'
verdict "a published port of TCP is in use on the host"
stop $holder
umount -l "$NETNS_FILE"

for words in --map-gw '--mtu 1500' '-u auto -U auto' '-T 5201' \
		'-t auto -u auto -T auto -U auto' \
		"--ipv4-only -a 10.0.2.0 -n 24 -g 10.0.2.2 \
		--dns-forward 10.0.2.3 -m 1500 --no-ndp --no-dhcpv6 --no-dhcp" \
		"-I tap0 --ipv4-only -a 10.0.2.0 -n 24 -g 10.0.2.2 \
		--dns-forward 10.0.2.3 -m 1500 --no-ndp --no-dhcpv6 --no-dhcp"; do
	# shellcheck disable=SC2086
	up $words
	down
	verdict "documented: $(xargs <<<"$words")"
done
up --ipv4-only --mtu 1280
same MTU "$(mtu)" 1280
same "IPv6 addresses" "$(addrs 6)" ""
down
verdict "compose: --ipv4-only --mtu 1280"

# Descriptors that podman leaks, and its terminal, are not kept
mkfifo $T/lock
exec 9<>$T/lock
up
for pid in $(forwarders); do
	for fd in /proc/"$pid"/fd/*; do
		[ ! "$fd" -ef $T/lock ] || WHY+=("$pid keeps a lock")
	done
	same "terminal of $pid" "$(awk '{ print $7 }' /proc/"$pid"/stat)" 0
done
exec 9>&-
down
verdict "no inherited descriptor, no terminal"

# A restart policy: the old name goes, the same port is published at once
for i in 1 2 3 4 5; do
	PUBLISH=(-u 5000-5000:5000-5000 -t 5000-5000:5000-5000)
	up
	transfer UDP 4 127.0.0.1 5000 5000 1 $T/byte
	transfer TCP 4 127.0.0.1 5000 5000 1 $T/byte
	down
done
verdict "five restarts with the same port"

done_testing
