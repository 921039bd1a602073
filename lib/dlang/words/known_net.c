// SPDX-License-Identifier: LGPL-2.1-only OR BSD-2-Clause
/*
 * What the arguments of ip, tcp and udp are translated from: a packet's headers, or a socket when
 * there is none yet. A type without members says which way a packet goes that a socket, or the
 * packet it answers, stands for: __in_sock comes in, __out_skb carries what a socket sends,
 * __reset_hdr and __reset_ip are answered.
 */
#include "dlang/words/known.h"

/* Bytes of what __a leads to, as two digits each, with ':' between them. */
#define HALF(i, shifted)   "substr(\"0123456789abcdef\", ((uint8_t *)__a)[" #i "] " shifted ", 1)"
#define BYTE(i)		   "strjoin(" HALF(i, ">> 4") ", " HALF(i, "& 15") ")"
#define BESIDE(a, b)	   "strjoin(" a ", strjoin(\":\", " b "))"
#define BYTES2(i, j)	   BESIDE(BYTE(i), BYTE(j))
#define BYTES4(i, j, k, l) BESIDE(BYTES2(i, j), BYTES2(k, l))
#define BYTES_OF_ETHER	   BESIDE(BYTES4(0, 1, 2, 3), BYTES2(4, 5))
#define BYTES_OF_INFINIBAND                                                                        \
	BESIDE(BESIDE(BYTES4(0, 1, 2, 3), BYTES4(4, 5, 6, 7)),                                     \
	       BESIDE(BESIDE(BYTES4(8, 9, 10, 11), BYTES4(12, 13, 14, 15)),                        \
		      BYTES4(16, 17, 18, 19)))

/* A socket's sides; the second expression is of kernels without IPv6. */
#define COMMON(s) "((struct sock *)" s ")->__sk_common."
#define SIDES(to, s, v6, v4)                                                                       \
	to " = " COMMON(s) "skc_family == AF_INET6 ? inet_ntoa6(&" COMMON(s) v6                    \
		") : inet_ntoa(&" COMMON(s) v4 ");" to " = inet_ntoa(&" COMMON(s) v4 ");"
#define LOCAL(to, s)  SIDES(to, s, "skc_v6_rcv_saddr", "skc_rcv_saddr")
#define REMOTE(to, s) SIDES(to, s, "skc_v6_daddr", "skc_daddr")
#define LPORT(s)      COMMON(s) "skc_num"
#define RPORT(s)      "ntohs(" COMMON(s) "skc_dport)"
#define VERSION(s)    "ip_ver = " COMMON(s) "skc_family == AF_INET6 ? 6 : 4;"

/* A header's sides. */
#define OF_HEADER(to, v6, v4)                                                                      \
	to " = *(uint8_t *)I >> 4 == 6 ? inet_ntoa6(&((struct ipv6hdr *)I)->" v6                   \
	   ") : inet_ntoa(&((struct iphdr *)I)->" v4 ");" to                                       \
	   " = inet_ntoa(&((struct iphdr *)I)->" v4 ");"
#define PROTOCOL(p)                                                                                \
	p " == IPPROTO_TCP ? \"TCP\" : " p " == IPPROTO_UDP ? \"UDP\" : " p                        \
	  " == IPPROTO_ICMP ? \"ICMP\" : " p " == IPPROTO_ICMPV6 ? \"ICMPV6\" : " p                \
	  " == IPPROTO_IGMP ? \"IGMP\" : " p " == IPPROTO_IPV6 ? \"IPV6\" : " p                    \
	  " == 50 ? \"ESP\" : " p " == 51 ? \"AH\" : " p " == 132 ? \"SCTP\" : lltostr(" p ")"

/* Of a socket: what the probe's packet has. */
#define TCP_FLAGS                                                                                    \
	"probename == \"connect-request\" ? TH_SYN : probename == \"connect-established\" ? TH_SYN " \
	"| TH_ACK : probename == \"connect-refused\" ? TH_RST | TH_ACK : TH_ACK"
