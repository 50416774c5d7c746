#!/usr/bin/env bash
# commands in virtual machines: the Firecracker client, and a real kernel in an emulator
. .ci/lib.sh

# kernel gives the path of a kernel image for QEMU: what
# MICROVM_KERNEL names, or the cloud kernel of Debian, unpacked and
# not installed.
kernel() {
	local package
	if [ -n "${MICROVM_KERNEL-}" ]; then
		printf '%s\n' "$MICROVM_KERNEL"
		return
	fi
	command -v apt-get >/dev/null && command -v dpkg-deb >/dev/null || return 1
	package=$(apt-cache depends linux-image-cloud-amd64 2>/dev/null | awk '/Depends: linux-image/ { print $2; exit }')
	[ -n "$package" ] || return 1
	(cd "$SCRATCH/tmp" && apt-get download -qq "$package" >&2 && dpkg-deb -x linux-image-*.deb kernel) || return 1
	ls "$SCRATCH"/tmp/kernel/boot/vmlinuz-*
}

[ "$(uname -sm)" = "Linux x86_64" ] || skip "machines are tried on Linux x86_64 only"
if [ "$(id -u)" = 0 ] && command -v apt-get >/dev/null; then
	missing=()
	command -v busybox >/dev/null || missing+=(busybox-static)
	command -v qemu-system-x86_64 >/dev/null || missing+=(qemu-system-x86)
	if [ ${#missing[@]} -gt 0 ]; then
		{ apt-get update -qq && apt-get install -y -qq --no-install-recommends "${missing[@]}"; } >/dev/null 2>&1 || true
	fi
fi
command -v busybox >/dev/null || skip "busybox is not here and cannot be installed"

# The monitor is another user when root runs this; it reads what is here.
chmod 755 "$SCRATCH" "$SCRATCH/tmp"

say 'frames, archive, client, and a fake monitor with a real agent'
go_test ./executor/sandbox/wire/... ./executor/sandbox/microvm/...
for fuzz in wire/stream:FuzzStream wire/stream:FuzzFrame microvm/firecracker:FuzzHandshake; do
	# By number: an end by the clock is at times taken for a failure.
	go_test -run '^$' -fuzz "^${fuzz#*:}\$" -fuzztime 200000x "./executor/sandbox/${fuzz%:*}" >"$SCRATCH/fuzz.txt" || {
		tail -n 40 "$SCRATCH/fuzz.txt"
		fail "$fuzz"
	}
done
note 'client, frames and fake monitor hold'

command -v qemu-system-x86_64 >/dev/null || { note 'no qemu: no kernel was booted'; exit 0; }
image=$(kernel) || { note 'no kernel image: none was booted'; exit 0; }
say "a real kernel under QEMU: $image"
TOOLWARRANT_TEST_KERNEL="$image" go_test -v -timeout 15m -run '^TestEmula|^TestKernelThatDoesNotBoot' ./executor/sandbox/microvm |
	grep -v '^=== ' || fail 'a machine under QEMU'
note "$(sed -n 's/.*qemu_linux_test.go:[0-9]*: \(booted in .*\|a command: .*\)/\1/p' "$SCRATCH/go-test.log" | paste -sd, | sed 's/,/, /g')"

say 'the ways out of a machine, as root and as nobody'
mkdir "$SCRATCH/matrix"
chmod -R a+rX "$SCRATCH/tmp"
TOOLWARRANT_TEST_KERNEL="$image" go test -count=1 -timeout 25m ./executor/sandbox/escape -run '^TestMatrix$/^(qemu|nobody)$' -v -backends qemu -matrix "$SCRATCH/matrix" >"$SCRATCH/matrix.txt" 2>&1 || {
	grep -v '^=== ' "$SCRATCH/matrix.txt" | tail -n 60
	fail 'an attempt went through that nothing was said of'
}
cat "$SCRATCH/matrix/matrix.md"
grep -q 'qemu (root): ' "$SCRATCH/matrix.txt" || [ "$(id -u)" != 0 ] || fail 'no machine was attacked'
while read -r line; do note "$line"; done < <(sed -n 's/.*_test.go:[0-9]*: \(.*: [0-9]* held, [0-9]* open\),.*/\1/p' "$SCRATCH/matrix.txt")
