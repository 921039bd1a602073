#!/bin/bash
# SPDX-License-Identifier: GPL-2.0-only
# pcap(): packets of known addresses and sizes, in a file as tools read them, and shown.
# shellcheck disable=SC2016 # $target is kdtrace's
. "$(dirname "$0")/../common/lib.sh"
start
kd=$top/build/release/bin/kdtrace
d() { timeout 100 "$kd" -n "$@" 2> /tmp/kd.err; }
ip link set lo up 2> /dev/null
cat > /tmp/udp.pl << 'P'
use Socket;
socket my $r, PF_INET, SOCK_DGRAM, 0; bind $r, sockaddr_in(5003, INADDR_LOOPBACK) or die;
socket my $c, PF_INET, SOCK_DGRAM, 0; bind $c, sockaddr_in(5004, inet_aton("127.0.0.2")) or die;
for (@ARGV) { send $c, "x" x $_, 0, sockaddr_in(5003, INADDR_LOOPBACK); recv $r, my $x, 9999, 0; }
P
# A file's link type and snaplen, then of each packet its length and bytes in the file, of IP its
# addresses and its own length, the last byte; and whether its time is between two others.
cat > /tmp/read.pl << 'P'
my ($file, $from, $to) = @ARGV; local $/; open my $f, "<", $file or die; my $all = <$f>;
my ($magic, $major, $minor, $zone, $digits, $most, $link) = unpack "L S S l L L L", $all;
printf "%x %d.%d %d %d %d %d;", $magic, $major, $minor, $zone, $digits, $most, $link;
for (my $at = 24; $at + 16 < length $all;) {
	my ($s, $us, $taken, $length) = unpack "L4", substr $all, $at; my $p = substr $all, $at + 16, $taken; $at += 16 + $taken;
	printf "%d %d %s %s %d %s %s;", $length, $taken, join(".", unpack "C4", substr $p, 12), join(".", unpack "C4", substr $p, 16), unpack("n", substr $p, 2), substr($p, -1), ($s >= $from && $s <= $to && $us < 1000000 ? "now" : "$s.$us");
}
P
sends='ip:::send /args[2]->ip_daddr == "127.0.0.1" && args[4]->ipv4_protocol == IPPROTO_UDP/'
packets() { # FILE COMMAND...: what is in the file that the command makes
	local from
	from=$(date +%s)
	"${@:2}"
	perl /tmp/read.pl "$1" "$from" "$(date +%s)"
}

is "whole packets, longer than a piece and than none" "$(packets /tmp/a d 'BEGIN { freopen("/tmp/a"); }'"$sends"' { pcap((struct sk_buff *)arg0, PCAP_IP); }' -qw -c 'perl /tmp/udp.pl 1 100 101 1000 1400')" \
	"a1b2c3d4 2.4 0 0 1514 101;29 29 127.0.0.2 127.0.0.1 29 x now;128 128 127.0.0.2 127.0.0.1 128 x now;129 129 127.0.0.2 127.0.0.1 129 x now;1028 1028 127.0.0.2 127.0.0.1 1028 x now;1428 1428 127.0.0.2 127.0.0.1 1428 x now;"
is "no more than pcapsize says; no line of text in the file, without -q" "$(packets /tmp/b d "$sends"' { freopen("/tmp/b"); pcap((struct sk_buff *)arg0, PCAP_IP); }' -w -x pcapsize=30 -c 'perl /tmp/udp.pl 1 100' | sed 's/.*a1b2/a1b2/' | tail -n 1)" \
	"a1b2c3d4 2.4 0 0 30 101;128 30 127.0.0.2 127.0.0.1 128 x now;"
is "no more than a record takes" "$(packets /tmp/c d 'BEGIN { freopen("/tmp/c"); }'"$sends"' { pcap((struct sk_buff *)arg0, PCAP_IP); }' -qw -x pcapsize=1m -c 'perl /tmp/udp.pl 2000 4000' | tail -n 1)" \
	"a1b2c3d4 2.4 0 0 1048576 101;2028 2028 127.0.0.2 127.0.0.1 2028 x now;4028 3584 127.0.0.2 127.0.0.1 4028 x now;"
is "a file for each, a head in each" "$(d "$sends"' { freopen("/tmp/p%d", n++); pcap((struct sk_buff *)arg0, PCAP_IP); freopen(""); printf("%d;", n); }' -qw -c 'perl /tmp/udp.pl 1 2')$(for f in /tmp/p0 /tmp/p1; do perl /tmp/read.pl $f 0 9999999999; done)" \
	"1;2;a1b2c3d4 2.4 0 0 1514 101;29 29 127.0.0.2 127.0.0.1 29 x now;a1b2c3d4 2.4 0 0 1514 101;30 30 127.0.0.2 127.0.0.1 30 x now;"
is "ftruncate() begins a new one" "$(packets /tmp/e d 'BEGIN { freopen("/tmp/e"); }'"$sends"' { ftruncate(); pcap((struct sk_buff *)arg0, PCAP_IP); }' -qw -c 'perl /tmp/udp.pl 1 2')" "a1b2c3d4 2.4 0 0 1514 101;30 30 127.0.0.2 127.0.0.1 30 x now;"
is "the kind of link is the first packet's" "$(packets /tmp/g d 'BEGIN { freopen("/tmp/g"); }'"$sends"' { pcap((struct sk_buff *)arg0, n++ ? PCAP_IP : PCAP_ETHER); }' -qw -c 'perl /tmp/udp.pl 1 2') $(grep -c 'link type 1: one of 101 is left out' /tmp/kd.err)" "a1b2c3d4 2.4 0 0 1514 1;29 29 127.0.0.2 127.0.0.1 29 x now; 1"
is "what is shown is what tracemem() shows" "$(d "$sends"' { pcap((struct sk_buff *)arg0, PCAP_IP); tracemem(((struct sk_buff *)arg0)->data, 29); }' -q -c 'perl /tmp/udp.pl 1' | grep : | sort | uniq -c | awk '{ print $1, $2 }' | tr '\n' ';')" "2 0:;2 10:;"
is "JSON" "$(d "$sends"' { pcap((struct sk_buff *)arg0, PCAP_IP); }' --json -c 'perl /tmp/udp.pl 3' | perl -ne 'print "$1 $2 $3\n" if /"protocol":(\d+),"time":"?\d+"?,"length":(\d+),"bytes":"4500\w{20}(\w+)"/')" "12 31 7f0000027f000001138c138b000bfe1f787878"
is "speculations have packets" "$(packets /tmp/h d 'BEGIN { freopen("/tmp/h"); }'"$sends"' { i = speculation(); speculate(i); pcap((struct sk_buff *)arg0, PCAP_IP); }'"$sends"' { commit(i); }' -qw -c 'perl /tmp/udp.pl 7')" "a1b2c3d4 2.4 0 0 1514 101;35 35 127.0.0.2 127.0.0.1 35 x now;"
is "no packet is no fault" "$(d 'BEGIN { pcap(0, PCAP_IP); pcap(8, PCAP_IP); pcap((void *)0xffff800000000000, pid); pcap(`linux_banner, 0); printf("on"); exit(0); } ERROR { printf("fault"); }' -q -x pcapsize=16 | tail -n 1)$(cat /tmp/kd.err)" "on"
soon "nothing is left" 0 field windows
finish
