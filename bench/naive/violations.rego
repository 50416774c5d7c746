# What no layer may ask for.
package toolwarrant.effective

import rego.v2

violations contains {
	"id": "class-overlap",
	"message": sprintf("%q is on the allow list and on the deny list; remove it from one of them", [class]),
	"pointer": pointer_of(class),
	"value": class,
} if {
	some class in allow_classes
	some other in deny_classes
	class == other
}

violations contains {
	"id": "dead-grant",
	"message": sprintf("%q is allowed in vain, a deny covers it; remove that deny too, or drop the allow", [class]),
	"pointer": pointer_of(class),
	"value": class,
} if {
	some class in added_allows
	class in allow_classes
	some deny in deny_classes
	endswith(deny, ".*")
	startswith(trim_suffix(class, "*"), trim_suffix(deny, "*"))
}

violations contains {
	"id": "open-mode-not-allowed",
	"message": concat("", [
		"network mode \"open\" drops the address check and is off in this installation; ",
		"use allowlist or strict, or let the operator set policy.allow-open-mode",
	]),
	"pointer": mode_pointer,
	"value": "open",
} if {
	network_mode == "open"
	not input.layers.operator.allowOpenMode
}

violations contains {
	"id": "base-path-outside",
	"message": sprintf("the base folder %q lies neither below the workspace nor below a folder of fs.roots", [base_path]),
	"pointer": "/sandboxOverrides/fsBasePath",
	"value": base_path,
} if {
	input.tool.sandboxOverrides.fsBasePath
	not base_path_inside
}

base_path_inside if {
	not contains(base_path, "\u0000")
	some root in input.layers.operator.roots
	base_path == root
}

base_path_inside if {
	not contains(base_path, "\u0000")
	some root in input.layers.operator.roots
	startswith(base_path, concat("", [trim_suffix(root, input.layers.operator.separator), input.layers.operator.separator]))
}

pointer_of(class) := "/sandboxOverrides/addAllowClasses" if class in input.tool.sandboxOverrides.addAllowClasses

pointer_of(class) := "/sandboxOverrides/addDenyClasses" if {
	not class in input.tool.sandboxOverrides.addAllowClasses
	class in input.tool.sandboxOverrides.addDenyClasses
}

pointer_of(class) := "" if {
	not class in input.tool.sandboxOverrides.addAllowClasses
	not class in input.tool.sandboxOverrides.addDenyClasses
}

mode_pointer := "/sandboxOverrides/networkMode" if input.tool.sandboxOverrides.networkMode

mode_pointer := "" if not input.tool.sandboxOverrides.networkMode
