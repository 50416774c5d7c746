# Because.
#
# The verdict in words, for a person who asks why. No decision reads this.
package toolwarrant.hitl

import rego.v2

import data.toolwarrant.risk

# METADATA
# title: Why a human is asked or not, and everything that demands one
# description: For an explanation. A rule of an installation that demands is named.
# labels:
#   id: hitl-explanation
explanation := {"because": because, "demands": {demand.id | some demand in demands}}

# METADATA
# title: The verdict in words
# labels:
#   id: hitl-because
because := _because[_in_force.ruleId][_in_force.mode]

_in_force := object.union(verdict, standing_verdict)

# METADATA
# title: Who says the mode
# labels:
#   id: hitl-because-who
_who := "this installation" if {
	standing
} else := "the document"

_mode := standing if {
	standing
} else := input.tool.humanInTheLoop.mode

_because["hitl-installation"][mode] := text if {
	text := sprintf("this installation says %s for the tool, whatever its document says", [standing])
	mode := _in_force.mode
}

_because[demand.id].REQUIRED := sprintf("the rule %s demands a human, whatever the document says", [demand.id]) if {
	some demand in demands
}

_because["hitl-required"].REQUIRED := "the document says REQUIRED"

_because["hitl-floor"].REQUIRED := sprintf("the level is %s, and from %s on (hitl.floor) a human is asked whatever the document says", [
	risk.level,
	data.toolwarrant.settings.hitl.floor,
])

_because["hitl-threshold"].REQUIRED := sprintf("%s says AUTO_APPROVE, which from %s on (hitl.threshold) asks, and the level is %s", [
	_who,
	data.toolwarrant.settings.hitl.threshold,
	risk.level,
])

_because["hitl-unknown-mode"].REQUIRED := sprintf("%s says %q, which is no mode and counts as REQUIRED", [
	_who,
	_mode,
])

_because["hitl-default"].REQUIRED := sprintf("the document does not say, and from %s on (hitl.defaultFrom) a human is asked; the level is %s", [
	data.toolwarrant.settings.hitl.defaultFrom,
	risk.level,
])

_because["hitl-default"].DISABLED := sprintf("the document does not say, and a human is asked from %s on (hitl.defaultFrom); the level is %s", [
	data.toolwarrant.settings.hitl.defaultFrom,
	risk.level,
])

_because["hitl-disabled"].DISABLED := sprintf("the document says DISABLED, and the level %s is below %s (hitl.floor)", [
	risk.level,
	data.toolwarrant.settings.hitl.floor,
])

_because["hitl-auto-approve"].DISABLED := sprintf("the document says AUTO_APPROVE, and the level %s is below %s (hitl.threshold)", [
	risk.level,
	data.toolwarrant.settings.hitl.threshold,
])
