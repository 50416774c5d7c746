# Network signals.
package toolwarrant.risk

import rego.v2

import data.toolwarrant.effective

# METADATA
# title: Signals of an allowlist
# description: Only a tool in that mode is looked at further.
# labels:
#   id: network
signals contains signal if {
	effective.network_mode == "allowlist"
	some signal in _allowlist
}

# METADATA
# title: Allowlisted egress
# description: Also with an empty list, of which every host is refused.
# labels:
#   id: network-allowlist
_allowlist contains _signal("network-allowlist", effective.hosts) if count(effective.hosts) > 0

_allowlist contains _plain("network-allowlist") if count(effective.hosts) == 0

# METADATA
# title: Wildcard egress
# description: The wildcard with a port reaches every public host as well.
# labels:
#   id: network-wildcard
_allowlist contains _plain("network-wildcard") if "*" in effective.hosts

_allowlist contains _plain("network-wildcard") if strings.any_prefix_match(effective.hosts, "*:")

# METADATA
# title: Private addresses
# labels:
#   id: network-private
_allowlist contains _signal("network-private", effective.private_hosts) if count(effective.private_hosts) > 0

# METADATA
# title: Egress to any public host
# labels:
#   id: network-strict
signals contains _plain("network-strict") if effective.network_mode == "strict"

# METADATA
# title: Egress without address check
# labels:
#   id: network-open
signals contains _plain("network-open") if effective.network_mode == "open"
