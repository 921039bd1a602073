// SPDX-License-Identifier: GPL-2.0-only
// arguments: 5 hello "a b" /etc/passwd +7 5000000000
#pragma D option quiet
#pragma D option version=1.6.3
BEGIN { printf("%d %s %s %s\n", $1, $$2, $$3, $$1); printf("[%s][%s] %d %d\n", $3, $4, $5, $6); printf("%d %d %d\n", sizeof ($1), sizeof ($6), sizeof ($pid)); printf("%s\n", basename($$0)); exit(0); }
