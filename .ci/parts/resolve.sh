#!/usr/bin/env bash
# Levels of the canonical examples; layers, profiles and what they cannot do; each refusal has code and pointer.
. .ci/lib.sh

go_test ./cmd/toolwarrant -run '^TestScripts$/^resolve_(levels|rejects)$'
go_test ./resolver
go_test -race -short -timeout 15m ./resolver

bin=$(build)
dir=$SCRATCH/specs
mkdir "$dir"

say 'levels of the samples'
for want in 17.1=L0 17.2=L3 17.3=L3 17.4=L3 17.5=L3 17.6=L4 17.7=L0; do
	# The samples leave out what their section does not speak of.
	sample=$dir/${want%=*}.json
	json spec/testdata/samples/"${want%=*}"-*.json 'object.union({"code": "return 1;", "codeType": "Javascript"}, input)' >"$sample"
	rc=$(status "$SCRATCH/out.json" "$bin" resolve "$sample" --format json)
	[ "$rc" = 0 ] || fail "section ${want%=*}: exit $rc, $(cat "$SCRATCH/out.json")"
	holds "$SCRATCH/out.json" "input.riskLevel == \"${want#*=}\"" || fail "section ${want%=*} is $(json "$SCRATCH/out.json" input.riskLevel), not ${want#*=}"
done

# spec writes a document with members.
spec() { printf '{"name": "%s", "codeType": "Javascript", "code": "return 1;"\n %s}\n' "$1" "${2:+, $2}" >"$dir/$1.json"; }

say 'an empty overrides block decides as none'
spec probe ''
"$bin" resolve "$dir/probe.json" --format json >"$SCRATCH/none.json"
spec probe '"sandboxOverrides": {}'
"$bin" resolve "$dir/probe.json" --format json >"$SCRATCH/empty.json"
printf '{"a": %s, "b": %s}' "$(cat "$SCRATCH/none.json")" "$(cat "$SCRATCH/empty.json")" >"$SCRATCH/both.json"
# Whose document it is differs by one member, so its digest does too.
if ! holds "$SCRATCH/both.json" 'json.remove(input.a, ["decisionId", "decidedAt"]) == json.remove(input.b, ["decisionId", "decidedAt"])'; then
	holds "$SCRATCH/both.json" 'json.remove(input.a, ["decisionId", "decidedAt", "tool/specDigest"]) == json.remove(input.b, ["decisionId", "decidedAt", "tool/specDigest"])' || {
		diff "$SCRATCH/none.json" "$SCRATCH/empty.json" || true
		fail 'an empty block decides otherwise than none'
	}
	note 'specDigest tells an empty block from none'
fi

say 'profiles'
"$bin" policy init "$SCRATCH/policy" >/dev/null
{
	echo 'package toolwarrant'
	for i in 1 2 3 4 5 6 7 8; do
		[ "$i" = 1 ] && extends='' || extends=", extends: \"p$((i - 1))\""
		echo "profiles: p$i: {timeoutSeconds: $((30 - i))$extends}"
	done
	echo 'profiles: lifter: allowClasses: ["java.lang.System"]'
	echo 'bindings: [{profile: "p8", name: "eighth"}, {profile: "lifter", name: "lifted"}, {profile: "lifter", name: "removed"}]'
} >"$SCRATCH/policy/cue/bindings.cue"

resolved() {
	rc=$(status "$SCRATCH/out.json" "$bin" resolve "$dir/$1.json" --policy "$SCRATCH/policy" --format json)
	[ "$rc" = "$2" ] || {
		cat "$SCRATCH/out.json" "$SCRATCH/out.json.err"
		fail "$1: exit $rc, not $2"
	}
}
rejected() {
	resolved "$1" 1
	holds "$SCRATCH/out.json" "input.error.code == \"$2\"" || fail "$1: $(json "$SCRATCH/out.json" input.error), not $2"
	holds "$SCRATCH/out.json" 'startswith(input.error.pointer, "/")' || fail "$1: no pointer: $(json "$SCRATCH/out.json" input.error)"
}

spec eighth
resolved eighth 0
holds "$SCRATCH/out.json" 'count(input.profileChain) == 8' || fail 'eight profiles are not all applied'
holds "$SCRATCH/out.json" 'input.effectivePolicy.timeoutSeconds == 22' || fail 'the nearest profile does not win'
# A profile that no tool could pass is refused with its policy.
unusable() {
	rm -rf "$SCRATCH/unusable"
	cp -r "$SCRATCH/policy" "$SCRATCH/unusable"
	printf 'package toolwarrant\n%s\n' "$1" >"$SCRATCH/unusable/cue/profiles/more.cue"
	rc=$(status "$SCRATCH/out.json" "$bin" resolve "$dir/eighth.json" --policy "$SCRATCH/unusable" --format json)
	[ "$rc" = 3 ] || fail "$1: exit $rc"
	holds "$SCRATCH/out.json" 'input.error.code == "POLICY_UNAVAILABLE"; regex.match(`cue/[a-z/]+[.]cue:[0-9]+: `, input.error.message)' || fail "$1: $(json "$SCRATCH/out.json" input.error)"
	grep -q "$2" "$SCRATCH/out.json" || fail "$1: does not say $2"
}
unusable 'profiles: p9: extends: "p8"' 'p9 '
unusable 'profiles: {ping: extends: "pong", pong: extends: "ping"}' 'ping '
unusable 'profiles: lost: extends: "nosuch"' nosuch
spec namednone '"x-toolwarrant-profile": "nosuch"'
rejected namednone RESOLVER_REJECT

say 'a baseline deny'
spec lifted
rc=$(status "$SCRATCH/out.json" "$bin" resolve "$dir/lifted.json" --policy "$SCRATCH/policy" --format json)
case $rc in
0) holds "$SCRATCH/out.json" '"java.lang.System" in input.effectivePolicy.denyClasses' || fail 'a profile lifted a deny of the baseline' ;;
1) holds "$SCRATCH/out.json" 'input.error.code == "RESOLVER_REJECT"; startswith(input.error.pointer, "/")' || fail "$(cat "$SCRATCH/out.json")" ;;
*) fail "a profile that would lift a deny: exit $rc" ;;
esac
spec removed '"sandboxOverrides": {"addAllowClasses": ["java.lang.System"], "removeDenyClasses": ["java.lang.System"]}'
resolved removed 0
holds "$SCRATCH/out.json" 'input.riskLevel == "L5"; "java.lang.System" in input.effectivePolicy.allowClasses; not "java.lang.System" in input.effectivePolicy.denyClasses' ||
	fail 'the tool cannot remove a deny of the baseline'

say 'refusals of documents'
spec overlap '"sandboxOverrides": {"addAllowClasses": ["java.net.URL"], "addDenyClasses": ["java.net.URL"]}'
rejected overlap RESOLVER_REJECT
spec outside '"sandboxOverrides": {"fileRead": true, "fsBasePath": "/etc"}'
rejected outside RESOLVER_REJECT
spec upward '"sandboxOverrides": {"fileRead": true, "fsBasePath": "../.."}'
rejected upward RESOLVER_REJECT
spec mode '"sandboxOverrides": {"networkMode": "wideopen"}'
rejected mode SPEC_PARSE
spec key '"sandboxOverrides": {"fileRaed": true}'
rejected key SPEC_PARSE
spec paramkey '"params": [{"name": "a", "type": "STRING", "required": false, "secret": true}]'
rejected paramkey SPEC_PARSE
