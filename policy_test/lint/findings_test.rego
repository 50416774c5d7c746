# Legal and not meant.
package toolwarrant.lint_test

import rego.v2

import data.toolwarrant.lint
import data.toolwarrant_test.fixture

test_findings[note] if {
	some note, tc in {
		"nothing to say": [fixture.plain, set()],
		"hosts without allowlist": [
			fixture.overriding({"hostsAllow": {"a.example"}}),
			{["hosts-ignored", "warning"]},
		],
		"allowlist without hosts": [
			fixture.overriding({"networkMode": "allowlist"}),
			{["allowlist-empty", "error"]},
		],
		"allowlist with hosts": [
			fixture.overriding({"networkMode": "allowlist", "hostsAllow": {"a.example"}}),
			set(),
		],
		"a removal of nothing": [
			fixture.overriding({"removeDenyClasses": {"java.lang.Nothing"}}),
			{["remove-deny-noop", "warning"]},
		],
		"an unknown mode": [
			fixture.tool({"humanInTheLoop": {"mode": "MAYBE"}}),
			{["hitl-unknown-mode", "error"]},
		],
		"a known mode": [fixture.tool({"humanInTheLoop": {"mode": "AUTO_APPROVE"}}), set()],
		"an ungranted name": [fixture.tool({"placeholders": {"KEY"}}), {["env-not-granted", "warning"]}],
	}
	found := {[f.id, f.severity] | some f in lint.findings} with input as tc[0]
	found == tc[1]
}
