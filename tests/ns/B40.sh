#!/bin/bash
# A DHCP client's source 0.0.0.0 shows up as the gateway, so the server answers
# somebody who never asked. Right: a datagram without a source is dropped,
# never given an invented one.
# root only
# once
#
#   p: raw 0.0.0.0:68 -> 255.255.255.255:67 ──> h ──> c

. "$(dirname "$0")"/lib.sh
. "$DIR"/lib-group.sh

F -u 67
group c hear "$TAP" 67
run p $PY -SE "$DIR/group.py" dhcp ph
said p ph 255.255.255.255 67 marker
ok "a datagram with a source arrives" wait_until has $GLOG "got marker"
nok "the one without does not" has $GLOG discover-me
nok "the gateway is not shown" has $GLOG "192.0.2.254"
like "it was counted" "$(stats bad_address)" '^[1-9]'
alive
done_testing
