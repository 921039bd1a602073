// SPDX-License-Identifier: GPL-2.0-only
#pragma D option quiet
BEGIN { this->p = (char *)alloca(10); this->p[0] = 'h'; this->p[1] = 'i'; this->p[2] = 0; printf("%s\n", stringof(this->p)); }
BEGIN { this->n = (int *)alloca(16); this->n[0] = 1; this->n[1] = 2; this->n[2] = 3; this->n[3] = 4; this->q = this->n + 2; printf("%d %d %d\n", *this->q, this->q - this->n, *(this->q - 1)); }
BEGIN { this->n = (int *)alloca(16); this->n[0] = 1; this->n[1] = 2; this->n[2] = 3; this->n[3] = 4; this->n++; printf("%d ", *this->n); this->n += 2; printf("%d ", *this->n); this->n--; printf("%d ", *this->n); this->n -= 1; printf("%d ", *this->n); this->q = this->n++; printf("%d %d\n", *this->q, *this->n); }
BEGIN { this->n = (int *)alloca(16); this->n[0] = 5; this->n[1] = 6; i = -1; this->q = this->n + 1; printf("%d %d %d %d\n", this->q[i], *(this->q + i), *(this->q + -1), this->q > this->n); }
BEGIN { this->d = alloca(16); bcopy("hello", this->d, 6); printf("%s", stringof(this->d)); tracemem(this->d, 6); printf("\n"); }
BEGIN { this->d = alloca(20); bcopy("hello world", this->d, 12); tracemem(this->d, 20); tracemem(this->d, 20, 5); printf("\n"); }
BEGIN { printf("%x %x %x\n", htons(0x1234), htonl(0x12345678), htonll(0x123456789abcdef0)); }
BEGIN { printf("%x %x %x %d %d\n", ntohs(0x1234), ntohl(0x12345678), ntohll(0x123456789abcdef0), sizeof (htons(1)), sizeof (htonl(1))); }
BEGIN { this->a = (ipaddr_t *)alloca(4); *this->a = htonl(0x7f000001); printf("%s %s\n", inet_ntoa(this->a), inet_ntop(AF_INET, this->a)); }
BEGIN { this->v = (in6_addr_t *)alloca(16); this->b = (uint8_t *)this->v; this->b[0] = 0xfe; this->b[1] = 0x80; this->b[15] = 1; printf("%s %s\n", inet_ntoa6(this->v), inet_ntop(AF_INET6, this->v)); }
BEGIN { printf("%d %d\n", getmajor(0x800001), getminor(0x800001)); exit(0); }
