# Violations.
#
# What no layer may ask for. One violation rejects the document: the tool
# has no effective policy at all, not a smaller one. Each names the place
# in the document, and the value where the place is a list.
package toolwarrant.effective

import rego.v2

# METADATA
# title: A class is allowed and denied
# description: Safe Tool Spec section 10.2, step 3. The same text on both lists.
# labels:
#   id: class-overlap
violations contains {
	"id": "class-overlap",
	"message": sprintf("%q is on the allow list and on the deny list; remove it from one of them", [class]),
	"pointer": _class_pointer(class),
	"value": class,
} if {
	some class in (allow_classes & deny_classes)
}

# METADATA
# title: An allow without effect
# description: |
#   An added allow that lies wholly under a deny still in force could never
#   match, so that the document promises what it does not give.
# labels:
#   id: dead-grant
violations contains {
	"id": "dead-grant",
	"message": sprintf("%q is allowed in vain, a deny covers it; remove that deny too, or drop the allow", [class]),
	"pointer": _class_pointer(class),
	"value": class,
} if {
	some class in (added_allows & allow_classes)
	strings.any_prefix_match(trim_suffix(class, "*"), _deny_stems)
}

# METADATA
# title: Open network without the operator
# labels:
#   id: open-mode-not-allowed
violations contains {
	"id": "open-mode-not-allowed",
	"message": concat("", [
		"network mode \"open\" drops the address check and is off in this installation; ",
		"use allowlist or strict, or let the operator set policy.allow-open-mode",
	]),
	"pointer": _network_pointer,
	"value": "open",
} if {
	network_mode == "open"
	not input.layers.operator.allowOpenMode
}

# METADATA
# title: Base folder outside
# labels:
#   id: base-path-outside
violations contains {
	"id": "base-path-outside",
	"message": sprintf("the base folder %q lies neither below the workspace nor below a folder of fs.roots", [base_path]),
	"pointer": "/sandboxOverrides/fsBasePath",
	"value": base_path,
} if {
	input.tool.sandboxOverrides.fsBasePath
	not base_inside
}

# METADATA
# title: Where the document names a class
# labels:
#   id: effective-class-pointer
_class_pointer(class) := "/sandboxOverrides/addAllowClasses" if {
	class in input.tool.sandboxOverrides.addAllowClasses
} else := "/sandboxOverrides/addDenyClasses" if {
	class in input.tool.sandboxOverrides.addDenyClasses
} else := ""

# METADATA
# title: Where the document names the network mode
# labels:
#   id: effective-network-pointer
_network_pointer := "/sandboxOverrides/networkMode" if {
	input.tool.sandboxOverrides.networkMode
} else := ""

# METADATA
# title: What wildcard denies begin with
# labels:
#   id: effective-deny-stems
_deny_stems := {trim_suffix(class, "*") |
	some class in deny_classes
	endswith(class, ".*")
}