#define TCP(s, m) "((struct tcp_sock *)" s ")->" m
#define TCP_NONE  "tcp_checksum = 0; tcp_urgent = 0; tcp_hdr = (struct tcphdr *)0;"
#define TCPS_NUMBERS(s)                                                                                                                                                                                  \
	"tcps_addr = (uintptr_t)" s "; tcps_local = " COMMON(s) "skc_daddr == " COMMON(                                                                                                                  \
		s) "skc_rcv_saddr; tcps_active = -1;"                                                                                                                                                    \
		   "tcps_lport = " LPORT(s) "; tcps_rport = " RPORT(                                                                                                                                     \
			   s) ";"                                                                                                                                                                        \
			      "tcps_snxt = " TCP(s, "snd_nxt") "; tcps_suna = " TCP(                                                                                                                     \
				      s,                                                                                                                                                                 \
				      "snd_una") ";"                                                                                                                                                     \
						 "tcps_smax = " TCP(s, "snd_nxt") "; tcps_rnxt = " TCP(                                                                                                  \
							 s,                                                                                                                                              \
							 "rcv_nxt") ";"                                                                                                                                  \
								    "tcps_swnd = " TCP(s, "snd_wnd") "; tcps_rwnd = " TCP(                                                                               \
									    s,                                                                                                                           \
									    "rcv_wnd") ";"                                                                                                               \
										       "tcps_snd_ws = " TCP(s, "rx_opt.snd_wscale") "; tcps_rcv_ws = " TCP(s, "rx_opt.rcv_wscale") "; tcps_cwnd = " TCP( \
											       s,                                                                                                        \
											       "snd_cwnd") ";"                                                                                           \
													   "tcps_cwnd_ssthresh = " TCP(s, "snd_ssthresh") "; tcps_mss = " TCP(                           \
														   s,                                                                                    \
														   "mss_cache") ";"                                                                      \
																"tcps_rto = ((struct inet_connection_sock *)" s                          \
																")->icsk_rto;"                                                           \
																"tcps_retransmit = ((struct inet_connection_sock *)" s                   \
																")->icsk_retransmits != 0;"
#define ARG_SKB "((struct sk_buff *)arg0)"
#define ARG_MSG "((struct msghdr *)arg1)"
#define ARG_TO	"((struct sockaddr_in *)" ARG_MSG "->msg_name)"
#define IS_TO4	ARG_MSG "->msg_name && " ARG_TO "->sin_family == AF_INET"
#define IS_TO6	ARG_MSG "->msg_name && " ARG_TO "->sin_family == AF_INET6"

