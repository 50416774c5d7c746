#!/usr/bin/env bash
# 64 clients of both eras for a minute with approvals, while the policy is reloaded every second; a stop under load loses nothing; sessions leave no memory behind.
. .ci/lib.sh
export TOOLWARRANT_CATALOG_PRESET=everything

seconds=${LOAD_SECONDS-60}
go build -o "$SCRATCH/toolwarrant" ./cmd/toolwarrant
go build -o "$SCRATCH/bench" ./bench
bin=$SCRATCH/toolwarrant home=$SCRATCH/load
port=$(free_port 8282)
url=http://127.0.0.1:$port/mcp
"$bin" policy init "$SCRATCH/policy"
"$bin" serve --home "$home" --addr "127.0.0.1:$port" --policy "$SCRATCH/policy" >"$SCRATCH/serve.log" 2>&1 &
server=$!
trap 'kill -KILL $server ${reloads-} 2>/dev/null || true' EXIT
for _ in $(seq 1200); do
	grep -q "serving MCP at" "$SCRATCH/serve.log" && break
	kill -0 $server 2>/dev/null || { cat "$SCRATCH/serve.log"; fail 'serve did not start'; }
	sleep 0.1
done

say "$seconds s of load, with another policy every second"
# Two policies take turns. Each runs its own tests the first time that the
# server sees it; after that it is known to pass them.
rule=$SCRATCH/policy/rego/limits/limits.rego
cp "$rule" "$SCRATCH/rule"
(
	for n in $(seq 100000); do
		{ cat "$SCRATCH/rule"; printf '# turn %s\n' $((n % 2)); } >"$SCRATCH/rule.new"
		mv "$SCRATCH/rule.new" "$rule"
		kill -HUP $server || exit 0
		sleep 1
	done
) &
reloads=$!
rc=0
"$SCRATCH/bench" soak -url "$url" -clients 64 -seconds "$seconds" -approvals 10 >"$SCRATCH/soak.json" || rc=$?
kill $reloads 2>/dev/null || true
cat "$SCRATCH/soak.json"
[ $rc = 0 ] || { tail -n 20 "$SCRATCH/serve.log"; fail 'a call failed under load'; }
reloaded=$(grep -c 'reloaded' "$SCRATCH/serve.log" || true)
! grep -q 'refused' "$SCRATCH/serve.log" || { grep refused "$SCRATCH/serve.log" | head -5; fail 'a policy was refused'; }
[ "$reloaded" -ge $((seconds / 4)) ] || fail "the policy was reloaded $reloaded times in $seconds s"
ok1=$(json "$SCRATCH/soak.json" input.ok)
asked=$(json "$SCRATCH/soak.json" input.accepted)
shed=$(json "$SCRATCH/soak.json" input.shed)
[ $((asked * 20)) -ge "$ok1" ] || fail "of $ok1 calls only $asked were approved, less than a twentieth"
[ $((shed * 10)) -le "$ok1" ] || fail "$shed messages were shed, more than a tenth of $ok1"
note "$ok1 calls, $(json "$SCRATCH/soak.json" input.accepted) accepted, $(json "$SCRATCH/soak.json" input.shed) shed, $reloaded reloads"

say 'a stop under load'
"$SCRATCH/bench" soak -url "$url" -clients 64 -seconds 120 -approvals 10 -until-gone >"$SCRATCH/drain.json" &
load=$!
sleep 5
kill -TERM $server
rc=0
wait $server || rc=$?
[ $rc = 0 ] || { tail -n 20 "$SCRATCH/serve.log"; fail "serve ended with $rc"; }
wait $load || { cat "$SCRATCH/drain.json"; fail 'a call was lost when the server stopped'; }
cat "$SCRATCH/drain.json"

say 'what was answered is what is on record'
ok2=$(json "$SCRATCH/drain.json" input.ok)
cat "$home"/audit/*.ndjson >"$SCRATCH/log"
closed=$(grep '"phase":"close"' "$SCRATCH/log" | grep -c '"outcome":"OK"')
[ "$closed" = $((ok1 + ok2)) ] || fail "$closed calls ended well by the log, $((ok1 + ok2)) by their clients"
"$bin" audit verify "$home/audit/audit.ndjson" || fail 'the log does not verify'
note "$ok2 calls until the stop, none lost"

say '50,000 sessions'
go_test ./server -run '^TestSessionsLeaveNothing$' -timeout 30m -sessions "${LOAD_SESSIONS-50000}" -v
note "$(grep -o 'heap .*' "$SCRATCH/go-test.log" | tail -n 1)"
