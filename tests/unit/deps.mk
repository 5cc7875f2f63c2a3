# Objects a unit or fuzz program links besides its module: deps_M := X Y
deps_csum := addr
deps_pkt := addr csum run
deps_arp := addr csum run pkt
deps_ndp := addr csum run pkt dnsname
deps_dnsname :=
deps_dhcp := addr csum run pkt dnsname
deps_dhcp6 := addr csum run pkt dnsname
deps_frag := addr csum run pkt
deps_nlmsg := addr
deps_netlink := nlmsg addr
deps_hostnet := addr resolv
deps_log :=
deps_stats :=
deps_loop := log
deps_ports := addr
deps_word := addr
deps_opt :=
deps_cmdline := addr log ports word opt set
deps_sandbox := log
deps_agent := addr log sandbox
deps_fwd := addr
deps_map := addr hash lru
deps_flow := addr hash lru
deps_sock := addr run
deps_tap := addr csum run pkt log pcap
# What every test of UDP links
deps_of_udp := addr hash csum run lru pkt log loop sandbox pcap tap sock agent \
	map flow fwd udp_flow mcast sock_group udp_group \
	udp_splice
deps_udp := $(deps_of_udp)
deps_udp_splice := $(deps_of_udp) udp
deps_udp_listen := $(deps_of_udp) ports nlmsg netlink udp
deps_guest := $(deps_of_udp) arp ndp dnsname dhcp dhcp6 local frag udp
deps_netns := log loop sandbox
deps_resolv := addr
deps_pcap := addr csum run pkt log
