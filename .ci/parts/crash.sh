#!/usr/bin/env bash
# kill -9 during a call while twenty others append: the log verifies and the call is INTERRUPTED.
. .ci/lib.sh

go test ./cmd/toolwarrant -run '^TestKilledWhileOthersWrite$' -count=3 -v 2>&1 | tee "$SCRATCH/kill.log"
[ "$(grep -c '^--- PASS: TestKilledWhileOthersWrite' "$SCRATCH/kill.log")" = 3 ] || fail 'not three passes'
go_test ./audit/...
