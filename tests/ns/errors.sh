#!/bin/bash
# Bad input: one line that says what is wrong with which word, exit status 1,
# within a second, and nothing is left behind.
# once
#
#   caller ──bad words──> PASTA in h

. "$(dirname "$0")"/lib.sh

# bad REGEX WORDS...: attached to c
bad()
{
	local want=$1

	shift
	fails "$*" "$want" $H "$PASTA" --config-net --netns "${X}c" "$@"
}

# Ports
bad "udp-ports.*''|-u ''" -u ''
bad 'udp-ports.*5000,' -u 5000,
bad 'udp-ports.*,5000' -u ,5000
bad 'udp-ports.*65536' -u 65536
bad 'udp-ports.*0' -u 0
bad 'udp-ports.*5001-5000' -u 5001-5000
bad 'udp-ports.*5000-5001:6000-6002' -u 5000-5001:6000-6002
bad 'udp-ports.*5000x' -u 5000x
bad 'udp-ports.*5000-' -u 5000-
bad 'udp-ports.*192.0.2.256' -u 192.0.2.256/5000
bad 'udp-ports.*averyverylongname' -u %averyverylongname/5000
bad 'udp-ns.*127.0.0.1' -U 127.0.0.1/5000
bad 'udp-ports' -u none -u 5000
bad 'udp-ports' -4 -u ::1/5000
bad 'tcp-ports' -t 65536
bad 'tcp-ports' -t none -t 5000
bad 'tcp-ns.*127.0.0.1' -T 127.0.0.1/5000
bad 'tcp' --no-tcp -t 5000
bad 'tcp' --no-tcp -T auto
bad 'udp' --no-udp -u 5000
bad '5000.*(192.0.2.77|address).*assign' -u 192.0.2.77/5000
bad 'nosuch' -u %nosuch/5000
serve h hold 192.0.2.1 5000 :: 5001
bad '5000.*in use' -u 5000
bad '5000.*in use' -u 192.0.2.1/5000
bad '5001.*in use' -u 5001-5003
# Numbers and names
bad 'mtu.*67' -m 67
bad 'mtu.*65522' -m 65522
bad 'mtu.*abc' -m abc
bad 'netmask.*33' -a 192.0.2.9 -n 33
bad 'netmask.*255.0.255.0' -a 192.0.2.9 -n 255.0.255.0
bad 'mac-addr.*12:34' -M 12:34
bad 'ns-mac-addr.*zz' --ns-mac-addr zz:00:00:00:00:00
bad 'ns-ifname.*averyverylongname' -I averyverylongname
bad 'interface.*nosuch|nosuch' -i nosuch
bad 'address.*127.0.0.1' -a 127.0.0.1
bad 'address.*224.0.0.1' -a 224.0.0.1
bad 'gateway.*0.0.0.0' -g 0.0.0.0
bad 'dns-forward.*::1' --dns-forward ::1
bad 'map-host-loopback.*127' --map-host-loopback 127.0.0.1
bad 'runas.*nosuchuser' --runas nosuchuser
bad 'offload.*most' --offload most
bad 'udp-filter.*some' --udp-filter some
bad 'udp-timeout.*0' --udp-timeout 0
bad 'stats.*x' --stats x
bad 'log-file.*/nowhere/log' -l /nowhere/log
bad 'pid.*/nowhere/pid' -P /nowhere/pid
# Words that exclude each other
bad "'true'|true" true
fails "a bad PID" '99999999999' $H "$PASTA" 99999999999
fails "--userns without a target" 'userns' $H "$PASTA" --userns /proc/1/ns/user \
	-- true
fails "--fd 1" 'fd.*1' $H "$PASTA" --fd 1
for type in SOCK_STREAM SOCK_DGRAM; do
	fails "--fd of type $type" 'fd 3: .*SOCK_SEQPACKET' $H $PY -SEc "
import os, socket, sys
end = socket.socketpair(socket.AF_UNIX, socket.$type)[0]
os.dup2(end.fileno(), 3)
os.execv(sys.argv[1], [sys.argv[1], '-f', '--fd', '3'])" "$PASTA"
done
fails "--fd of a file" 'fd 3: .*SOCK_SEQPACKET' \
	$H sh -c '"$0" -f --fd 3 3</dev/null' "$PASTA"

# What getopt_long() has to say, then the usage; callers look for the wording
out=$($H "$PASTA" --map-guest-addresses 192.0.2.9 2>&1 >/dev/null)
is "an unknown option: status" $? 1
like "an unknown option: wording" "$out" \
	"unrecognized option '--map-guest-addresses'"
like "an unknown option: usage" "$out" 'Usage:'
out=$($H "$PASTA" -P 2>&1 >/dev/null)
is "a missing argument: status" $? 1
like "a missing argument: wording" "$out" "requires an argument"

# As a program of another name
ln -s "$(readlink -f "$PASTA")" $T/other
fails "an unknown program name" 'other' $T/other --version
ok "nothing left" wait_until no_forwarders
done_testing
