#!/bin/bash
# What is missing on a host shows as "permission denied" somewhere else. Right:
# --check names it, and its cure, in each of a dozen broken set-ups; one line
# each or JSON, and an exit status.
# once
#
#   h, broken in one way at a time: PASTA --check

. "$(dirname "$0")"/lib.sh

command -v jq >/dev/null || skip "no jq"

# check CMD...: --check run by CMD; RC, plain text in OUT, JSON in $T/json
check()
{
	OUT=$("$@" "$PASTA" --check 2>&1)
	RC=$?
	"$@" "$PASTA" --check --json >$T/json 2>&1
	JRC=$?
}

verdict() # NAME
{
	jq -r --arg n "$1" '.checks[] | select(.name == $n) | .verdict' $T/json
}

# broken TITLE NAME VERDICT REGEX CMD...: finding NAME in a host broken by CMD
broken()
{
	local title=$1 name=$2 want=$3 regex=$4 line rc=0

	shift 4
	check "$@"
	[ "$want" != fail ] || rc=1
	line=$(grep -E "^[a-z]+ +$name " <<<"$OUT")
	like "$title: named, with its cure" "$line" "^$want +$name +.*($regex)"
	is "$title: the same in JSON" "$(verdict "$name")" "$want"
	is "$title: the cure, too" "$(jq -r --arg n "$name" '.checks[] |
		select(.name == $n) | .cure != null' $T/json)" true
	if [ $rc = 1 ]; then
		is "$title: exit status" "$RC $JRC" "1 1"
		is "$title: not all is well" "$(jq .ok $T/json)" false
	fi
}

# in_mounts COMMANDS [FLAGS]: a prefix in $with: mount namespace of its own, by
# unshare with FLAGS, COMMANDS in it, then the rest
in_mounts()
{
	# shellcheck disable=SC2206
	with=($H unshare ${2:--m} sh -c "$1; exec \"\$@\"" -)
}

# As a new network namespace is
broken "nobody may ping" ping warn 'ping_group_range=' $H
run h sysctl -qw net.ipv4.ping_group_range="0 2147483647" 2>/dev/null ||
	run h sysctl -qw net.ipv4.ping_group_range="0 0"

# A good host

check $H
is "a good host: exit status" "$RC $JRC" "0 0"
is "a good host: valid JSON, all is well" "$(jq .ok $T/json)" true
is "a good host: each finding has its parts" "$(jq '[.checks[] |
	(.name | length > 0) and (.state | length > 0) and has("cure") and
	(.verdict | IN("ok", "warn", "fail"))] | all' $T/json)" true
for name in tun user-namespaces apparmor selinux tap offload tx-queue \
		receive-buffer open-files port-range udp-diag inotify ping \
		ipv4 ipv6 resolver; do
	is "a good host: $name is looked at" \
		"$(grep -cE "^(ok|warn) +$name " <<<"$OUT")" 1
done
for name in tun user-namespaces tap tx-queue open-files port-range udp-diag \
		inotify ping ipv4 ipv6 resolver; do
	is "a good host: $name" "$(verdict $name)" ok
done
like "a good host: the interface" "$OUT" '192.0.2.1 of hp, gateway 192.0.2.254'
ok "nothing is left" wait_until no_forwarders

# Broken ones

in_mounts "mount -t tmpfs none /dev/net"
broken "no tun device" tun fail 'No such file.*modprobe tun' "${with[@]}"
is "no tun device: no tap either" "$(verdict tap)" fail
is "no tun device: offload is not known" "$(verdict offload)" warn

mkfifo $T/fifo
in_mounts "mount --bind $T/fifo /dev/net/tun"
broken "something else in its place" tun fail 'mknod /dev/net/tun c 10 200' \
	"${with[@]}"

if is_root; then
	user=(setpriv --reuid=1000 --regid=1000 --clear-groups --inh-caps=-all)
	# The real device's mode is not touched: a node of our own
	in_mounts "mount -t tmpfs none /dev/net; mknod -m 600 /dev/net/tun c 10 200"
	broken "tun for root only" tun fail 'mode 0600.*chmod 0666' \
		"${with[@]}" "${user[@]}"
fi

in_mounts "echo 0 >/proc/sys/user/max_user_namespaces" -Urm
broken "no user namespaces" user-namespaces fail 'max_user_namespaces=' \
	"${with[@]}"

in_mounts "mount -t tmpfs none /sys/fs; mkdir /sys/fs/selinux
	echo 1 >/sys/fs/selinux/enforce"
broken "SELinux" selinux warn 'enforcing.*ausearch' "${with[@]}"

# With the right to raise it, the hard limit does not matter
few=(setpriv --bounding-set=-sys_resource --inh-caps=-sys_resource)
broken "few open files" open-files fail 'raise the hard limit' \
	$H "${few[@]}" prlimit --nofile=100:100
broken "not many open files" open-files warn 'raise the hard limit' \
	$H "${few[@]}" prlimit --nofile=1024:1024

in_mounts "echo 0 >/proc/sys/user/max_inotify_instances" -Urm
broken "no inotify" inotify warn 'max_inotify_instances' \
	"${with[@]}"

in_mounts ": >$T/empty; mount --bind $T/empty /etc/resolv.conf"
broken "no resolver" resolver warn 'resolv.conf.*--dns-host' "${with[@]}"

# with_sysctl KEY VALUE TITLE NAME VERDICT REGEX: with another value for a while
with_sysctl()
{
	local key=$1 value=$2 old

	shift 2
	old=$(run h sysctl -n "$key")
	run h sysctl -qw "$key=$value" || return 0
	broken "$@" $H
	run h sysctl -qw "$key=$old"
}

with_sysctl net.ipv4.ip_local_port_range "40000 40100" \
	"few ports" port-range warn 'ip_local_port_range='
with_sysctl net.ipv6.conf.all.disable_ipv6 1 \
	"IPv6 is off" ipv6 warn 'disable_ipv6=0'

broken "an interface that is not there" ipv4 fail 'nothere.*no such' \
	$H env -S "sh -c 'exec \"\$@\" -i nothere' -"
ip -n "${X}h" link set hp down
broken "no network" ipv4 warn 'no address to take over' $H
done_testing
