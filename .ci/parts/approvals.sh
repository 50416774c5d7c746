#!/usr/bin/env bash
# A tool that writes runs only after a human accepted exactly that call, on both eras; each end leaves its records.
. .ci/lib.sh

go_test ./cmd/toolwarrant -run '^TestApproval'
go_test ./approval/... ./server/...
