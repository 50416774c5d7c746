#!/usr/bin/env bash
# One governed call against a bare one, and the parts of it; figures are printed, none is asserted.
. .ci/lib.sh

go run ./bench -clients 64 -seconds 3 -rounds 3 2>&1 | tee "$SCRATCH/bench.txt"
grep -q 'governed over echo' "$SCRATCH/bench.txt" || fail 'no ratio'
go test -run '^$' -bench . -benchtime 200ms -benchmem ./resolver ./executor/js ./audit
while read -r line; do note "$line"; done < <(grep 'governed over echo' "$SCRATCH/bench.txt")

say 'growth of the decision'
go test -count=1 -timeout 30m ./resolver -run 'TestRatios|TestListRatio|TestHeapIsFlat' -v -ratios 2>&1 | tee "$SCRATCH/growth.txt"
grep -q '^--- PASS: TestHeapIsFlat' "$SCRATCH/growth.txt" || fail 'the heap grows with the number of decisions'
while read -r line; do note "$line"; done < <(grep -o 'ratio .*\|the first list of .*' "$SCRATCH/growth.txt")
