#!/bin/bash
# SPDX-License-Identifier: GPL-2.0-only
# usage: test/kerninstd.sh [KERNINSTD]
# kerninstd without a kernel, on a recording: who may, what it answers, its streams, slow readers,
# half-open connections, a full disk, how it starts and ends.
# promise of daemon: P18: Scripts choose metrics and resources by name or address and get CSV or
#   JSON.
# promise of kerninstd-sanitized: K2: Only clients with the token, from allowed hosts and
#   origins, reach kerninstd.
# shellcheck disable=SC2317,SC2154 # functions are called through check; stream sets id_* and pid_*
set -u
cd "$(dirname "$0")/.." || exit 1
kd=${1:-build/release/bin/kerninstd}
# shellcheck source=test/lib.sh
. test/lib.sh
# shellcheck source=test/kerninstd_lib.sh
. test/kerninstd_lib.sh
export LC_ALL=C
work=$tmp
trap 'kill -9 $(jobs -p) 2> /dev/null; rm -rf "$tmp"' EXIT

same() { # NAME GOT WANTED
	check "$1" is "$2" "$3"
}

# shellcheck source=test/recording.sh
. test/recording.sh
make_recording 20 "$tmp/session"
# One that does not end behind its samples: who has had them is still there.
{ cat "$tmp/session"; echo '{"t": 100000, "event": "modules", "data": {"came": [], "gone": []}}'; } > "$tmp/open"

# ---- options ----
fails() { # STATUS PATTERN ARGUMENT...
	local want=$1 pattern=$2 said got
	shift 2
	said=$(timeout 120 "$kd" "$@" 2>&1 > "$tmp/out")
	got=$?
	is "$got" "$want" && grep -E "^kerninstd: .*($pattern)" <<< "$said" && return
	echo "$said"
	return 1
}
check "an unknown option" fails 2 "unknown" --bogus
check "an argument" fails 2 "only options" x
for n in 0 100 -1 x ''; do check "priority '$n'" fails 2 "1 to 99" --priority "$n"; done
without() { setpriv --bounding-set -sys_nice "$kd" --port 0 --socket none --replay "$tmp/session" --priority 5 2>&1 || echo $?; }
if [ "$(id -u)" = 0 ]; then
	same "one that may not be had" "$(without | grep -c 'CAP_SYS_NICE\|^3$')" 2
fi
check "a bad address" fails 2 "an address and a port" --listen localhost --replay "$tmp/session"
check "a bad port" fails 2 "0 to 65535" --port 70000
check "a bad interval" fails 2 "100 to 60000" -i 1
check "a bad speed" fails 2 "above 0" --speed 0
check "an export of half a thing" fails 2 "no POINT" --export calls
check "no file" fails 1 "No such file" --replay "$tmp/none"
check "no recording" fails 1 "line 1: .*no recording" --replay <(echo '{}')
check "an empty file" fails 1 "empty" --replay /dev/null
sed '5s/.*/{"t":1}/' "$tmp/session" > "$tmp/broken"
check "a broken recording: which line" fails 1 "line 5" --replay "$tmp/broken"
check "no driver here" fails 3 "kerninst" --port 0 --socket none
help() { "$kd" --help | grep -q "^Usage: kerninstd" && "$kd" --version | grep -q "^kerninstd [0-9]"; }
check "help and version" help
(umask 077 && head -c 32 /dev/zero > "$tmp/no_token")
check "what is no token" fails 1 "32 hexadecimal" --token-file "$tmp/no_token" --replay "$tmp/session"

