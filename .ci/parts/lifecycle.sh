#!/usr/bin/env bash
# kill -9 a hundred times during test --write, publishers at once, and how long 10,000 tools take to load.
. .ci/lib.sh

go test ./cmd/toolwarrant -run '^(TestKilledWhilePublishing|TestPublishedAtOnce)$' -count=1 -publishkills 100 -timeout 30m -v 2>&1 | tee "$SCRATCH/publish.log"
grep -q '^--- PASS: TestKilledWhilePublishing' "$SCRATCH/publish.log" || fail 'a kill left something else than the old or the new document'
grep -q '^--- PASS: TestPublishedAtOnce' "$SCRATCH/publish.log" || fail 'publishers at once lost something'

go test -c -o "$SCRATCH/catalog.test" ./catalog
TIMEFORMAT='%U %S'
cpu=$({ time (cd catalog && "$SCRATCH/catalog.test" -test.run '^$' -test.bench '^BenchmarkOpen10000$' -test.benchtime 1x >"$SCRATCH/bench.log" 2>&1); } 2>&1 | awk '{printf "%.1f", $1 + $2}')
cat "$SCRATCH/bench.log"
grep -q '^BenchmarkOpen10000' "$SCRATCH/bench.log" || fail 'the benchmark did not run'
awk -v c="$cpu" 'BEGIN { exit !(c < 8) }' || fail "10,000 tools took $cpu s of CPU, writing them included; at most 8"
note "10,000 tools: $cpu s of CPU, writing them included"
