# METADATA
# title: Findings of the policy
# description: |
#   What is legal and yet not meant: the document passes, its author should
#   know. Findings need the layers and the tool, no caller.
package toolwarrant.lint

import rego.v2

import data.toolwarrant.effective

# METADATA
# scope: document
# title: Everything that the policy has to say about a document
# description: |
#   Each rule adds its findings to this set, and so may a file of your own. A
#   finding at /code may have a line and a column inside the code.
# entrypoint: true

# METADATA
# title: Hosts outside allowlist mode
# labels:
#   id: hosts-ignored
findings contains {
	"id": "hosts-ignored",
	"severity": "warning",
	"message": sprintf("hostsAllow does nothing in network mode %q; set \"allowlist\" or drop the hosts", [
		effective.network_mode,
	]),
	"pointer": "/sandboxOverrides/hostsAllow",
} if {
	effective.network_mode != "allowlist"
	count(input.tool.sandboxOverrides.hostsAllow) > 0
}

# METADATA
# title: Allowlist without hosts
# labels:
#   id: allowlist-empty
findings contains {
	"id": "allowlist-empty",
	"severity": "error",
	"message": "network mode \"allowlist\" without any host refuses every request; name the hosts or use \"blocked\"",
	"pointer": "/sandboxOverrides/networkMode",
} if {
	effective.network_mode == "allowlist"
	count(effective.hosts) == 0
}

# METADATA
# title: Removal of a deny that is not there
# labels:
#   id: remove-deny-noop
findings contains {
	"id": "remove-deny-noop",
	"severity": "warning",
	"message": sprintf("%q is not on the deny list, so that removing it does nothing", [class]),
	"pointer": "/sandboxOverrides/removeDenyClasses",
	"value": class,
} if {
	present := input.folded.denyClasses | input.tool.sandboxOverrides.addDenyClasses
	some class in (input.tool.sandboxOverrides.removeDenyClasses - present)
}

# METADATA
# title: Unknown approval mode
# labels:
#   id: hitl-unknown-mode
findings contains {
	"id": "hitl-unknown-mode",
	"severity": "error",
	"message": sprintf("unknown mode %q counts as REQUIRED; write REQUIRED, DISABLED or AUTO_APPROVE", [mode]),
	"pointer": "/humanInTheLoop/mode",
} if {
	mode := input.tool.humanInTheLoop.mode
	not mode in {"REQUIRED", "DISABLED", "AUTO_APPROVE"}
}

# METADATA
# title: Placeholder without grant
# labels:
#   id: env-not-granted
findings contains {
	"id": "env-not-granted",
	"severity": "warning",
	"message": sprintf("${%s} is not granted, so that the tool stays inactive; grant it under secrets.grants", [name]),
	"pointer": "/staticVariables",
} if {
	some name in (input.tool.placeholders - effective.env)
}
