#!/bin/bash
# On a kernel without IPv6 the start is given up with "address family not
# supported". Right: it runs with IPv4 alone. Here IPv6 is switched off for the
# host's namespace, then IPv6 sockets are refused by a system call filter.
# once
#
#   p ──v4──> h without IPv6:5000 ──> c

. "$(dirname "$0")"/lib.sh

# no_inet6 CMD...: as on a kernel of which IPv6 is no part
cat >$T/no_inet6.py <<'PY'
import ctypes, os, platform, struct, sys

nr = {"x86_64": 41, "aarch64": 198}.get(platform.machine())
if nr is None:
    sys.exit(77)


def op(code, k, jt=0, jf=0):
    return struct.pack("HBBI", code, jt, jf, k)


prog = b"".join([
    op(0x20, 0),  # the call's number
    op(0x15, nr, 0, 3),
    op(0x20, 16),  # socket()'s family
    op(0x15, 10, 0, 1),
    op(0x06, 0x00050000 | 97),  # EAFNOSUPPORT
    op(0x06, 0x7FFF0000),
])
buf = ctypes.create_string_buffer(prog)
fprog = struct.pack("HxxxxxxP", len(prog) // 8, ctypes.addressof(buf))
libc = ctypes.CDLL(None)
arg = ctypes.create_string_buffer(fprog)
if libc.prctl(22, 2, ctypes.byref(arg), 0, 0):
    sys.exit(77)
os.execvp(sys.argv[1], sys.argv[1:])
PY

run h sysctl -qw net.ipv6.conf.all.disable_ipv6=1
F -u 5000
serve c echo -v 0.0.0.0 5000
serve p echo 192.0.2.2 9001
ok "IPv6 is off: in" ask p 192.0.2.1 5000 -c
ok "IPv6 is off: over loopback" ask h 127.0.0.1 5000 -c
ok "IPv6 is off: out" ask c 192.0.2.2 9001 -c
alive
stop $FP

if $PY $T/no_inet6.py true; then
	WRAP="$PY $T/no_inet6.py"
	F -u 5000 -u 6000-6002:5000-5002 -u auto -U auto
	is "no IPv6 sockets: at least IPv4 is bound" \
		"$(bound h | grep -c '^0.0.0.0:')" 4
	ok "no IPv6 sockets: in" ask p 192.0.2.1 5000 -c
	ok "no IPv6 sockets: over loopback" ask h 127.0.0.1 6000 -c
	ok "no IPv6 sockets: out" ask c 192.0.2.2 9001 -c
	alive
	stop $FP
	F -u 127.0.0.1/5000
	ok "no IPv6 sockets: one address" ask h 127.0.0.1 5000 -c
	alive
fi
done_testing