# ---- who may use the local socket: the group alone, which is in a list of groups that only this daemon sees ----
asks() { setpriv --reuid 65534 --regid "$1" --groups "$2" curl -sS -m 120 -o /dev/null -w '%{http_code}' --unix-socket "$tmp/sock" http://localhost/api/info 2> /dev/null; }
printf '%s\n' '#!/bin/sh' "exec unshare -m sh -c 'mount --bind $tmp/group /etc/group && exec \"\$@\"' sh $(realpath "$kd") \"\$@\"" > "$tmp/grouped"
{ cat /etc/group; echo kerninst:x:4242:; } > "$tmp/group"
chmod +x "$tmp/grouped"
chmod o+x "$tmp"
if [ "$(id -u)" = 0 ] && unshare -m true 2> /dev/null && ! getent group kerninst 4242 > /dev/null; then
	kd=$tmp/grouped daemon_start --socket "$tmp/sock" --replay "$tmp/open"
	same "the socket is of group kerninst" "$(stat -c '%g %a' "$tmp/sock")" "4242 660"
	same "who is in that group needs no token" "$(asks 4242 4242) $(asks 65534 65534,4242)" "200 200"
	same "a stranger is refused" "$(asks 65534 65534)" 000
	daemon_stop
else
	echo "# who is in group kerninst was not tried: that takes root, and none of that name"
fi

# ---- who may ----
daemon_start --socket "$tmp/sock" --replay "$tmp/session" --speed 10
bearer="Authorization: Bearer $token"
host=${url#http://}
check "the token has 128 bits" test ${#token} = 32
same "the page needs no token" "$(status "$url/")" 200
for path in /app.js /worker.js /app.css /favicon.svg /LICENSES; do
	same "$path is what web/dist has" "$(curl -s "$url$path" | sha1sum)" "$(sha1sum < web/dist$path)"
done
tag=$(curl -sI "$url/app.js" | sed -n 's/^ETag: \(.*\)\r/\1/p')
same "what has not changed is not sent again" "$(status -H "If-None-Match: $tag" "$url/app.js")" 304
same "no token" "$(status "$url/api/info")" 401
same "another token" "$(status -H "Authorization: Bearer ${token//[0-7]/8}" "$url/api/info")" 401
same "a part of the token" "$(status -H "Authorization: Bearer ${token:1}" "$url/api/info")" 401
same "the token" "$(status -H "$bearer" "$url/api/info")" 200
same "the token in the address is for streams" "$(status "$url/api/info?token=$token")" 401
same "localhost" "$(status -H "$bearer" -H "Host: localhost:${url##*:}" "$url/api/info")" 200
for h in evil.example "evil.example:${url##*:}" "127.0.0.1:1" "127.0.0.1.evil.example:${url##*:}" "[::1]:${url##*:}" "127.0.0.1:${url##*:}x"; do
	same "Host: $h" "$(status -H "$bearer" -H "Host: $h" "$url/api/info")" 421
	same "and of the page" "$(status -H "Host: $h" "$url/")" 421
done
same "our Origin" "$(status -H "$bearer" -H "Origin: http://$host" "$url/api/info")" 200
for o in null http://evil.example "http://${host}1" "https://$host" "http://localhost:${url##*:}"; do
	same "Origin: $o" "$(status -H "$bearer" -H "Origin: $o" "$url/api/info")" 403
done
same "another page may not ask by preflight" "$(status -X OPTIONS -H "Origin: http://evil.example" "$url/api/curves")" 403
headers=$(curl -sI "$url/")
has() { grep -qi "^$1" <<< "$headers" || { echo "$headers"; false; }; }
check "a policy for the page's contents" has "Content-Security-Policy: default-src 'none'; script-src 'self'; style-src 'self'; img-src 'self' data:; connect-src 'self'; worker-src 'self'; base-uri 'none'; form-action 'none'; frame-ancestors 'none'"
check "types are not guessed" has "X-Content-Type-Options: nosniff"
check "no referrer" has "Referrer-Policy: no-referrer"
check "nobody may read it from elsewhere" test -z "$(grep -i '^access-control' <<< "$headers")"
check "answers are not kept" grep -qi '^Cache-Control: no-store' <(curl -sI -X GET -H "$bearer" "$url/api/info")
same "the socket is for user and group" "$(stat -c %a "$tmp/sock")" 660
same "the socket needs no token" "$(status --unix-socket "$tmp/sock" http://localhost/api/info)" 200
check "a second daemon does not take the socket" fails 1 "in use" --port 0 --socket "$tmp/sock" --replay "$tmp/session"

# ---- what it answers ----
same "info" "$(get /api/info | jq -c '[.kernel, .cpus, .read_only, .replay]')" '["6.1-test",[0,1],false,"session"]'
same "metrics" "$(get /api/metrics | jq -c '[.[].name]')" '["calls","latency"]'
same "functions that are named" "$(get /api/functions | jq -c '[.modules[] | {(.name): .names}] | add')" '{"":["vfs_read"],"fuse":["fuse_read"]}'
same "packed for who can unpack" "$(get /api/functions -H 'Accept-Encoding: gzip' | gzip -dc | sha1sum)" "$(get /api/functions | sha1sum)"
same "a function" "$(get '/api/function?name=vfs_read' | jq -r .addr)" 0xffffffff81234560
for path in /api /api/ /api/none /../etc/passwd /app.js/; do
	same "no such path: $path" "$(status --path-as-is -H "$bearer" "$url$path")" 404
done
same "not by this method" "$(status -X DELETE -H "$bearer" "$url/api/info") $(status -H "$bearer" "$url/api/curves") $(status -d x -H "$bearer" "$url/api/info")" "405 405 405"
for body in '' x '[]' '{' '{"client":1}' '{"client":"none","curves":[]}'; do
	case $(status -H "$bearer" -d "$body" "$url/api/curves") in 40[04]) r=refused ;; *) r= ;; esac
	same "a body of '$body'" "$r" refused
done
head -c 5000000 /dev/zero > "$tmp/large"
same "a body that is too large" "$(status -H "$bearer" --data-binary "@$tmp/large" "$url/api/curves")" 413

# ---- streams ----
sum7() { total "$1" 7; }
stream a
same "a client has a number" "$(grep -cE '^[0-9a-f]{16}$' <<< "$id_a")" 1
wait_for 120 ended a
same "a stream plays to the end" "$(data bye a | jq -r .why)" "end of the recording"
same "with what has become of the machine" "$(data modules a)" '{"came":["fuse"],"gone":[]}'
same "with all that was in it" "$(sum7 a) $(total a 8) $(total a 9)" "200 80 40"
same "and its curves" "$(data curves a | jq -c '[.curves[].id]')" "[7,8,9]"
same "/metrics has the same" "$(get /metrics | sed -n 's/^kerninst_calls_total{.*predicate=""} //p')" 200
same "in OpenMetrics" "$(get /metrics -H 'Accept: application/openmetrics-text' | sed -n 's/^# TYPE //p' | xargs) $(get /metrics -H 'Accept: application/openmetrics-text' | tail -n 1)" \
	"kerninst_calls counter kerninst_latency_seconds histogram # EOF"
same "a label's quotes are kept" "$(get /metrics | grep -c 'predicate="pid == 1"')" 6
daemon_stop
daemon_start --socket "$tmp/sock" --replay "$tmp/open" --speed 0.4
bearer="Authorization: Bearer $token"
stream b
same "nothing is inserted at first" "$(get "/api/inserted?client=$id_b" | jq -c '.rows')" '[]'
curves "$id_b" "calls vfs_read" "calls vfs_read each" "calls vfs_write"
same "curves that were recorded, and one that was not" "$(answered '[.curves[] | .id // .refused.reason] | @csv')" '7,8,"NOT_RECORDED"'
post /api/curves/remove "{\"client\":\"$id_b\",\"ids\":[7,99]}" > /dev/null
rest=$(had b)
wait_for 120 came b 20
echo "# removed before sample $((rest + 1)) of 20"
check "a curve that is removed is in no sample from then on" test "$(sum7 b)" -le $((rest * 10))
same "the others are" "$(total b 8)" 80
same "they are listed by client" "$(get "/api/inserted?client=$id_b" | jq -c '[.rows[.mine[]].metric]')" '["calls"]'
get "/api/recording?client=$id_b&functions=1" > "$tmp/saved"
same "a recording has what the client has seen" "$(jq -s '[.[] | select(.event == "sample").data.values["8"]] | add' "$tmp/saved")" 80
same "and no half line" "$(jq -c . "$tmp/saved" | wc -l)" "$(wc -l < "$tmp/saved")"
same "a D program has no kernel here" "$(post /api/d "{\"client\":\"$id_b\",\"program\":\"BEGIN { }\"}" | jq -r .error.reason)" REPLAY
same "and none is stopped" "$(post /api/d/stop "{\"client\":\"$id_b\"}")" "{}"
same "who is not there has no D program" "$(status -H "$bearer" -d '{"client":"none","program":""}' "$url/api/d") $(status -H "$bearer" -d '{}' "$url/api/d/stop")" "404 404"
same "who is not there has none" "$(status -H "$bearer" "$url/api/recording?client=none")" 404

# ---- not more than that ----
# All of them are there at once, and stay for as long as it takes to look.
many() {
	python3 - "${url#http://}" "/api/events?token=$token" <<'P'
import http.client, sys
there, codes = [], []
for _ in range(70):
    there.append(http.client.HTTPConnection(sys.argv[1], timeout=120))
    there[-1].request("GET", sys.argv[2])
    codes.append(there[-1].getresponse().status)
print(codes.count(200), codes.count(429))
P
}
kill "$pid_b"
gone() { [ "$(status -H "$bearer" "$url/api/recording?client=$1")" = 404 ]; }
wait_for 120 gone "$id_b"
same "64 clients, and no more" "$(many)" "64 6"
same "and it still answers" "$(status -H "$bearer" "$url/api/info")" 200

# ---- the end ----
seated() { [ "$(curl -sN -m 5 -o /dev/null -w '%{http_code}' "$url/api/events?token=$token")" = 200 ]; }
wait_for 120 seated # those have gone
stream c
daemon_stop
same "it ends when it is told to" $? 0
wait "$pid_c"
check "and says so" grep -q '"why":"' "$tmp/c"
same "the socket is gone" "$(find "$tmp" -name sock)" ""

# ---- a token of one's own, read-only, no half lines of who died ----
head -c -20 "$tmp/session" > "$tmp/cut"
daemon_start --socket none --token-file "$tmp/token" --read-only --replay "$tmp/cut"
url=$(sed -n 's|/  (token: .*||p' "$tmp/where")
token=$(cat "$tmp/token")
bearer="Authorization: Bearer $token"
same "the token of the file" "$(status -H "$bearer" "$url/api/info") $(stat -c %a "$tmp/token")" "200 600"
same "read-only" "$(status -H "$bearer" -d '{}' "$url/api/clear") $(status -H "$bearer" -d '{}' "$url/api/d") $(get /api/info | jq .read_only)" "403 403 true"
check "the token is not printed" test -z "$(grep -c "$token" "$tmp/where" | grep -v '^0')"
daemon_stop
same "it ends" $? 0

# ---- a token that others know, or may choose, is none ----
for mode in 644 604 620 602; do
	chmod $mode "$tmp/token"
	check "a token file of mode $mode" fails 1 "token: others may read or change it" --port 0 --socket none --token-file "$tmp/token" --replay "$tmp/session"
done
: > "$tmp/empty"
chmod 600 "$tmp/empty"
check "an empty token" fails 1 "that is no token" --listen 0.0.0.0:0 --socket none --token-file "$tmp/empty" --replay "$tmp/session"
chmod 640 "$tmp/token"
daemon_start --listen 0.0.0.0:0 --socket none --token-file "$tmp/token" --replay "$tmp/session"
url=$(sed -n 's|/  (token: .*||p; ' "$tmp/where")
url=http://127.0.0.1:${url##*:}
same "to all the network: refused without a token" "$(status "$url/api/info") $(status -H "Authorization: Bearer " "$url/api/info") $(status "$url/api/events")" "401 401 401"
same "a group may read it" "$(status -H "$bearer" "$url/api/info")" 200
same "who is refused gets one line, which names no token" "$(curl -sS "$url/api/info" | tee "$tmp/refused" | grep -c '^{"error":{"reason":') $(wc -l < "$tmp/refused") $(grep -c "$(cat "$tmp/token")" "$tmp/refused")" "1 0 0"
check "who starts it is told that others see the token" grep -q "is not this machine alone" "$tmp/complaints"
daemon_stop

# ---- everything out ----
daemon_start --socket none --speed 0.1 --replay "$tmp/open"
stream e
curves "$id_e" "calls vfs_read" "latency fuse:fuse_read all pid == 1"
post /api/clear "{\"client\":\"$id_e\"}" > /dev/null
cleared() { [ "$(data curve e | wc -l)" = 2 ]; }
wait_for 120 cleared
same "who had what is taken out is told of each curve" "$(data curve e | jq -c '[.id, .refused.reason]' | xargs)" "[7,CLEARED] [9,CLEARED]"
daemon_stop

# ---- scripts (examples/kperfmon.py) ----
sed -i 's/"point":"vfs_read"/"point":"vfs_read@0xffffffff81234560"/g' "$tmp/session"
daemon_start --socket "$tmp/sock2" --replay "$tmp/session"
cat > "$tmp/select" <<'S'
metric select calls latency # two
metric unselect latency
resource select vfs_write 0xffffffff81234560
resource unselect vfs_write
S
cat > "$tmp/script" <<S
source $tmp/select
metric list
resource list
visi new a
visi add a
cpu 1
visi new b
visi add b
wait 30
export a csv $tmp/a.csv
export b json $tmp/b.json
visi close b
metric clear
metric list
S
scripted() { python3 examples/kperfmon.py "$@" > "$tmp/scripted" 2>&1; }
check "a script" scripted --socket "$tmp/sock2" "$tmp/script"
same "what it has selected, by name and by address" "$(xargs < "$tmp/scripted")" "calls vfs_read@0xffffffff81234560"
same "what it exports, as CSV" "$(head -n 1 "$tmp/a.csv" | tr -d '\r') $(awk -F, 'NR > 1 { n += $3 } END { print n }' "$tmp/a.csv")" "from,to,calls vfs_read@0xffffffff81234560 200"
same "and as JSON" "$(jq -c '[.curves[0].cpu, ([.samples[].values["8"]] | add)]' "$tmp/b.json")" "[1,80]"
echo "bogus command" > "$tmp/script"
bad() { ! scripted --url "$url/?token=$token" "$tmp/script" && grep -q "script:1: not understood: bogus command" "$tmp/scripted"; }
check "what it does not understand, with the line" bad
printf 'metric select calls\nresource select none\nvisi new a\nvisi add a\n' > "$tmp/script"
bad() { ! scripted --url "$url/?token=$token" "$tmp/script" && grep -q "calls none: .*NOT_RECORDED" "$tmp/scripted"; }
check "what is refused, and a status that says so" bad
daemon_stop

# ---- sd_notify ----
python3 - "$kd" "$tmp" <<'P' > "$tmp/notified"
import os, socket, subprocess, sys, signal
s = socket.socket(socket.AF_UNIX, socket.SOCK_DGRAM)
s.bind(sys.argv[2] + "/notify")
s.settimeout(120)
p = subprocess.Popen([sys.argv[1], "--port", "0", "--socket", "none", "--replay", sys.argv[2] + "/session"],
                     env=dict(os.environ, NOTIFY_SOCKET=sys.argv[2] + "/notify"), stdout=subprocess.DEVNULL)
print(s.recv(100).decode())
p.send_signal(signal.SIGTERM)
print(s.recv(100).decode())
print(p.wait())
P
same "the service manager is told" "$(xargs < "$tmp/notified")" "READY=1 STOPPING=1 0"
finish
