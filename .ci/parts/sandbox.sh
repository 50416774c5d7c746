#!/usr/bin/env bash
# Sandboxes: 231 ways out beside bubblewrap and runc, as root and as nobody; executions with kills; what they cost.
. .ci/lib.sh

[ "$(uname -s)" = Linux ] || skip 'sandboxes of this kind are for Linux'
if [ "$(id -u)" = 0 ] && command -v apt-get >/dev/null; then
	for tool in runc bubblewrap:bwrap busybox-static:busybox python3-minimal:/usr/bin/python3; do
		command -v "${tool#*:}" >/dev/null || { apt-get update -qq && apt-get install -y -qq --no-install-recommends "${tool%:*}"; } >/dev/null 2>&1 || true
	done
fi
command -v bwrap >/dev/null || note 'without bubblewrap: no comparison'
command -v runc >/dev/null || note 'without runc: no comparison'
chmod 755 "$SCRATCH" "$SCRATCH/tmp"

say 'the ways out, for each back end that works, as root and as nobody'
mkdir "$SCRATCH/matrix"
go test -count=1 -timeout 15m ./executor/sandbox/escape -run '^TestMatrix$' -v -matrix "$SCRATCH/matrix" >"$SCRATCH/matrix.txt" 2>&1 || {
	grep -v '^=== ' "$SCRATCH/matrix.txt" | tail -n 60
	fail 'an attempt went through that nothing was said of'
}
grep -E 'held,|does not work here|is open, as said|in some column' "$SCRATCH/matrix.txt"
cat "$SCRATCH/matrix/matrix.md"
grep -q 'process (root): ' "$SCRATCH/matrix.txt" || [ "$(id -u)" != 0 ] || fail 'the process back end did not run'
grep -q 'process (nobody): ' "$SCRATCH/matrix.txt" || fail 'the process back end did not run as nobody'
while read -r line; do note "$line"; done < <(sed -n 's/.*_test.go:[0-9]*: \(.*: [0-9]* held, [0-9]* open\),.*/\1/p' "$SCRATCH/matrix.txt")

say 'what only the host sees: leaks across Reset, neighbours, evaded time, swapped mounts, output, the death of the parent'
go test -count=1 -timeout 10m ./executor/sandbox/escape -skip '^TestMatrix$' -v -matrix "$SCRATCH/matrix" >"$SCRATCH/host.txt" 2>&1 || {
	grep -v '^=== ' "$SCRATCH/host.txt" | tail -n 60
	fail 'a sandbox leaves or shows what it must not'
}
grep -E '^(--- |    --- )' "$SCRATCH/host.txt"
for name in TestAsNobody TestParentIsKilled TestNothingIsLeftByReset TestTimeCannotBeEvaded TestMountSourceIsSwapped; do
	grep -q "^--- PASS: $name" "$SCRATCH/host.txt" || fail "$name did not run"
done

say '10,000 executions over a pool whose sandboxes are killed at random'
go test -count=1 -timeout 15m ./executor/sandbox/process -run '^TestPool$' -v -executions 10000 2>&1 | tee "$SCRATCH/pool.txt"
grep -q '^--- PASS: TestPool' "$SCRATCH/pool.txt" || fail 'executions leave something, or see each other'
note '10,000 executions in a pool with kills'

say 'the detector of races, for what the gate leaves out of it'
go_test -race -short -timeout 15m ./executor/sandbox/wasm ./executor/sandbox/container ./executor/sandbox/image ./executor/sandbox/microvm >"$SCRATCH/races.txt" || {
	tail -n 60 "$SCRATCH/races.txt"
	fail 'a race in a back end'
}

say 'the allow-list: what gets through, and the ways around it'
go_test -timeout 10m ./executor/sandbox/allow ./executor/sandbox/netns -v >"$SCRATCH/allow.txt" || {
	grep -v '^=== ' "$SCRATCH/allow.txt" | tail -n 60
	fail 'the allow-list'
}
note "$(grep -c -- '--- PASS: TestWaysAround/' "$SCRATCH/allow.txt") ways around the allow-list"

say 'what they cost, beside a plain process, bubblewrap and runc'
backends=process
[ "$(id -u)" != 0 ] || ! command -v runc >/dev/null || backends=process,container
# The parent's death is held to its second here, where nothing else runs.
go test -count=1 -timeout 15m ./executor/sandbox/escape -run '^(TestCosts|TestManyLive|TestParentIsKilled)$' -v -ratios -backends "$backends" 2>&1 | tee "$SCRATCH/costs.txt"
for name in TestCosts TestManyLive TestParentIsKilled; do
	grep -q "^--- PASS: $name" "$SCRATCH/costs.txt" || fail 'a sandbox costs more than it may, or leaves something for longer than a second'
done
while read -r line; do note "$line"; done < <(sed -n 's/.*_test.go:[0-9]*: \(.*MiB each\);.*/\1/p; s/.*_test.go:[0-9]*: \(.*\) *p50 *\([0-9.]* ms\), least.*/\1 \2/p' "$SCRATCH/costs.txt" | tr -s ' ')
