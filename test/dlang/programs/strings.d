// SPDX-License-Identifier: GPL-2.0-only
#pragma D option quiet
string s;
BEGIN { printf("%d %d %d %d %d %d\n", "abc" == "abc", "abc" != "abd", "abc" < "abd", "b" > "abc", "" == "", "abc" <= "abc"); }
BEGIN { s = "CRAZY"; printf("[%s][%s][%s][%s][%s][%s][%s]\n", substr(s, 2), substr(s, -2), substr(s, 1, 2), substr(s, 1, -1), substr(s, -3, 2), substr(s, 5), substr(s, 6)); }
BEGIN { printf("[%s][%s][%s][%s]\n", substr(s, -10), substr(s, -10, 7), substr(s, 0, 0), substr(s, 2, -10)); }
BEGIN { s = "Bollocks to the Bollocks"; printf("%d %d %d %d %d\n", index(s, "Bo"), index(s, "Bo", 1), index(s, "xx"), index(s, "", 5), index(s, "", 500)); }
BEGIN { printf("%d %d %d %d %d %d %d\n", rindex(s, "Bo"), rindex(s, "Bo", 15), rindex(s, "xx"), rindex(s, ""), rindex(s, "", 500), index(s, "Bo", -5), rindex(s, "Bo", -1)); }
BEGIN { s = "foobarbar"; printf("[%s][%s][%s][%s]\n", strchr(s, 'b'), strrchr(s, 'b'), strstr(s, "bar"), strstr(s, "")); }
BEGIN { printf("%d %d %d\n", strchr(s, 'z') == NULL, strstr(s, "zz") == NULL, strrchr(s, 'z') == NULL); }
BEGIN { s = "The,quick;;brown fox"; printf("[%s]", strtok(s, ",; ")); printf("[%s]", strtok(NULL, ",; ")); printf("[%s]", strtok(NULL, ",")); printf("[%d]\n", strtok(NULL, ",; ") == NULL); }
BEGIN { printf("%d %d %d %d %d %d\n", strtoll("123"), strtoll("-12"), strtoll("0x1f", 16), strtoll("777", 8), strtoll("  42abc"), strtoll("zz", 36)); }
BEGIN { printf("%s %s %s %s %s\n", lltostr(0), lltostr(-5), lltostr(255, 16), lltostr(255, 8), lltostr(5, 2)); }
BEGIN { printf("[%s][%s][%s][%s][%s][%s]\n", basename("/foo/bar/baz"), basename("/foo/bar///"), basename("/"), basename(""), basename("foo"), basename("//")); }
BEGIN { printf("[%s][%s][%s][%s][%s][%s]\n", dirname("/foo/bar/baz"), dirname("/foo/bar///"), dirname("/"), dirname(""), dirname("foo"), dirname("//a")); }
BEGIN { printf("[%s][%s][%s][%s][%s]\n", cleanpath("/foo/../bar"), cleanpath("/foo/./bar"), cleanpath("//a//b"), cleanpath("/.."), cleanpath("/foo/bar/..")); }
BEGIN { printf("[%s][%s][%s][%s][%s][%s][%s]\n", cleanpath("./"), cleanpath("a/.."), cleanpath(""), cleanpath("a/../.."), cleanpath("../../a/.."), cleanpath("a/b/../../c"), cleanpath("a/.")); }
BEGIN { printf("%d %d [%s] [%s] [%s] [%s]\n", strlen(""), strlen("hello"), strjoin("", ""), strjoin("a", "b"), toupper("aBc1"), tolower("ABc1Z")); }
BEGIN { printf("%s %d %d\n", stringof("abc"), strlen(stringof(curthread->comm)) > 0, curthread->comm == execname); exit(0); }
