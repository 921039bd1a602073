// SPDX-License-Identifier: GPL-2.0-only
#pragma D option quiet
string s;
BEGIN { s = "{\"foo\": 5, \"a\": [1, \"x\", {\"b\": true}, [-1.5e3, null]], \"long name\" : \"text\"}"; }
BEGIN { printf("[%s][%s][%s][%s]\n", json(s, "foo"), json(s, "a[0]"), json(s, "a[1]"), json(s, "a[2].b")); }
BEGIN { printf("[%s][%s][%s]\n", json(s, "a[3][0]"), json(s, "a[3][1]"), json(s, "long name")); }
BEGIN { printf("%d %d %d %d %d\n", json(s, "bar") == NULL, json(s, "a") == NULL, json(s, "a[4]") == NULL, json(s, "foo.x") == NULL, json(s, "a[x]") == NULL); }
BEGIN { printf("%d [%s] [%s]\n", strtoll(json(s, "foo")) + 1, json("[10,20, 30 ]", "[2]"), json("{\"q\":\"a\\\"b\\\\\"}", "q")); }
BEGIN { printf("[%s][%s][%s][%s][%s]\n", json("", "a"), json("{", "a"), json("{\"a\"", "a"), json("{\"a\":\"b", "a"), json("\"", "")); }
BEGIN { printf("[%s][%s][%s]\n", json("{\"a\": {\"a\": {\"a\": 7}}}", "a.a.a"), json("{\"x\":[[],{}],\"y\":1}", "y"), json("[[[]],[[5]]]", "[1][0][0]")); exit(0); }
