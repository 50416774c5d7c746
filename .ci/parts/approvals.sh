#!/usr/bin/env bash
# A tool that writes runs only after a human accepted exactly that call, once: both eras, out of band, across a restart, a kill and two replicas.
. .ci/lib.sh
export TOOLWARRANT_CATALOG_PRESET=everything

say 'the attack tables'
go_test ./approval/... ./internal/standardhook
go_test ./server -timeout 20m
say '1,000 clients that vanish while they are asked'
go_test ./server -run '^TestVanishingClients$' -vanish 1000
go_test ./cmd/toolwarrant -run '^TestApproval'

command -v curl >/dev/null || skip 'restart and replicas not shown: no curl'
bin=$(build)
export TOOLWARRANT_HOME=$SCRATCH/tw
log=$TOOLWARRANT_HOME/audit/audit.ndjson
files=$TOOLWARRANT_HOME/workspace
pids=()
trap 'for p in "${pids[@]}"; do kill -KILL "$p" 2>/dev/null || true; done' EXIT

# begin starts a server at a port and waits until it is ready.
begin() {
	"$bin" serve --addr "127.0.0.1:$1" >>"$SCRATCH/serve.log" 2>&1 &
	pid=$!
	pids+=("$pid")
	for _ in $(seq 300); do
		if curl -fsS "http://127.0.0.1:$1/healthz" >/dev/null 2>&1; then return; fi
		sleep 0.2
	done
	cat "$SCRATCH/serve.log"
	fail 'serve is not ready'
}

# call makes one call of writeTextFile: port, what the client can do, file
# name, further members. The answer goes to stdout.
call() {
	curl -fsS "http://127.0.0.1:$1/mcp" -H 'Content-Type: application/json' -H 'Accept: application/json, text/event-stream' \
		-H 'Mcp-Protocol-Version: 2026-07-28' -H 'Mcp-Method: tools/call' -H 'Mcp-Name: writeTextFile' \
		-d '{"jsonrpc":"2.0","id":1,"method":"tools/call","params":{"name":"writeTextFile","arguments":{"path":"'"$3"'","content":"x"},"_meta":{"io.modelcontextprotocol/protocolVersion":"2026-07-28","io.modelcontextprotocol/clientCapabilities":'"$2"',"io.modelcontextprotocol/clientInfo":{"name":"ci","version":"1"}}'"${4-}"'}}'
}
mute='{}' asks='{"elicitation":{}}'
member() { sed -n 's/.*"'"$1"'":"\([^"]*\)".*/\1/p'; }
answered() { printf ',"requestState":"%s","inputResponses":{"approval":{"action":"accept","content":{}}}' "$1"; }
runs() { grep -c '"phase":"open".*"name":"writeTextFile"' "$log" || true; }
is() { [ "$1" = "$2" ] || fail "$3: $1, not $2"; }

a=$(free_port 8391)
say 'asked, stopped, started, answered, retried'
begin "$a"
id=$(call "$a" "$mute" oob.txt | member approvalId)
[ -n "$id" ] || fail 'no approval is pending'
state=$(call "$a" "$asks" inband.txt | member requestState)
[ -n "$state" ] || fail 'nobody is asked in band'
killed=$(call "$a" "$asks" killed.txt | member requestState)
kill -TERM "$pid"
wait "$pid" || fail 'the server did not stop in order'
"$bin" approvals approve "$id"
begin "$a"
call "$a" "$mute" oob.txt | grep -q '"ok":true' || fail 'the accepted call does not run after a restart'
call "$a" "$mute" oob.txt | grep -q 'ran a moment ago' || fail 'the outcome is not told again'
call "$a" "$asks" inband.txt "$(answered "$state")" | grep -q '"ok":true' || fail 'the rightful retry does not run after a restart'
call "$a" "$asks" inband.txt "$(answered "$state")" | grep -q '"code":"APPROVAL_DENIED"' || fail 'a replay runs after a restart'
is "$(runs)" 2 'executions'

say 'killed between question and retry'
kill -KILL "$pid"
wait "$pid" || true
begin "$a"
call "$a" "$asks" other.txt "$(answered "$killed")" | grep -q '"reason":"mismatch"' || fail 'the acceptance of another call runs'
call "$a" "$asks" killed.txt "$(answered "$killed")" | grep -q '"ok":true' || fail 'the rightful retry does not run after a kill'
is "$(runs)" 3 'executions'

say 'two replicas on one home'
b=$(free_port 8392)
begin "$b"
id=$(call "$a" "$mute" two.txt | member approvalId)
is "$(call "$b" "$mute" two.txt | member approvalId)" "$id" 'the question of the other replica'
"$bin" approvals approve "$id"
curls=()
for n in $(seq 10); do
	port=$a
	[ $((n % 2)) = 0 ] || port=$b
	call "$port" "$mute" two.txt >"$SCRATCH/two.$n" &
	curls+=($!)
done
for p in "${curls[@]}"; do wait "$p" || fail 'a retry got no answer'; done
is "$(runs)" 4 'executions of ten retries at once on two replicas'
state=$(call "$a" "$asks" cross.txt | member requestState)
call "$b" "$asks" cross.txt "$(answered "$state")" | grep -q '"ok":true' || fail 'asked on one replica, the retry does not run on the other'
call "$a" "$asks" cross.txt "$(answered "$state")" | grep -q '"code":"APPROVAL_DENIED"' || fail 'a replay runs on the first replica'
is "$(runs)" 5 'executions'
for f in oob inband killed two cross; do [ -f "$files/$f.txt" ] || fail "$f.txt was not written"; done
[ ! -f "$files/other.txt" ] || fail 'other.txt was written'
for p in "${pids[@]}"; do kill -TERM "$p" 2>/dev/null || true; done
for p in "${pids[@]}"; do wait "$p" 2>/dev/null || true; done
"$bin" audit verify "$log"
note "$(runs) executions of 5 accepted calls, restart, kill and 2 replicas"
