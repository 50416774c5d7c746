#!/usr/bin/env bash
# It builds, with its tests, for other systems; what runs here is run; Linux binaries are static.
. .ci/lib.sh
export TOOLWARRANT_CATALOG_PRESET=everything
export CGO_ENABLED=0

out=$SCRATCH/bin
for target in linux/amd64 linux/arm64 darwin/amd64 darwin/arm64 windows/amd64 windows/arm64; do
	say "$target"
	os=${target%/*} arch=${target#*/}
	GOOS=$os GOARCH=$arch go build ./... || fail "go build for $target"
	GOOS=$os GOARCH=$arch go build -o "$out/$os-$arch/" ./cmd/toolwarrant || fail "go build for $target"
	case $target in
	linux/arm64 | darwin/arm64 | windows/amd64)
		# Every test is built and linked for it; true stands in for running it.
		GOOS=$os GOARCH=$arch go vet ./... || fail "go vet for $target"
		GOOS=$os GOARCH=$arch go test -count=1 -exec "$(command -v true)" ./... >"$SCRATCH/compile.log" 2>&1 || {
			cat "$SCRATCH/compile.log"
			fail "tests for $target do not build"
		}
		;;
	esac
done

say 'static'
(cd tools && go build -o "$SCRATCH/isstatic" ./isstatic)
"$SCRATCH/isstatic" "$out"/linux-*/toolwarrant || fail 'a Linux binary is not static'

# Packages whose tests can run under an emulator, which starts no second
# process; tests that do are left out.
alone='^(TestProcessesAgree|TestAsOrdinaryUser)$'
small=(./spec/... ./lint ./catalog ./digest ./fault ./decision ./keyring ./config ./approval/... ./executor/class ./executor/egress
	./executor/filesystem ./executor/parser ./executor/mask ./executor/secret ./executor/broker ./executor/js ./internal/atomicfile)

if [ "$(go env GOHOSTOS)" = linux ] && [ "$(go env GOHOSTARCH)" != arm64 ]; then
	emulator=$(command -v qemu-aarch64-static || command -v qemu-aarch64 || true)
	if [ -z "$emulator" ] && [ "$(id -u)" = 0 ] && command -v apt-get >/dev/null; then
		{ apt-get update -qq && apt-get install -y -qq --no-install-recommends qemu-user-static; } >/dev/null 2>&1 || true
		emulator=$(command -v qemu-aarch64-static || true)
	fi
	if [ -n "$emulator" ]; then
		say 'linux/arm64 under emulation: a governed call'
		# An emulator of one process cannot start a worker: the code runs within.
		export TOOLWARRANT_RUNTIME_ISOLATION=in-process
		tw=("$emulator" "$out/linux-arm64/toolwarrant" --home "$SCRATCH/arm64")
		"${tw[@]}" version
		[ "$("${tw[@]}" run base64 --args '{"text":"hello world"}')" = aGVsbG8gd29ybGQ= ] || fail 'base64 on linux/arm64'
		[ "$("${tw[@]}" run writeTextFile --args '{"path":"a.txt","content":"x"}' 2>&1 | grep -c APPROVAL_PENDING)" = 1 ] || fail 'approval on linux/arm64'
		"${tw[@]}" audit verify "$SCRATCH/arm64/audit/audit.ndjson" || fail 'audit verify on linux/arm64'
		unset TOOLWARRANT_RUNTIME_ISOLATION
		say 'linux/arm64 under emulation: tests'
		GOARCH=arm64 go test -count=1 -timeout 30m -skip "$alone" -exec "$emulator" "${small[@]}" || fail 'tests on linux/arm64'
	else
		note 'linux/arm64 built, not run: no qemu-aarch64'
	fi
fi
note 'darwin and windows built with their tests, not run'
