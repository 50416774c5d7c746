# The entry point.
package toolwarrant_test

import rego.v2

import data.toolwarrant
import data.toolwarrant_test.fixture

test_decision_is_complete if {
	decision := toolwarrant.decision with input as fixture.plain with data.toolwarrant.settings.access.views as []
	object.keys(decision) == {
		"violations", "allow", "reasons", "effectivePolicy", "riskLevel", "riskSignals",
		"humanInTheLoop", "limits", "isolation", "mask", "record",
	}
	decision.allow
	decision.riskLevel == "L0"
	decision.violations == set()
}

test_no_decision_without_input if {
	not toolwarrant.decision with input as {}
}

test_no_decision_when_a_part_is_missing[part] if {
	some part in {"tool", "layers", "folded"}
	not toolwarrant.decision with input as object.remove(fixture.plain, {part})
}
