# METADATA
# title: Effective policy
# description: |
#   What the executor enforces, and all that it enforces.
#   To narrow by caller, arguments or time, intersect here. The engine compares
#   the result with `folded`, the policy of the layers alone, and refuses a
#   decision that is wider in any dimension.
package toolwarrant.effective

import rego.v2

import data.toolwarrant.risk

# METADATA
# title: The policy in force for this call
# labels:
#   id: effective-policy
policy := folded

# METADATA
# title: The policy of the layers, whoever calls
# description: |
#   A builtin hands the object on as one piece. Without, each rule that hands
#   it on would put it together anew.
# labels:
#   id: effective-folded
folded := object.get(
	object.union(
		{
			"allowClasses": allow_classes,
			"denyClasses": deny_classes,
			"network": {
				"mode": network_mode,
				"hosts": hosts,
				"hostsDeny": input.folded.network.hostsDeny,
				"ports": input.folded.network.ports,
				"privateHosts": private_hosts,
			},
			"fs": {
				"read": file_read,
				"write": file_write,
				"basePath": base_path,
			},
			"env": env,
			"maxStatements": input.folded.maxStatements,
			"timeoutSeconds": input.folded.timeoutSeconds,
			"maxMemoryBytes": input.folded.maxMemoryBytes,
			"maxOutputBytes": input.folded.maxOutputBytes,
			"maxLogLines": input.folded.maxLogLines,
		},
		_sandbox_part,
	),
	[], null,
)

# METADATA
# title: What the layers make of a tool
# description: |
#   Evaluated once per tool and policy, before any caller is known. The level
#   is held against the ceilings that layers state.
# entrypoint: true
# labels:
#   id: effective-plan
plan := {
	"folded": folded,
	"violations": violations,
	"riskLevel": risk.level,
	"riskSignals": risk.signals,
}
