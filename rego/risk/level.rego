# METADATA
# title: Risk level
# description: |
#   Safe Tool Spec section 10.6: the highest level of all signals, L0 without
#   any. Each signal is one rule of this package; its level and message are
#   settings.
package toolwarrant.risk

import rego.v2

# METADATA
# title: The level
# description: Levels are one letter and one digit, so that text order is their order.
# labels:
#   id: risk-level
level := max({"L0"} | {signal.level | some signal in signals})

# METADATA
# title: A signal, with the names of what caused it
# labels:
#   id: risk-signal
_signal(id, names) := object.union(setting, {
	"id": id,
	"message": sprintf("%s: %s", [setting.message, concat(", ", names)]),
}) if {
	setting := data.toolwarrant.settings.risk.signals[id]
}

# METADATA
# title: A signal without names
# labels:
#   id: risk-plain-signal
_plain(id) := object.union(data.toolwarrant.settings.risk.signals[id], {"id": id})
