#!/usr/bin/env bash
# kill -9 at 200 random moments under 64 clients, on disks that fill and fail, and at every step of a call: every end is recorded once.
. .ci/lib.sh

go test ./cmd/toolwarrant -run '^(TestKilledUnderLoad|TestKilledWhileTheDisk.*)$' -kills 200 -count=1 -timeout 40m -v 2>&1 | tee "$SCRATCH/load.log"
grep -q '^--- PASS: TestKilledUnderLoad' "$SCRATCH/load.log" || fail 'killed under load'
! grep -q '^--- FAIL' "$SCRATCH/load.log" || fail 'killed while the disk fails'
note "$(sed -n 's/.*kill_test.go:[0-9]*: \([0-9]* answers.*\)/\1/p' "$SCRATCH/load.log")"
! grep -q '^--- SKIP: TestKilledWhileTheDiskIsFull' "$SCRATCH/load.log" || note 'no full disk: that needs root'
go_test ./executor -run '^TestKilledAtEveryStep$' -kill-everywhere
go_test ./executor -run '^TestEvery'
go_test ./cmd/toolwarrant -run '^TestEveryExit' -every-transport
