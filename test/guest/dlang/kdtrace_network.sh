#!/bin/bash
# SPDX-License-Identifier: GPL-2.0-only
# The arguments of ip, tcp and udp, and what they are made of, against sockets of known addresses and ports.
# shellcheck disable=SC2016 # $target is kdtrace's
. "$(dirname "$0")/../common/lib.sh"
start
kd=$top/build/release/bin/kdtrace
d() { timeout 100 "$kd" -qn "$@" 2> /tmp/kd.err | sed 's/^ *//; s/ *$//; /^$/d' | tr -s ' '; }
ip link set lo up 2> /dev/null
cat > /tmp/tcp.pl << 'P'
use Socket;
socket my $l, PF_INET, SOCK_STREAM, 0; setsockopt $l, SOL_SOCKET, SO_REUSEADDR, 1; bind $l, sockaddr_in(5001, INADDR_LOOPBACK) or die "bind: $!"; listen $l, 1;
socket my $c, PF_INET, SOCK_STREAM, 0; bind $c, sockaddr_in(0, inet_aton("127.0.0.2")); connect $c, sockaddr_in(5001, INADDR_LOOPBACK) or die "connect: $!";
accept my $s, $l; syswrite $c, "hello"; sysread $s, my $x, 5; close $c; close $s;
P
cat > /tmp/refused.pl << 'P'
use Socket; socket my $c, PF_INET, SOCK_STREAM, 0; bind $c, sockaddr_in(0, inet_aton("127.0.0.2")); connect $c, sockaddr_in(5002, INADDR_LOOPBACK)
P
cat > /tmp/udp.pl << 'P'
use Socket; socket my $r, PF_INET, SOCK_DGRAM, 0; bind $r, sockaddr_in(5003, INADDR_LOOPBACK) or die;
socket my $c, PF_INET, SOCK_DGRAM, 0; bind $c, sockaddr_in(5004, inet_aton("127.0.0.2")) or die;
send $c, "hello", 0, sockaddr_in(5003, INADDR_LOOPBACK); recv $r, my $x, 9, 0; connect $c, sockaddr_in(5003, INADDR_LOOPBACK); send $c, "you", 0; recv $r, $x, 9, 0;
P

# ---- tcp ----

is "the states of a connection, from the side that asks for it" "$(d 'tcp:::state-change /pid == $target && args[3]->tcps_rport == 5001/ { printf("%s %s %s %s;", tcp_state_string[args[5]->tcps_state], tcp_state_string[args[3]->tcps_state], args[3]->tcps_raddr, args[2]->ip_daddr); }' \
	-c 'perl /tmp/tcp.pl' | cut -d';' -f1,2)" "state-closed state-syn-sent 127.0.0.1 127.0.0.1;state-syn-sent state-established 127.0.0.1 127.0.0.1"
is "from the side that is asked, and of the side that ends it first" "$(d 'tcp:::state-change /args[3]->tcps_lport == 5001 && args[3]->tcps_state == TCP_STATE_SYN_RECEIVED/ { printf("%s %s %s;", tcp_state_string[args[3]->tcps_state], args[3]->tcps_laddr, args[3]->tcps_raddr); }
	tcp:::state-change /args[3]->tcps_state == TCP_STATE_TIME_WAIT/ { @[tcp_state_string[args[5]->tcps_state], args[3]->tcps_lport == 5001 || args[3]->tcps_rport == 5001] = count(); }' -c 'perl /tmp/tcp.pl' | tr '\n' ';')" "state-syn-received 127.0.0.1 127.0.0.2;;state-fin-wait2 1 1;"
is "asked for, and that comes in which answers" "$(d 'tcp:::connect-request /args[4]->tcp_dport == 5001/ { printf("%s %s %d %d;", args[2]->ip_saddr, args[2]->ip_daddr, args[4]->tcp_flags == TH_SYN, args[4]->tcp_sport == args[3]->tcps_lport); }
	tcp:::connect-established /args[4]->tcp_sport == 5001/ { printf("%s %s %d %d;", args[2]->ip_saddr, args[2]->ip_daddr, args[4]->tcp_flags == (TH_SYN | TH_ACK), args[3]->tcps_state == TCP_STATE_ESTABLISHED); }
	tcp:::accept-established /args[4]->tcp_dport == 5001/ { printf("%s %s %d %d;", args[2]->ip_saddr, args[2]->ip_daddr, args[4]->tcp_flags == TH_ACK, args[3]->tcps_lport); }' -c 'perl /tmp/tcp.pl')" \
	"127.0.0.2 127.0.0.1 1 1;127.0.0.1 127.0.0.2 1 1;127.0.0.2 127.0.0.1 1 5001;"
is "refused, on both sides" "$(d 'tcp:::connect-refused /args[4]->tcp_sport == 5002/ { @["connect", args[2]->ip_saddr, args[2]->ip_daddr, args[4]->tcp_flags == (TH_RST | TH_ACK)] = count(); }
	tcp:::accept-refused /args[4]->tcp_sport == 5002/ { @["accept", args[2]->ip_saddr, args[2]->ip_daddr, args[4]->tcp_flags == (TH_RST | TH_ACK)] = count(); }' -c 'perl /tmp/refused.pl' | tr '\n' ';')" "accept 127.0.0.1 127.0.0.2 1 1;connect 127.0.0.1 127.0.0.2 1 1;"