/* clang-format off */
const struct ki_d_known_row ki_d_known_networks[KI_D_KNOWN_NETWORKS] = {
	{"inet_ntop", "inline string inet_ntop[int __f, void *__a] = __f == AF_INET ?"
	 " inet_ntoa(__a) : __f == AF_INET6 ? inet_ntoa6((in6_addr_t *)__a, 1) :"
	 " stringof((char *)0);"},
	{"link_ntop",
	 "inline string link_ntop[int __t, void *__a] = __t == ARPHRD_ETHER ? " BYTES_OF_ETHER
	 " : __t == ARPHRD_INFINIBAND ? " BYTES_OF_INFINIBAND " : stringof((char *)0);"},
	{"ipaddr_t", "typedef uint32_t ipaddr_t;"},
	{"in6_addr_t", "typedef struct in6_addr in6_addr_t;"},
	{"pktinfo_t",
	 "typedef struct pktinfo { uintptr_t pkt_addr; } pktinfo_t;"
	 "translator pktinfo_t < struct sk_buff *B > { pkt_addr = (uintptr_t)B; };"},
	{"csinfo_t",
	 "typedef struct csinfo { uintptr_t cs_addr; uint64_t cs_cid; int cs_pid, cs_zoneid;"
	 " } csinfo_t; translator csinfo_t < struct sock *S > { cs_addr = (uintptr_t)S;"
	 " cs_cid = (uint64_t)S; cs_pid = -1; cs_zoneid = 0; };"},
	{"ifinfo_t",
	 "typedef struct ifinfo { string if_name; int8_t if_local; int if_ipstack;"
	 " uintptr_t if_addr; } ifinfo_t;"
	 "translator ifinfo_t < struct net_device *D > { if_name = D ? stringof(D->name) :"
	 " \"<null>\"; if_local = D ? (D->flags & 8) != 0 : 0; if_ipstack = 0;"
	 " if_addr = (uintptr_t)D; };"},
	{"ipinfo_t",
	 "typedef struct ipinfo { uint8_t ip_ver; uint32_t ip_plength;"
	 " string ip_saddr, ip_daddr; } ipinfo_t;"
	 "translator ipinfo_t < struct iphdr *I > { ip_ver = *(uint8_t *)I >> 4;"
	 " ip_plength = *(uint8_t *)I >> 4 == 6 ? ntohs(((uint16_t *)I)[2]) :"
	 " ntohs(I->tot_len) - 4 * (*(uint8_t *)I & 15);" OF_HEADER("ip_saddr", "saddr",
	 "saddr")
	 OF_HEADER("ip_daddr",
	 "daddr", "daddr") "};"
	 "translator ipinfo_t < struct __reset_ip *I > { ip_ver = *(uint8_t *)I >> 4;"
	 " ip_plength = 20;" OF_HEADER("ip_saddr", "daddr", "daddr") OF_HEADER("ip_daddr", "saddr", "saddr") "};"
	 "translator ipinfo_t < struct sock *S > { ip_plength = 0;" VERSION("S") LOCAL("ip_saddr", "S") REMOTE("ip_daddr", "S") "};"
	 "translator ipinfo_t < struct tcp_sock *S > {"
	 " ip_plength = " ARG_SKB "->len + S->tcp_header_len;" VERSION("S") LOCAL("ip_saddr", "S") REMOTE("ip_daddr", "S") "};"
	 "translator ipinfo_t < struct __in_sock *S > { ip_plength = 0;" VERSION("S") REMOTE(
	 "ip_saddr",
	 "S") LOCAL("ip_daddr",
	 "S") "};"
	 "translator ipinfo_t < struct udp_sock *S > { ip_plength = arg2 + 8;" VERSION("S") LOCAL(
	 "ip_saddr", "S") "ip_daddr = " IS_TO4
	 " ? inet_ntoa(&" ARG_TO
	 "->sin_addr) : " IS_TO6
	 " ? inet_ntoa6(&((struct sockaddr_in6 *)" ARG_TO ")->sin6_addr) : " COMMON("S") "skc_family == AF_INET6 ? inet_ntoa6(&" COMMON("S") "skc_v6_daddr) : inet_ntoa(&" COMMON("S") "skc_daddr);"
	 "ip_daddr = " IS_TO4 " ? inet_ntoa(&" ARG_TO "->sin_addr) : inet_ntoa(&" COMMON(
	 "S") "skc_daddr); };"},
	{"ipv4info_t",
	 "typedef struct ipv4info { uint8_t ipv4_ver, ipv4_ihl, ipv4_tos; uint16_t ipv4_length,"
	 " ipv4_ident; uint8_t ipv4_flags; uint16_t ipv4_offset; uint8_t ipv4_ttl, ipv4_protocol;"
	 " string ipv4_protostr; uint16_t ipv4_checksum; ipaddr_t ipv4_src, ipv4_dst;"
	 " string ipv4_saddr, ipv4_daddr; struct iphdr *ipv4_hdr; } ipv4info_t;"
	 "translator ipv4info_t < struct iphdr *I > { ipv4_ver = *(uint8_t *)I >> 4;"
	 " ipv4_ihl = 4 * (*(uint8_t *)I & 15); ipv4_tos = I->tos; ipv4_length = ntohs(I->tot_len);"
	 " ipv4_ident = ntohs(I->id); ipv4_flags = ntohs(I->frag_off) >> 12;"
	 " ipv4_offset = ntohs(I->frag_off) & 0xfff; ipv4_ttl = I->ttl;"
	 " ipv4_protocol = I->protocol; ipv4_protostr = " PROTOCOL(
	 "I->protocol") ";"
	 " ipv4_checksum = ntohs(I->check); ipv4_src = I->saddr; ipv4_dst = I->daddr;"
	 " ipv4_saddr = inet_ntoa(&I->saddr); ipv4_daddr = inet_ntoa(&I->daddr); ipv4_hdr = I; };"},
	{"ipv6info_t",
	 "typedef struct ipv6info { uint8_t ipv6_ver, ipv6_tclass; uint32_t ipv6_flow;"
	 " uint16_t ipv6_plen; uint8_t ipv6_nexthdr; string ipv6_nextstr; uint8_t ipv6_hlim;"
	 " in6_addr_t *ipv6_src, *ipv6_dst; string ipv6_saddr, ipv6_daddr;"
	 " struct ipv6hdr *ipv6_hdr; } ipv6info_t;"
	 "translator ipv6info_t < struct ipv6hdr *I > { ipv6_ver = *(uint8_t *)I >> 4;"
	 " ipv6_tclass = ntohl(*(uint32_t *)I) >> 20; ipv6_flow = ntohl(*(uint32_t *)I) & 0xfffff;"
	 " ipv6_plen = ntohs(I->payload_len); ipv6_nexthdr = I->nexthdr;"
	 " ipv6_nextstr = " PROTOCOL(
	 "I->nexthdr") "; ipv6_hlim = I->hop_limit;"
	 " ipv6_src = &I->saddr; ipv6_dst = &I->daddr; ipv6_saddr = inet_ntoa6(&I->saddr);"
	 " ipv6_daddr = inet_ntoa6(&I->daddr); ipv6_hdr = I; };"},
	{"tcpinfo_t", "typedef struct tcpinfo { uint16_t tcp_sport, tcp_dport; uint32_t tcp_seq, tcp_ack;"
	 " uint8_t tcp_offset, tcp_flags; uint16_t tcp_window, tcp_checksum, tcp_urgent;"
	 " struct tcphdr *tcp_hdr; } tcpinfo_t;"
	 "translator tcpinfo_t < struct tcphdr *T > { tcp_sport = ntohs(T->source);"
	 " tcp_dport = ntohs(T->dest); tcp_seq = ntohl(T->seq); tcp_ack = ntohl(T->ack_seq);"
	 " tcp_offset = ((uint8_t *)T)[12] >> 4 << 2; tcp_flags = ((uint8_t *)T)[13];"
	 " tcp_window = ntohs(T->window); tcp_checksum = ntohs(T->check);"
	 " tcp_urgent = ntohs(T->urg_ptr); tcp_hdr = T; };"
	 "translator tcpinfo_t < struct __reset_hdr *T > {"
	 " tcp_sport = ntohs(((struct tcphdr *)T)->dest); tcp_dport = ntohs(((struct tcphdr *)T)->source);"
	 " tcp_seq = 0; tcp_ack = ntohl(((struct tcphdr *)T)->seq) + 1; tcp_offset = 20;"
	 " tcp_flags = TH_RST | TH_ACK; tcp_window = 0;" TCP_NONE "};"
	 "translator tcpinfo_t < struct tcp_sock *S > { tcp_sport = " LPORT(
	 "S") "; tcp_dport = " RPORT("S") "; tcp_seq = ((struct tcp_skb_cb *)" ARG_SKB
	 "->cb)->seq; tcp_ack = S->rcv_nxt;"
	 " tcp_offset = S->tcp_header_len; tcp_window = S->rcv_wnd;"
	 " tcp_flags = ((struct tcp_skb_cb *)" ARG_SKB
	 "->cb)->tcp_flags;" TCP_NONE
	 "};"
	 "translator tcpinfo_t < struct sock *S > { tcp_sport = " LPORT(
	 "S") "; tcp_dport = " RPORT("S") "; tcp_seq = " TCP("S", "write_seq") "; tcp_ack = 0; tcp_offset = " TCP("S", "tcp_header_len") "; tcp_window = " TCP("S", "rcv_wnd") ";"
	 " tcp_flags = " TCP_FLAGS
	 ";" TCP_NONE
	 "};"
	 "translator tcpinfo_t < struct __in_sock *S > { tcp_sport = " RPORT("S") "; tcp_dport = " LPORT("S") "; tcp_seq = " TCP("S", "rcv_nxt") "; tcp_ack = " TCP("S", "snd_una") "; tcp_offset = " TCP("S",
	 "tcp_header_len") "; tcp_window = " TCP("S",
	 "snd_wnd") "; tcp_flags = " TCP_FLAGS
	 ";" TCP_NONE
	 "};"},
	{"tcpsinfo_t",
	 "typedef struct tcpsinfo { uintptr_t tcps_addr; int tcps_local, tcps_active;"
	 " uint16_t tcps_lport, tcps_rport; string tcps_laddr, tcps_raddr; int32_t tcps_state;"
	 " uint32_t tcps_snxt, tcps_suna, tcps_smax, tcps_rnxt, tcps_swnd; int32_t tcps_snd_ws;"
	 " uint32_t tcps_rwnd; int32_t tcps_rcv_ws; uint32_t tcps_cwnd, tcps_cwnd_ssthresh,"
	 " tcps_mss, tcps_rto; int tcps_retransmit; } tcpsinfo_t;"
	 "translator tcpsinfo_t < struct sock *S > {" TCPS_NUMBERS("S")
	 LOCAL("tcps_laddr", "S") REMOTE("tcps_raddr", "S") "tcps_state = " COMMON(
	 "S") "skc_state; };"
	 /* of state-change: what it will be */
	 "translator tcpsinfo_t < struct tcp_sock *S > {" TCPS_NUMBERS(
	 "S") LOCAL("tcps_laddr", "S")
	 REMOTE("tcps_raddr",
	 "S") "tcps_state = arg5; };"
	 /* of a packet, whose socket may
	 not be known yet */
	 "translator tcpsinfo_t < struct sk_buff *B > {"
	 " tcps_addr = (uintptr_t)B->sk; tcps_local = 0; tcps_active = -1;"
	 " tcps_lport = ntohs(((uint16_t *)(B->head + B->transport_header))[1]);"
	 " tcps_rport = ntohs(((uint16_t *)(B->head + B->transport_header))[0]);"
	 " tcps_laddr = xlate<ipinfo_t *>((struct iphdr *)(B->head + B->network_header))->ip_daddr;"
	 " tcps_raddr = xlate<ipinfo_t *>((struct iphdr *)(B->head + B->network_header))->ip_saddr;"
	 " tcps_state = B->sk ? B->sk->__sk_common.skc_state : TCP_STATE_CLOSED; tcps_snxt = 0;"
	 " tcps_suna = 0; tcps_smax = 0; tcps_rnxt = 0; tcps_swnd = 0; tcps_snd_ws = 0;"
	 " tcps_rwnd = 0; tcps_rcv_ws = 0; tcps_cwnd = 0; tcps_cwnd_ssthresh = 0; tcps_mss = 0;"
	 " tcps_rto = 0; tcps_retransmit = 0; };"},
	{"tcplsinfo_t", "typedef struct tcplsinfo { int32_t tcps_state; } tcplsinfo_t;"
	 "translator tcplsinfo_t < int __s > { tcps_state = __s; };"},
	{"udpinfo_t",
	 "typedef struct udpinfo { uint16_t udp_sport, udp_dport, udp_length, udp_checksum;"
	 " struct udphdr *udp_hdr; } udpinfo_t;"
	 "translator udpinfo_t < struct sock *S > { udp_sport = " LPORT(
	 "S") "; udp_dport = " ARG_MSG "->msg_name ? ntohs(" ARG_TO
	 "->sin_port) : " RPORT(
	 "S") "; udp_length = arg2 + 8; udp_checksum = 0; udp_hdr = (struct udphdr *)0; };"
	 "translator udpinfo_t < struct udphdr *U > { udp_sport = ntohs(U->source);"
	 " udp_dport = ntohs(U->dest); udp_length = ntohs(U->len);"
	 " udp_checksum = ntohs(U->check); udp_hdr = U; };"},
	{"udpsinfo_t",
	 "typedef struct udpsinfo { uintptr_t udps_addr; uint16_t udps_lport, udps_rport;"
	 " string udps_laddr, udps_raddr; } udpsinfo_t;"
	 "translator udpsinfo_t < struct sock *S > { udps_addr = (uintptr_t)S; udps_lport = " LPORT(
	 "S") "; udps_rport = " RPORT("S") ";" LOCAL("udps_laddr", "S")
	 REMOTE("udps_raddr", "S") "};"},
	 
};
/* clang-format on */
