#!/bin/bash
# Wake-on-LAN and discovery broadcasts stay in the container's network. Right:
# 255.255.255.255 and the broadcast address of the subnet leave by the host's
# interface, and what answers is let in.
# once
#
#   c ──broadcast──> hp ~~~ ph: sniffed, answered by a server at port 9

. "$(dirname "$0")"/lib.sh
. "$DIR"/lib-group.sh

F
group p sniff ph 9
sniffed=$GLOG
serve p echo 0.0.0.0 9
for to in 255.255.255.255 192.0.2.255; do
	said c "$TAP" $to 9 wake-up -w 0.5
	ok "$to leaves" wait_until has $sniffed "^seen 192.0.2.1 [0-9]+ to $to "
	like "$to is answered" "$SAID" "got wake-up from 192.0.2.2 9 "
done
ip -n "${X}h" route del default
said c "$TAP" 255.255.255.255 9 late -b 0.0.0.0 -w 0.5
like "no default route on the host" "$SAID" "got late from 192.0.2.2 9 "
alive
done_testing