is "packets that are sent are received: one clause of both" "$(d 'tcp:::send,tcp:::receive /args[4]->tcp_dport == 5001/ { @n[probename, args[2]->ip_saddr, args[2]->ip_daddr, args[2]->ip_ver, args[3]->tcps_laddr == (probename == "send" ? "127.0.0.2" : "127.0.0.1")] = count();
	@f[probename] = sum(args[4]->tcp_flags & TH_SYN ? 1 : 0); @fin[probename] = sum(args[4]->tcp_flags & TH_FIN ? 1 : 0); @o[probename] = min(args[4]->tcp_offset); }
	END { printa("%s %s %s %d %d\n", @n); printa("%s %@d %@d %@d\n", @f, @fin, @o); }' -c 'perl /tmp/tcp.pl' | tr '\n' ';')" "receive 127.0.0.2 127.0.0.1 4 1;send 127.0.0.2 127.0.0.1 4 1;receive 1 1 32;send 1 1 32;"
is "numbers of bytes agree" "$(d 'tcp:::send /args[4]->tcp_dport == 5001 && args[4]->tcp_flags & TH_PUSH/ { s = args[4]->tcp_seq; a = args[4]->tcp_ack; n = args[2]->ip_plength; } tcp:::receive /args[4]->tcp_dport == 5001 && args[4]->tcp_flags & TH_PUSH/ { printf("%d %d %d %d;", args[4]->tcp_seq == s, args[4]->tcp_ack == a, args[2]->ip_plength, n); }' -c 'perl /tmp/tcp.pl')" "1 1 37 37;"
is "a connection is one, by its number" "$(d 'tcp:::connect-request /args[4]->tcp_dport == 5001/ { c[args[1]->cs_cid] = 1; } tcp:::connect-established /c[args[1]->cs_cid]/ { @ = count(); }' -c 'perl /tmp/tcp.pl')" 1

# ---- ip ----

is "packets: their device and headers" "$(d 'ip:::send,ip:::receive /args[2]->ip_daddr == "127.0.0.1" && args[4]->ipv4_protocol == IPPROTO_UDP/ { printf("%s %s %s %d %d %d %d %s %s %s %d %d;", probename, args[3]->if_name, args[2]->ip_saddr, args[2]->ip_ver, args[2]->ip_plength, args[4]->ipv4_ihl, args[4]->ipv4_length, args[4]->ipv4_protostr, args[4]->ipv4_saddr,
	inet_ntoa(&args[4]->ipv4_dst), args[3]->if_local, args[5] == NULL); }' -c 'perl /tmp/udp.pl' | tr ';' '\n' | sort -u | tr '\n' ';')" \
	";receive lo 127.0.0.2 4 11 20 31 UDP 127.0.0.2 127.0.0.1 1 1;receive lo 127.0.0.2 4 13 20 33 UDP 127.0.0.2 127.0.0.1 1 1;send lo 127.0.0.2 4 11 20 31 UDP 127.0.0.2 127.0.0.1 1 1;send lo 127.0.0.2 4 13 20 33 UDP 127.0.0.2 127.0.0.1 1 1;"

# ---- udp ----

is "datagrams: to whom, from whom, how long" "$(d 'udp:::send,udp:::receive /args[4]->udp_dport == 5003/ { printf("%s %s %s %d %d %d;", probename, args[2]->ip_saddr, args[2]->ip_daddr, args[4]->udp_sport, args[4]->udp_length, args[3]->udps_lport); }' -c 'perl /tmp/udp.pl')" \
	"send 127.0.0.2 127.0.0.1 5004 13 5004;receive 127.0.0.2 127.0.0.1 5004 13 5003;send 127.0.0.2 127.0.0.1 5004 11 5004;receive 127.0.0.2 127.0.0.1 5004 11 5003;"
is "the types of arguments" "$(timeout 60 "$kd" -lvn 'ip:::receive,tcp:::receive,udp:::receive' 2>&1 | awk '/^ *[0-9]/ { printf "%s%s:%s", n++ ? ";" : "", $2, $NF } /args/ { sub(/.*: /, ""); printf " %s", $0 }' | tr ';' '\n' | sort -u | tr '\n' ';')" \
	"ip:receive pktinfo_t * csinfo_t * ipinfo_t * ifinfo_t * ipv4info_t * ipv6info_t *;tcp:receive pktinfo_t * csinfo_t * ipinfo_t * tcpsinfo_t * tcpinfo_t *;udp:receive pktinfo_t * csinfo_t * ipinfo_t * udpsinfo_t * udpinfo_t *;"
is "addresses in memory, by their types" "$(d 'BEGIN { this->p = (ipaddr_t *)alloca(sizeof(ipaddr_t)); *this->p = htonl(0x0a000001); this->q = (in6_addr_t *)alloca(sizeof(in6_addr_t)); printf("%s %s %d", inet_ntoa(this->p), inet_ntoa6(this->q), sizeof(in6_addr_t)); exit(0); }')" "10.0.0.1 :: 16"
is "bytes in the other order, of numbers known only when it runs" "$(d 'BEGIN { x = 0x1122334455667788; printf("%x %x %x %x %x", ntohs(x), htonl(x), ntohll(x), ntohl(htonl(pid)) == pid, htons(ntohs(x) + 1)); exit(0); }')" "8877 88776655 8877665544332211 1 7888"
soon "nothing is left" 0 field windows
finish
