#!/usr/bin/env bash
# The probes of the language against node, and what counting statements costs.
. .ci/lib.sh

if node_20; then
	say 'probes against node'
	node executor/js/testdata/probes/reference.mjs --check || fail 'node answers otherwise than the stored answers'
else
	note 'probes not compared: no node 20'
fi
go test -count=1 ./executor/js -run 'TestProbes|TestInstrumentsChangeNothing|TestCompatibilityPage' || fail 'probes'

say 'what counting costs'
go test -count=1 ./executor/js -run 'TestRatios|TestEngineRatio' -v -ratios 2>&1 | tee "$SCRATCH/ratios.txt"
grep -q '^--- PASS: TestRatios' "$SCRATCH/ratios.txt" || fail 'counting costs more than it may'
grep -q '^--- PASS: TestEngineRatio' "$SCRATCH/ratios.txt" || fail 'a call costs more above the engine than it may'
while read -r line; do note "$line"; done < <(grep -o 'ratio \(worst\|mean\).*\|[0-9]* lines of input: .*' "$SCRATCH/ratios.txt")
