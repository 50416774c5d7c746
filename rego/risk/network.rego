# Network signals.
package toolwarrant.risk

import rego.v2

import data.toolwarrant.effective

# METADATA
# title: Allowlisted egress
# description: Also with an empty list, of which every host is refused.
# labels:
#   id: network-allowlist
signals contains _signal("network-allowlist", effective.hosts) if effective.network_mode == "allowlist"

# METADATA
# title: Wildcard egress
# description: The wildcard with a port reaches every public host as well.
# labels:
#   id: network-wildcard
signals contains _signal("network-wildcard", set()) if {
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
signals contains _signal("network-private", effective.private_hosts) if count(effective.private_hosts) > 0

# METADATA
# title: Egress to any public host
# labels:
#   id: network-strict
signals contains _signal("network-strict", set()) if effective.network_mode == "strict"

# METADATA
# title: Egress without address check
# labels:
#   id: network-open
signals contains _signal("network-open", set()) if effective.network_mode == "open"
