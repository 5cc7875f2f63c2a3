#!/bin/bash
# Web clients and servers: a big file each way compared by digest, many requests
# on one connection, many connections at once.
# once
#
#   p, h lo: curl ──> h:8080 ──> c:80      c: curl ──> p:80, lo:8081 ──> h lo:80

. "$(dirname "$0")"/lib.sh
. "$DIR"/lib-tcp.sh

command -v curl >/dev/null || skip "no curl"

mkdir $T/www
head -c 30000000 /dev/urandom >$T/www/big
for i in $(seq 50); do
	head -c $((i * 331)) /dev/urandom >$T/www/$i
done
want=$(sha256sum <$T/www/big | cut -d' ' -f1)

# http NS IP PORT...: the server
http()
{
	SN=$((${SN:-0} + 1))
	SLOG=$T/s$SN.log
	run "$1" $PY -SE "$DIR"/web.py $T/www "${@:2}" >$SLOG 2>&1 &
	wait_until has $SLOG ^ready || { tail -n 3 $SLOG; exit 1; }
}

# get NS CURL-WORDS...
get()
{
	run "$1" curl -sS --noproxy '*' -m 20 "${@:2}"
}

# same_files: did all fifty come? They are gone then
same_files()
{
	local i

	for ((i = 1; i <= 50; i++)); do
		cmp $T/got$i $T/www/$i || return
	done
	rm $T/got*
}

F -t 8080:80 -T 8081:80
http c 0.0.0.0 80 :: 80
http p 192.0.2.2 80 2001:db8::2 80
http h 127.0.0.1 80 ::1 80
ways=("p 192.0.2.1:8080" "p [2001:db8::1]:8080" "h 127.0.0.1:8080"
	"h [::1]:8080" "c 192.0.2.2:80" "c 127.0.0.1:8081"
	"c [2001:db8::2]:80" "c [::1]:8081")
thin ways
for way in "${ways[@]}"; do
	ns=${way% *}
	url=http://${way#* }
	is "$way: a big file" \
		"$(get $ns $url/big | sha256sum | cut -d' ' -f1)" "$want"
	is "$way: the same sent" "$(get $ns -T $T/www/big $url/)" "$want"
	is "$way: 50 requests on one connection" "$(get $ns "$url/[1-50]" \
		-o "$T/got#1" -w '%{http_code} %{num_connects}\n' |
		awk '{ n++; good += $1 == 200; c += $2 }
			END { print n, good, c }')" "50 50 1"
	ok "$way: all bytes" same_files
	get $ns -Z --parallel-max 25 --parallel-immediate "$url/[1-50]" \
		-o "$T/got#1" 2>$T/progress
	ok "$way: 25 connections at once" same_files
done
alive
done_testing
