# Network signals.
package toolwarrant.risk

import rego.v2

import data.toolwarrant.effective

# METADATA
# title: Network signals
# description: Only a tool with a network is looked at further.
# labels:
#   id: network
signals contains signal if {
	effective.network_mode != "blocked"
	some signal in _network
}

# METADATA
# title: Allowlisted egress
# description: Also with an empty list, of which every host is refused.
# labels:
#   id: network-allowlist
_network contains _signal("network-allowlist", effective.hosts) if count(effective.hosts) > 0

_network contains _plain("network-allowlist") if {
	effective.network_mode == "allowlist"
	count(effective.hosts) == 0
}

# METADATA
# title: Wildcard egress
# description: The wildcard with a port reaches every public host as well.
# labels:
#   id: network-wildcard
_network contains _plain("network-wildcard") if {
	some host in effective.hosts
	_any_host(host)
}

# METADATA
# title: A pattern that every host matches
# labels:
#   id: any-host
_any_host("*")

_any_host(host) if startswith(host, "*:")

# METADATA
# title: Private addresses
# labels:
#   id: network-private
_network contains _signal("network-private", effective.private_hosts) if count(effective.private_hosts) > 0

# METADATA
# title: Egress to any public host
# labels:
#   id: network-strict
_network contains _plain("network-strict") if effective.network_mode == "strict"

# METADATA
# title: Egress without address check
# labels:
#   id: network-open
_network contains _plain("network-open") if effective.network_mode == "open"
