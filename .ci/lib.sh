# What the parts share. A part starts with: . .ci/lib.sh
# Its files go below $SCRATCH; its working folder is the checkout.
set -euo pipefail

# note adds a remark to the part's row in the table.
note() { printf '%s\n' "$*" >>"$SCRATCH/notes"; }

# skip ends the part as not shown, with the reason.
skip() {
	note "$*"
	exit 77
}

fail() {
	printf 'FAILED: %s\n' "$*" >&2
	note "$*"
	exit 1
}

say() { printf -- '-- %s\n' "$*"; }

# build gives the path of a freshly built toolwarrant.
build() {
	CGO_ENABLED=0 go build -o "$SCRATCH/toolwarrant" ./cmd/toolwarrant
	printf '%s\n' "$SCRATCH/toolwarrant"
}

# status runs a command and gives its exit status; its output goes to the file
# $1 and, what is for people, to the file $1.err.
status() {
	local out=$1 rc=0
	shift
	"$@" >"$out" 2>"$out.err" || rc=$?
	if grep -q -e '^panic: ' -e '^goroutine [0-9]' "$out" "$out.err"; then
		cat "$out.err" >&2
		fail "$* panicked"
	fi
	printf '%s\n' "$rc"
}

# json prints what an expression over the JSON document in a file gives.
json() { go tool opa eval --format raw --input "$1" "$2"; }

# holds is whether the body of a rule holds for the JSON document in a file.
holds() { [ "$(json "$1" "count([1 | $2]) > 0")" = true ]; }

# lines_as_json makes one array of the lines of a log.
lines_as_json() {
	printf '['
	paste -sd, "$1"
	printf ']'
}

# free_port gives the wanted port if nobody listens on it, else another.
free_port() {
	local port
	for port in "$1" $(shuf -i 20000-29999 -n 50); do
		if ! (: <"/dev/tcp/127.0.0.1/$port") 2>/dev/null; then
			printf '%s\n' "$port"
			return
		fi
	done
	fail 'no free port'
}

# go_test runs tests, and fails as well when a pattern names none.
go_test() {
	local log="$SCRATCH/go-test.log"
	go test -count=1 "$@" 2>&1 | tee "$log"
	if grep -q 'no tests to run' "$log"; then
		fail "go test $*: no such test"
	fi
}

# node_20 is whether there is node 20 or newer; as root it may be installed.
node_20() {
	if ! command -v node >/dev/null && [ "$(id -u)" = 0 ] && command -v apt-get >/dev/null; then
		{ apt-get update -qq && apt-get install -y -qq --no-install-recommends nodejs npm; } >/dev/null 2>&1 || true
	fi
	command -v npm >/dev/null && [ "$(node --version 2>/dev/null | sed 's/^v//; s/\..*//')" -ge 20 ] 2>/dev/null
}

# npm_packages installs what the lock of a folder names. A lock can name an
# optional package for another system that this registry does not have, which
# npm ci takes for an error and npm install does not.
npm_packages() {
	(cd "$1" && { npm ci --no-audit --no-fund --ignore-scripts --loglevel=silent ||
		npm install --no-save --no-audit --no-fund --ignore-scripts --loglevel=error; })
}
