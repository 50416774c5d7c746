# METADATA
# title: Risk level
# description: |
#   Safe Tool Spec section 10.6: the highest level of all signals, L0 without
#   any. Levels and messages of the signals are settings.
package toolwarrant.risk

import rego.v2

# METADATA
# title: The level
# description: Levels are one letter and one digit, so that text order is their order.
# labels:
#   id: risk-level
level := max({"L0"} | {signal.level | some signal in signals})

# METADATA
# title: Every reason for the level
# labels:
#   id: risk-signals
signals contains {
	"id": id,
	"level": data.toolwarrant.settings.risk.signals[id].level,
	"message": _message(id, names),
} if {
	some id, names in detected
}

# METADATA
# title: The message of a signal, with what caused it
# labels:
#   id: risk-message
_message(id, names) := data.toolwarrant.settings.risk.signals[id].message if {
	count(names) == 0
} else := sprintf("%s: %s", [data.toolwarrant.settings.risk.signals[id].message, concat(", ", names)])
