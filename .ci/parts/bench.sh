#!/usr/bin/env bash
# One governed call against a bare one, and the parts of it; figures are printed, none is asserted.
. .ci/lib.sh
export TOOLWARRANT_CATALOG_PRESET=everything

go run ./bench -clients 64 -seconds 3 -rounds 3 2>&1 | tee "$SCRATCH/bench.txt"
grep -q 'governed over echo' "$SCRATCH/bench.txt" || fail 'no ratio'
go test -run '^$' -bench . -benchtime 200ms -benchmem ./resolver ./executor/js ./audit
while read -r line; do note "$line"; done < <(grep 'governed over echo' "$SCRATCH/bench.txt")

say 'what a decision and a list cost, and how it grows'
go test -count=1 -timeout 30m ./resolver -run 'TestRatios|TestNaiveRatio|TestHeapIsFlat' -v -ratios 2>&1 | tee "$SCRATCH/growth.txt"
go test -count=1 -timeout 30m ./server -run 'TestListRatio' -v -ratios 2>&1 | tee -a "$SCRATCH/growth.txt"
while read -r line; do note "$line"; done < <(grep -o 'ratio .*\|first list .*' "$SCRATCH/growth.txt")
! grep -q '^--- FAIL\|^FAIL' "$SCRATCH/growth.txt" || fail 'a decision or a list costs more than it may'
for name in TestRatios TestNaiveRatio TestHeapIsFlat TestListRatio; do
	grep -q "^--- PASS: $name" "$SCRATCH/growth.txt" || fail "$name did not run"
done

say 'linting 100, 1,000 and 5,000 documents'
go test -run '^$' -bench '^BenchmarkLint' -benchtime 1x ./cmd/toolwarrant | tee "$SCRATCH/lint.txt"
grep -q '^BenchmarkLint' "$SCRATCH/lint.txt" || fail 'no figure of lint'

say 'the audit log'
go run ./bench audit -writers 64 -seconds 2 -rounds 5 -dir "$SCRATCH" | tee "$SCRATCH/audit.txt"
go test -count=1 -timeout 30m ./audit -run '^TestRatios$' -v -ratios 2>&1 | tee "$SCRATCH/log.txt"
grep -q '^--- PASS: TestRatios' "$SCRATCH/log.txt" || fail 'a record costs more than it may'
go test -count=1 -timeout 30m ./audit -run '^TestVerifyMany$' -v -verify-records 1000000 2>&1 | tee -a "$SCRATCH/log.txt"
grep -q '^--- PASS: TestVerifyMany' "$SCRATCH/log.txt" || fail 'a million records do not verify in time'
go test -count=1 -timeout 30m ./audit/query -run '^TestQueryMany$' -v -query-records 1000000 2>&1 | tee -a "$SCRATCH/log.txt"
grep -q '^--- PASS: TestQueryMany' "$SCRATCH/log.txt" || fail 'a query over a million records takes longer than it may'
while read -r line; do note "$line"; done < <(grep -o 'group over every.*\|log.ndjson .*verified.*' "$SCRATCH/log.txt")
