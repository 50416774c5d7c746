#!/usr/bin/env bash
# The gate is green in a fresh clone with nothing built before.
. .ci/lib.sh

git clone -q . "$SCRATCH/clone"
cd "$SCRATCH/clone"
mkdir "$SCRATCH/cache"
began=$SECONDS
GOCACHE="$SCRATCH/cache" .ci/run || fail '.ci/run'
took=$((SECONDS - began))
[ -z "$(git status --porcelain)" ] || fail 'the gate leaves files behind'
note "$took s with an empty build cache"
[ "$took" -lt 1200 ] || note 'longer than 20 minutes'
