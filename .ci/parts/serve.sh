#!/usr/bin/env bash
# One command serves; clients of both eras list and call; each call is recorded once; any altered byte is found.
. .ci/lib.sh
export TOOLWARRANT_CATALOG_PRESET=everything

# The fixed fields of a close record, in their order.
fields='"time","schema","seq","prev","phase","writer","callId","relatedCallId","traceId","origin","principal","tool","policy","decision","toolSafety","effectivePolicy","riskLevel","riskSignals","reasons","humanInTheLoop","params","paramsDigest","outcome","error","durationMs","usage","result","isolation","testMode","shadow","sandbox","sum"'

say 'the Go client at each protocol version'
go_test ./cmd/toolwarrant -run '^TestServeBothEras$'

say 'go run ./cmd/toolwarrant serve, with an empty HOME'
port=$(free_port 8282)
flags=()
[ "$port" = 8282 ] || flags=(--addr "127.0.0.1:$port")
url="http://127.0.0.1:$port/mcp"
export HOME=$SCRATCH/empty
mkdir "$HOME"
set -m # a group of its own, so that the signal reaches what go run starts
go run ./cmd/toolwarrant serve "${flags[@]}" >"$SCRATCH/serve.log" 2>&1 &
server=$!
set +m
trap 'kill -KILL -- -$server 2>/dev/null || true' EXIT
ready=no
for _ in $(seq 1200); do
	if grep -q "serving MCP at $url" "$SCRATCH/serve.log"; then
		ready=yes
		break
	fi
	kill -0 "$server" 2>/dev/null || break
	sleep 0.5
done
cat "$SCRATCH/serve.log"
[ $ready = yes ] || fail 'serve is not ready'
log=$HOME/.local/share/toolwarrant/audit/audit.ndjson
[ "$(uname)" != Darwin ] || log="$HOME/Library/Application Support/toolwarrant/audit/audit.ndjson"

# closes counts the close records of a tool with an outcome.
closes() {
	lines_as_json "$log" >"$SCRATCH/log.json"
	json "$SCRATCH/log.json" "count([r | some r in input; r.phase == \"close\"; r.tool.name == \"$1\"; r.outcome == \"$2\"])"
}

if node_20; then
	cp -r server/testdata/clients "$SCRATCH/clients"
	(cd "$SCRATCH/clients" && rm -rf node_modules && npm ci --no-audit --no-fund --ignore-scripts --loglevel=error)
	n=0
	for era in legacy modern; do
		say "the npm client: $era"
		node "$SCRATCH/clients/$era.mjs" "$url" --ask writeTextFile \
			--ask-args "{\"path\":\"$era.txt\",\"content\":\"hello\"}" || fail "the $era npm client"
		n=$((n + 1))
		[ "$(closes base64 OK)" = "$n" ] || fail "$(closes base64 OK) close records of $n calls of base64"
		[ "$(closes writeTextFile OK)" = "$n" ] || fail "$(closes writeTextFile OK) close records of $n accepted calls"
		[ "$(closes writeTextFile DENIED)" = "$((2 * n))" ] || fail "$(closes writeTextFile DENIED) close records of $((2 * n)) refused calls"
	done
else
	note 'npm clients not run: no node 20'
	# The log still needs a call to be looked at.
	go run ./cmd/toolwarrant run base64 --args '{"text":"hello world"}'
fi

kill -TERM -- "-$server"
wait "$server" || true
trap - EXIT

say 'the log'
lines_as_json "$log" >"$SCRATCH/log.json"
holds "$SCRATCH/log.json" "every r in [r | some r in input; r.phase == \"close\"] { object.keys(r) == {$fields} }" ||
	fail 'a close record has other fields than the fixed ones'
holds "$SCRATCH/log.json" 'count([r | some r in input; r.phase == "close"]) == count({r.callId | some r in input; r.phase == "close"})' ||
	fail 'a call was closed twice'
holds "$SCRATCH/log.json" 'count({r.callId | some r in input; r.phase in {"ask", "open"}} - {r.callId | some r in input; r.phase == "close"}) == 0' ||
	fail 'a call was not closed'
[ "$(stat -c %a "$log" 2>/dev/null || stat -f %Lp "$log")" = 600 ] || fail 'the log can be read by others'
bin=$(build)
"$bin" audit verify "$log" || fail 'audit verify of a whole log'

say 'altered bytes'
size=$(wc -c <"$log")
last=$(wc -l <"$log")
start=$((size - $(tail -n 1 "$log" | wc -c)))
altered=$SCRATCH/altered.ndjson
flips=0
for at in 0 1 $((size / 3)) $((size / 2)) $((start - 1)) "$start" $((start + 1)) $(((start + size) / 2)) $((size - 70)) $((size - 3)) $((size - 2)) $((size - 1)) $(shuf -i "0-$((size - 1))" -n 12); do
	line=$(($(head -c "$at" "$log" | wc -l) + 1))
	for mask in 1 128; do
		cp "$log" "$altered"
		byte=$(od -An -tu1 -j "$at" -N 1 "$log")
		printf "\\$(printf %03o $((byte ^ mask)))" | dd of="$altered" bs=1 seek="$at" conv=notrunc status=none
		rc=$(status "$SCRATCH/verify.json" "$bin" audit verify "$altered" --format json)
		[ "$rc" = 1 ] || fail "byte $at of $size altered: exit $rc"
		holds "$SCRATCH/verify.json" "input.ok == false" || fail "byte $at altered: ok"
		holds "$SCRATCH/verify.json" "$line in {f.line | some f in input.findings}" || {
			cat "$SCRATCH/verify.json"
			fail "byte $at altered: line $line of $last is not named"
		}
		flips=$((flips + 1))
	done
done
note "$flips altered bytes found in $last records"
