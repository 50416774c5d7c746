#!/usr/bin/env bash
# Worker processes: hostile programs again and again, many calls, what a worker costs.
. .ci/lib.sh

say 'attacks, twice'
go test -count=1 -timeout 20m ./executor/attack -every-record || fail 'an attack did not end as it has to'
go test -count=1 -timeout 20m ./executor/attack -run '^TestAttacks$' -ratios -v >"$SCRATCH/attacks.txt" || {
	grep -v '^ *---\|^=== ' "$SCRATCH/attacks.txt" | tail -n 40
	fail 'an attack did not end as it has to, or the next call came too late'
}
note "$(sed -n 's/.*attack_test.go:[0-9]*: \([0-9]* of [0-9]* attacks.*\)/\1/p' "$SCRATCH/attacks.txt")"

say 'races in what takes long under their detector'
go test -race -short -count=1 -timeout 20m ./cmd/toolwarrant ./executor/js ./executor/egress ./audit/query || fail 'a race'

say '200,000 calls'
go test -count=1 -timeout 30m ./executor/process -run TestSoak -v -soak 200000 2>&1 | tee "$SCRATCH/soak.txt"
grep -q '^--- PASS: TestSoak' "$SCRATCH/soak.txt" || fail 'memory grows with the number of calls'

say 'what a worker costs'
go test -count=1 ./executor/process -run TestWorkerRatios -v -ratios 2>&1 | tee "$SCRATCH/ratios.txt"
grep -q '^--- PASS: TestWorkerRatios' "$SCRATCH/ratios.txt" || fail 'a worker costs more than it may'
while read -r line; do note "$line"; done < <(sed -n 's/^ *bench_test.go:[0-9]*: //p' "$SCRATCH/ratios.txt")
