# METADATA
# title: Privacy of the record
# description: |
#   What the audit record does not show of a call, beside every resolved
#   secret, which is always masked: arguments (hide), fields of the record
#   (drop) and, unless a setting asks for it, the result (result). The engine
#   reads "record" and "mask".
package toolwarrant.log

import rego.v2

# The forms of a hidden argument, the strongest first. drop: the member is
# absent. mask: "***". hmac: a keyed digest, by which whoever has the key of the
# installation finds the calls with one value. hash: a plain digest, which tells
# the value to whoever can guess it.
_forms := ["drop", "mask", "hmac", "hash"]

# What the operator asks for, by parameter.
_operator := _by_parameter(data.toolwarrant.settings.log.maskParams)

# Of a list, each name is masked; an object says the form of each.
_by_parameter(said) := said if {
	is_object(said)
} else := {name: "mask" | some name in said}

# What the author asks for, by parameter.
_author := {name: object.get(input.tool, ["maskForms", name], "mask") | some name in input.tool.maskParams}

# METADATA
# title: Hidden arguments
# description: |
#   Pointers of RFC 6901 into the arguments, each with a form. Rules may be
#   added: of several forms for one pointer the strongest counts, so that
#   nothing weakens what another rule asks for.
# scope: document
# labels:
#   id: log-hide
hide contains {"pointer": pointer, "form": form} if {
	some side in [_operator, _author]
	some name, form in side
	name in input.tool.params
	pointer := concat("", ["/", replace(replace(name, "~", "~0"), "/", "~1")])
}

# METADATA
# title: How each hidden argument is kept
# labels:
#   id: log-how
how := {pointer: form |
	some pointer in {entry.pointer | some entry in hide}
	asked := {entry.form | some entry in hide; entry.pointer == pointer}
	form := [f | some f in _forms; f in asked][0]
}

# METADATA
# title: Arguments of which the record tells nothing
# labels:
#   id: log-mask
mask := {pointer | some pointer, form in how; form in {"drop", "mask"}}

# METADATA
# title: Fields that the record leaves out
# description: |
#   Pointers of RFC 6901 into the record, each one of those that the
#   documentation lists. A pointer that is not makes the record leave out all
#   of them.
# scope: document
# labels:
#   id: log-drop
drop contains pointer if {
	some pointer in data.toolwarrant.settings.log.dropFields
}

# METADATA
# title: What the record keeps of a result
# description: Its size and digest, or "content" as well.
# scope: document
# labels:
#   id: log-result
default result := "digest"

result := "content" if {
	some wanted in data.toolwarrant.settings.log.resultContent
	wanted in {input.tool.name, input.tool.toolId, input.tool.category}
}

# METADATA
# title: What the engine reads
# labels:
#   id: log-record
record := {"how": how, "drop": drop, "result": result}
