#!/usr/bin/env bash
# Endless code ends in time; addresses, paths and secrets that are not granted stay out of reach.
. .ci/lib.sh

go_test ./cmd/toolwarrant -run '^(TestLimits|TestWallClock|TestSecrets)$'
go_test ./executor/...
