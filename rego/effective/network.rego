# Network.
#
# Safe Tool Spec section 10.2, steps 4 and 5, and section 10.4.
package toolwarrant.effective

import rego.v2

# METADATA
# title: Network mode
# description: The nearest explicit mode.
# labels:
#   id: effective-network-mode
network_mode := object.get(input.tool.sandboxOverrides, "networkMode", input.folded.network.mode)

# METADATA
# title: Hosts
# description: Hosts of all layers together in allowlist mode, none in any other.
# labels:
#   id: effective-hosts
hosts := input.folded.network.hosts | input.tool.sandboxOverrides.hostsAllow if {
	network_mode == "allowlist"
} else := set()

# METADATA
# title: Private addresses
# description: |
#   Pairs of host and port that the operator opened and that the allowlist
#   names in full. A wildcard never opens a private address.
# labels:
#   id: effective-private-hosts
private_hosts := {pair |
	some host, pairs in input.layers.operator.privateHosts
	host in hosts
	some pair in pairs
}
