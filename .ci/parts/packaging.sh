#!/usr/bin/env bash
# The unit for systemd is one that systemd takes.
. .ci/lib.sh

command -v systemd-analyze >/dev/null || skip 'no systemd-analyze'
# The program need not be installed where this runs.
sed 's|^ExecStart=[^ ]*|ExecStart=/bin/true|' packaging/toolwarrant.service >"$SCRATCH/toolwarrant.service"
systemd-analyze verify "$SCRATCH/toolwarrant.service" >"$SCRATCH/verify.txt" 2>&1 || { cat "$SCRATCH/verify.txt" >&2; fail 'systemd does not take the unit'; }
! grep -q 'toolwarrant.service' "$SCRATCH/verify.txt" || { cat "$SCRATCH/verify.txt" >&2; fail 'systemd passes over parts of the unit'; }
