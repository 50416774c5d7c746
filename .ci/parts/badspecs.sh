#!/usr/bin/env bash
# Bad documents are refused with code, pointer and line, never a panic; every fuzz target runs clean.
. .ci/lib.sh

bin=$(build)
files=0
for f in spec/testdata/bad/*.json; do
	rc=$(status "$SCRATCH/out.json" "$bin" lint "$f" --format json)
	[ "$rc" = 1 ] || fail "$f: exit $rc"
	holds "$SCRATCH/out.json" 'count(input.findings) > 0; every x in input.findings { regex.match("^(SPEC_PARSE|SPEC_INVARIANT|RESOLVER_REJECT)$", x.ruleId); x.severity == "error"; x.line >= 1; x.column >= 1; is_string(x.pointer); x.file; x.message }' ||
		fail "$f: $(cat "$SCRATCH/out.json")"
	files=$((files + 1))
done
[ "$files" -ge 20 ] || fail "$files bad documents, not 20"
note "$files bad documents, each with code, pointer and line"

# Which targets there are is asked, not listed: a new one is run too.
fuzz() {
	local log=$SCRATCH/fuzz.log
	say "$1 $2 for $3"
	# Before Go 1.27, go test can take the end of its own time for a failure,
	# without an input that fails: then it is run once more.
	if ! go test "$1" -run '^$' -fuzz "^$2\$" -fuzztime "$3" >"$log" 2>&1 &&
		{ ! grep -q '^ *context deadline exceeded$' "$log" || grep -q 'Failing input' "$log" ||
			! go test "$1" -run '^$' -fuzz "^$2\$" -fuzztime "$3" >"$log" 2>&1; }; then
		cat "$log"
		note "$1 $2 failed"
		bad=1
	fi
	grep -E 'execs:|^ok' "$log" | tail -n 2
}
bad=0
targets=0
while IFS=: read -r file _ line; do
	pkg=./$(dirname "${file#./}")
	name=$(printf '%s' "$line" | sed 's/^func \(Fuzz[A-Za-z0-9_]*\).*/\1/')
	long=10s
	case $pkg/$name in
	./spec/FuzzParse | ./config/FuzzLoad) long=30s ;;
	esac
	long=${FUZZTIME-$long} # FUZZTIME=5m .ci/full badspecs
	fuzz "$pkg" "$name" "$long"
	targets=$((targets + 1))
done < <(grep -rn --include='*_test.go' '^func Fuzz' . | sort)
[ $bad = 0 ] || exit 1
[ $targets -gt 2 ] || fail 'fuzz targets are missing'
note "$targets fuzz targets"
