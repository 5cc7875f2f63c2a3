#!/bin/bash
# Published ports of TCP: every kind of specification, low ports, "auto" in both
# directions, and UDP ports that follow those of TCP.
# once
#
#   p, h ──> h:PORT ──> c: socat          c: lo:PORT ──> h: socat

. "$(dirname "$0")"/lib.sh

command -v socat >/dev/null || skip "no socat"

# echoes NS SOCAT-LISTEN: a server until the end; $EP is its process
echoes()
{
	nsenter --net=/run/netns/"$X$1" socat "$2,fork,reuseaddr" EXEC:cat &
	EP=$!
	wait_until tcp_bound "$1" "$(grep -o '[0-9]*' <<<"${2#TCP?-}" |
		head -1)"
}

# tcp_bound NS PORT: does anybody listen?
tcp_bound()
{
	run "$1" ss -Hltn "sport = :$2" | grep -q .
}

free()
{
	! tcp_bound "$@"
}

# says NS ADDR PORT: what comes back is what was said
says()
{
	[ "$(echo hello | run "$1" timeout 3 socat -t1 - "TCP:$2:$3" \
		2>/dev/null)" = hello ]
}

udp_listens()
{
	bound "$1" | grep -q ":$2\$"
}

# Listed ports
serve h hold 192.0.2.1 5000
F -t 5000:6000,5001-5002:6001-6002 -t 127.0.0.1/5003:6000 -t %hp/5004:6000 \
	-T 7000:7001
echoes c TCP4-LISTEN:6000
echoes c TCP6-LISTEN:6001,ipv6only
echoes h TCP4-LISTEN:7001
ok "in, v4" says p 192.0.2.1 5000
ok "in, v6" says p [2001:db8::1] 5001
nok "nobody there" says p 192.0.2.1 5002
ok "from loopback" says h 127.0.0.1 5000
ok "from loopback, v6" says h [::1] 5001
ok "at one address" says h 127.0.0.1 5003
nok "and no other" says p 192.0.2.1 5003
ok "at one interface" says p 192.0.2.1 5004
nok "and no other" says h 127.0.0.1 5004
ok "out of loopback" says c 127.0.0.1 7000
ok "from any address of it" says c 127.9.9.9 7000
nok "not from the link's" says c 192.0.2.1 7000
alive

# Again at once: the connections of the first run are still known
stop $FP
F -t 5000:6000
ok "the same ports again" says p 192.0.2.1 5000

# In use
if try_F -t 5000; then ok "a port in use" false; fi
like "a port in use: one line" "$(cat $FLOG)" \
	'^[^[:cntrl:]]*-t: cannot listen on TCP port 5000 .*in use[^[:cntrl:]]*$'
FP=$(forwarders | head -1)
stop "$FP"

# "auto" follows, in both directions; nothing of ours comes back
WAIT=2
F -t auto -T auto -u auto
echoes c TCP4-LISTEN:5005
server=$EP
ok "auto: in" wait_until says p 192.0.2.1 5005
ok "auto: UDP follows TCP" udp_listens h 5005
echoes h TCP4-LISTEN:7005
hserver=$EP
ok "auto: out" wait_until says c 127.0.0.1 7005
serve c echo 0.0.0.0 5005
ok "a program that binds UDP later is there at once" ask p 192.0.2.1 5005 -c
stop $server $hserver
ok "auto: forgotten" wait_until free h 5005
ok "auto: out, forgotten" wait_until free c 7005
ok "UDP is followed on its own account" udp_listens h 5005
nok "our own are not followed" udp_listens h 7005
stop $SP
ok "and forgotten" wait_until eval '! udp_listens h 5005'

# Low ports that come later need a right that we gave up
echoes c TCP4-LISTEN:81
ok "auto: a low port" wait_until says p 192.0.2.1 81
stop $EP
ok "auto: a low port, forgotten" wait_until free h 81
echoes h TCP4-LISTEN:82
ok "auto: a low port, out" wait_until says c 127.0.0.1 82
alive
stop $FP

# Named ports, each while it leads to something
F -t 5010-5011:6010-6011,auto
echoes c TCP4-LISTEN:6011
ok "named and bound" wait_until says p 192.0.2.1 5011
ok "named, but not bound" free h 5010
ok "bound, but not named" free h 6011
stop $EP
ok "named, and forgotten" wait_until free h 5011
alive
done_testing
