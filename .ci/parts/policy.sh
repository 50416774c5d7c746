#!/usr/bin/env bash
# Every rule is covered, also under an unmodified opa, and every row of the risk tables is a named case.
. .ci/lib.sh

say 'opa test, every line covered'
go tool opa test --timeout 1m rego policy_test --coverage --threshold 100 --format json >"$SCRATCH/coverage.json" || {
	cat "$SCRATCH/coverage.json"
	fail 'coverage of rego/'
}
holds "$SCRATCH/coverage.json" 'input.coverage == 100' || fail "coverage $(json "$SCRATCH/coverage.json" input.coverage)"

say 'an unmodified opa'
go build -o "$SCRATCH/opa" github.com/open-policy-agent/opa
"$SCRATCH/opa" version
(cd "$SCRATCH" && cp -r "$OLDPWD/rego" "$OLDPWD/policy_test" . && ./opa test --timeout 1m rego policy_test -v) >"$SCRATCH/verbose.txt" || {
	cat "$SCRATCH/verbose.txt"
	fail 'opa test'
}
tail -n 1 "$SCRATCH/verbose.txt"

say 'the rows of the risk tables'
# name/case of every case that passed.
awk '/^data\..*: PASS/ { sub(/^data\./, ""); sub(/: PASS.*/, ""); name = $0; print name; next }
	/^  .*: PASS$/ { sub(/^  /, ""); sub(/: PASS$/, ""); print name "/" $0 }' "$SCRATCH/verbose.txt" >"$SCRATCH/cases.txt"
rows=0
missing=0
rows_of() {
	local test=$1 row
	shift
	for row in "$@"; do
		rows=$((rows + 1))
		grep -qxF "toolwarrant.risk_test.$test/$row" "$SCRATCH/cases.txt" || {
			printf 'no passing case %s/%s\n' "$test" "$row"
			missing=$((missing + 1))
		}
	done
}
rows_of test_levels 'default posture' 'allowlist with hosts' 'allowlist with a wildcard' strict open 'file read' 'file write' 'file read and write' destructive
rows_of test_removed_denies one two three System Runtime Process ProcessBuilder Class reflect invoke
rows_of test_critical_classes_allowed java.lang.{System,Runtime,Process,ProcessHandle,ProcessBuilder}
rows_of test_reflection_classes_allowed java.lang.Class java.lang.reflect.{Method,'*'} java.lang.invoke.MethodHandles
rows_of test_network_classes_allowed java.net.http.{HttpClient,'*'} java.net.{Socket,URL,URLConnection,HttpURLConnection} java.nio.channels.SocketChannel javax.net.ssl.SSLContext org.jsoup.Jsoup
rows_of test_file_reading_classes_allowed java.io.{File,FileReader,FileInputStream} java.nio.file.{Files,Path,Paths}
rows_of test_file_writing_classes_allowed java.io.{FileWriter,FileOutputStream,RandomAccessFile} java.nio.channels.FileChannel
rows_of test_other_classes_allowed com.example.Thing java.io.Filer
rows_of test_wildcards_score_as_their_worst_member 'java.io.*' 'java.nio.*' 'java.net.*' 'java.*' 'java.nio.file.*' 'java.nio.channels.*'
[ $missing = 0 ] || fail "$missing of $rows rows have no case"
note "$(grep -c / "$SCRATCH/cases.txt") cases, $rows rows of the tables among them"

say '200 policies put into force while calls run'
go test -count=1 -timeout 40m ./service -run '^TestActivationsUnderLoad$' -activations 200 -v 2>&1 | tee "$SCRATCH/activations.txt"
grep -q '^--- PASS: TestActivationsUnderLoad' "$SCRATCH/activations.txt" || fail 'a call was lost, or a policy was not given back'
note "$(sed -n 's/.*policy_test.go:[0-9]*: //p' "$SCRATCH/activations.txt")"
