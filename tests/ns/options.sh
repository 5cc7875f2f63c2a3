#!/bin/bash
# Options whose effect is seen from outside only: what is printed where, the log
# file and its limit, the capture, the summary, what is copied, no tap at all.
# once
#
#   p <──> h ──> PASTA ──> c

. "$(dirname "$0")"/lib.sh

# says STATUS STREAM REGEX ARGS...: of both streams only this one says something
says()
{
	local status=$1 stream=$2 want=$3 rc

	shift 3
	# shellcheck disable=SC2086
	$H timeout 5 "$PASTA" "$@" >$T/1 2>$T/2
	rc=$?
	[ $rc = "$status" ] && has $T/"$stream" "$want" &&
		[ ! -s $T/$((3 - stream)) ]
}

ok "help on standard output" says 0 1 '^Usage: pasta' --help
ok "with every kind of option" has $T/1 '^  -u, --udp-ports .*PORTS$'
ok "the same by its letter" says 0 1 '^Usage: pasta' -h
ok "version on standard output" says 0 1 '^pasta [^ ]+$' --version
is "in one line" "$(wc -l <$T/1)" 1
ok "the version is said at once" says 0 1 '^pasta ' --version --nonsense
ok "what is in front of it counts" says 1 2 'mtu' -m x --version
ok "an unknown option" says 1 2 "unrecognized option '--nonsense'" --nonsense
ok "is answered by the usage" has $T/2 '^Usage: pasta'
ok "an unknown option with an argument" \
	says 1 2 "unrecognized option '--map-guest-addrs=1'" --map-guest-addrs=1
ok "an unknown letter" says 1 2 "invalid option -- 'Z'" -Z
ok "what is not there is one line" says 1 2 'not part of this' -c /x
is "and no usage" "$(wc -l <$T/2)" 1

# The log file
F -l $T/log --log-size 40960
like "mode and first line" "$(stat -c %a $T/log) $(head -1 $T/log)" \
	"^600 pasta [^ ]+, /.*/pas(st|ta), PID [0-9]+\$"
log_grew()
{
	local i

	for ((i = 0; i < 8; i++)); do kill -USR1 "$FP"; pause; done
	[ "$(stat -c %s $T/log)" -lt "$size" ] && return
	size=$(stat -c %s $T/log)
	return 1
}
size=0
ok "it is cut when it is full" wait_until log_grew
atmost "never above its limit" "$size" 40960
like "its first line is kept" "$(head -1 $T/log)" '^pasta [^ ]+, .*PID'
is "whole lines" "$(tail -n +2 $T/log | grep -cv '^{.*}$')" 0
alive
stop $FP

# In the background: a summary before, the file after
ARGS=(--runas 0 --config-net -t none -T none -u none -U none)
ok "to the background" says 0 2 '^Template interface: hp' "${ARGS[@]}" \
	-l $T/log2 -P $T/pid2 --netns "/run/netns/${X}c"
for line in 'Namespace interface: hp' '    host: 9a:55:9a:55:9a:55' 'DHCP:' \
	'    assign: 192.0.2.1' '    mask: 255.255.255.0' \
	'    router: 192.0.2.254' 'NDP/DHCPv6:' '    assign: 2001:db8::1'; do
	ok "summary: $line" grep -qxF "$line" $T/2
done
kill "$(cat $T/pid2)"
ok "the end is in the file, with seconds and level" wait_until \
	has $T/log2 '^[0-9]+\.[0-9]{4}: info: ending on signal 15$'
ok "the summary, too" has $T/log2 'info:     assign: 192.0.2.1'
# shellcheck disable=SC2086
is "quiet" "$($H "$PASTA" "${ARGS[@]}" -q -P $T/pid2 \
	--netns "/run/netns/${X}c" 2>&1)" ''
kill "$(cat $T/pid2)"
wait_until no_forwarders

# The capture
F --pcap $T/cap -u 5000
ok "its mode" [ "$(stat -c %a $T/cap)" = 600 ]
serve c echo 0.0.0.0 5000 :: 5000
ok "traffic" ask p 192.0.2.1 5000 -c
ok "traffic, v6" ask p 2001:db8::1 5000 -c
ok "the capture is whole" sh -c "$PY -SE $DIR/pcap.py $T/cap >$T/frames"
for way in in out; do
	ok "UDP, $way" [ "$(grep -c "^$way UDP" $T/frames)" -ge 2 ]
done
nok "no wrong checksum" grep -E 'wrong|bad' $T/frames
alive
stop $FP $SP
F --pcap /nonexistent/cap
ok "without its file it works" has "$FLOG" '--pcap /nonexistent/cap: No such'
stop $FP

# What is copied
more_addresses
F --no-copy-addrs --no-copy-routes
ok "that is old" has "$FLOG" 'no-copy-addrs is deprecated'
is "one address" "$(run c ip -4 -o addr show scope global | wc -l)" 1
like "one route" "$(run c ip -4 route | grep -v 'scope link')" \
	'^default via 192.0.2.254 dev hp [a-z0-9 ]*$'
stop $FP
ok "only with --config-net" says 1 2 'needs --config-net' --no-copy-addrs 1

# No tap
F --splice-only -u 5000 -U 6000
is "no interface but lo" "$(run c ip -o link | cut -d: -f2)" ' lo'
serve c echo 127.0.0.1 5000 ::1 5000
serve h echo 127.0.0.1 6000 ::1 6000
ok "in by loopback" ask h 127.0.0.1 5000 -c
ok "in by loopback, v6" ask h ::1 5000 -c
ok "out by loopback" ask c 127.0.0.1 6000 -c
nok "nothing from outside" ask p 192.0.2.1 5000 -c -w 0.3
alive
done_testing
