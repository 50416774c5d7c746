# Capabilities.
#
# What the document asks for, against what it says and what the code does.
package toolwarrant.lint

import rego.v2

import data.toolwarrant.effective
import data.toolwarrant.hitl
import data.toolwarrant.risk

# METADATA
# title: Wildcard host without its apex
# labels:
#   id: host-apex
findings contains {
	"id": "host-apex",
	"severity": "info",
	"message": sprintf("%q does not cover %q itself; add that host if the code talks to it", [host, apex]),
	"pointer": sprintf("/sandboxOverrides/hostsAllow/%d", [i]),
} if {
	some i, host in input.document.hosts
	startswith(host, "*.")
	apex := substring(host, 2, -1)
	not lower(apex) in input.tool.sandboxOverrides.hostsAllow
}

# METADATA
# title: Wildcard grant
# labels:
#   id: host-wildcard
findings contains {
	"id": "host-wildcard",
	"severity": "warning",
	"message": "the wildcard lets the tool talk to every public host; name the hosts",
	"pointer": sprintf("/sandboxOverrides/hostsAllow/%d", [i]),
} if {
	some i, host in input.document.hosts
	host == "*"
}

# METADATA
# title: Wildcard grant of classes
# labels:
#   id: class-wildcard
findings contains {
	"id": "class-wildcard",
	"severity": "info",
	"message": sprintf("%q allows every class of a package, also those that come later; name the classes", [class]),
	"pointer": "/sandboxOverrides/addAllowClasses",
	"value": class,
} if {
	input.document
	some class in input.tool.sandboxOverrides.addAllowClasses
	endswith(class, ".*")
}

# METADATA
# title: Unencrypted address in a text
# labels:
#   id: lint-plain-http
_plain_http(text) if {
	regex.match(data.toolwarrant.settings.lint.plainHttp, regex.replace(text, data.toolwarrant.settings.lint.plainHttpExempt, ""))
}

# METADATA
# title: Plain http in the code
# labels:
#   id: plain-http
findings contains {
	"id": "plain-http",
	"severity": "warning",
	"message": "the address is not encrypted: whoever is on the way reads and changes what the tool gets; use https",
	"pointer": "/code",
	"line": found.line,
	"column": found.column,
} if {
	some found in input.document.strings
	_plain_http(found.text)
}

# METADATA
# title: Plain http in a static variable
# labels:
#   id: plain-http
findings contains {
	"id": "plain-http",
	"severity": "warning",
	"message": "the address is not encrypted: whoever is on the way reads and changes what the tool gets; use https",
	"pointer": sprintf("/staticVariables/%d", [i]),
} if {
	some i, variable in input.document.staticVariables
	_plain_http(variable.value)
}

# METADATA
# title: Approval below the default of the level
# description: |
#   Where every signal is one of settledByAuthor, DISABLED that stands in the
#   document is an answer: such a tool reads in its workspace or from fixed
#   hosts. AUTO_APPROVE is none.
# labels:
#   id: hitl-below-default
findings contains {
	"id": "hitl-below-default",
	"severity": "warning",
	"message": sprintf("the mode %s asks less than the default of level %s, which is REQUIRED; say in a suppression why", [mode, risk.level]),
	"pointer": "/humanInTheLoop/mode",
} if {
	input.document
	mode := input.tool.humanInTheLoop.mode
	mode in {"DISABLED", "AUTO_APPROVE"}
	risk.level >= data.toolwarrant.settings.hitl.defaultFrom
	hitl.verdict.mode == "DISABLED"
	not _settled(mode)
}

# METADATA
# title: The author may say by himself that nobody is asked
# labels:
#   id: lint-settled
_settled("DISABLED") if {
	every signal in risk.signals {
		signal.id in data.toolwarrant.settings.lint.settledByAuthor
	}
}

# METADATA
# title: Helper groups of the stored posture, in the namespaced spelling
# labels:
#   id: lint-helpers
_listed contains regex.replace(helper, `^tool-safety-helpers/v1#(.*)$`, "safety.$1/v1") if {
	some helper in input.document.toolSafety.runtime.helpers
}

# METADATA
# title: Helper used and not listed
# labels:
#   id: helper-unlisted
findings contains {
	"id": "helper-unlisted",
	"severity": "warning",
	"message": sprintf("the code uses %s, which the stored toolSafety does not list; --fix writes it anew", [helper]),
	"pointer": "/toolSafety/runtime/helpers",
} if {
	input.document.toolSafety.runtime.helpers
	some helper in input.tool.code.helpers
	not helper in _listed
}

# METADATA
# title: Helper listed and not used
# labels:
#   id: helper-unused
findings contains {
	"id": "helper-unused",
	"severity": "warning",
	"message": sprintf("the stored toolSafety lists %s, which the code does not use; --fix writes it anew", [helper]),
	"pointer": "/toolSafety/runtime/helpers",
} if {
	some helper in _listed
	not helper in input.tool.code.helpers
}

# METADATA
# title: What each helper group needs that the policy does not give
# labels:
#   id: lint-ungranted
_ungranted["safety.fs/v1"] := ["safety.fs", "fileRead or fileWrite"] if {
	not effective.file_read
	not effective.file_write
}

_ungranted["safety.http/v1"] := ["fetch", "a networkMode other than blocked"] if effective.network_mode == "blocked"

# METADATA
# title: The groups that code refers to when it takes the global object as a whole
# labels:
#   id: lint-every-group
_every_group := {"safety.check/v1", "safety.crypto/v1", "safety.encoding/v1", "safety.fs/v1", "safety.http/v1", "safety.parser/v1", "safety.time/v1"}

# METADATA
# title: Helper used and not granted
# description: To refer to every group says nothing of any, and is left alone.
# labels:
#   id: helper-ungranted
findings contains {
	"id": "helper-ungranted",
	"severity": "warning",
	"message": sprintf("the code uses %s, which does not exist without %s; ask for it in sandboxOverrides, or take a profile that gives it", _ungranted[helper]),
	"pointer": "/code",
} if {
	input.document
	some helper in input.tool.code.helpers
	_ungranted[helper]
	{group | some group in input.tool.code.helpers} != _every_group
}

# METADATA
# title: The host of a text that is an address
# description: Of one that code puts together, what stands before the path.
# labels:
#   id: lint-host-of
_host_of(text) := lower(found[1]) if {
	found := regex.find_all_string_submatch_n(`(?i)^https?://([a-z0-9.-]+\.[a-z][a-z0-9-]*)(?::[0-9]+)?(?:[/?#]|$)`, text, 1)[0]
}

# METADATA
# title: A host is on the list of the tool
# description: Ports are left to the gate.
# labels:
#   id: lint-host-listed
_host_listed(host) if {
	some entry in effective.hosts
	pattern := regex.replace(lower(entry), `:[0-9]+$`, "")
	_host_fits(pattern, host)
}

# METADATA
# title: A pattern is for a host
# labels:
#   id: lint-host-fits
_host_fits(pattern, host) if pattern in {"*", host}

_host_fits(pattern, host) if {
	startswith(pattern, "*.")
	endswith(host, substring(pattern, 1, -1))
}

# METADATA
# title: An address in the code or a static variable is of a host on the list
# labels:
#   id: lint-asks-listed
_asks_listed if {
	some found in input.document.strings
	_host_listed(_host_of(found.text))
}

_asks_listed if {
	some variable in input.document.staticVariables
	_host_listed(_host_of(variable.value))
}

# METADATA
# title: Addresses in the code, none of a host on the list
# description: Beside one that is on the list, others can be links in an answer.
# labels:
#   id: host-unlisted
findings contains {
	"id": "host-unlisted",
	"severity": "warning",
	"message": sprintf("the code names %s, which is not among the hosts that the tool may ask, nor is any other that it names; add it to hostsAllow", [host]),
	"pointer": "/code",
	"line": found.line,
	"column": found.column,
} if {
	effective.network_mode == "allowlist"
	"safety.http/v1" in input.tool.code.helpers
	not _asks_listed
	some found in input.document.strings
	host := _host_of(found.text)
	not _host_listed(host)
}

# METADATA
# title: Commands without the class that starts them
# labels:
#   id: process-ungranted
findings contains {
	"id": "process-ungranted",
	"severity": "warning",
	"message": sprintf("the code names %s, which it may not look up; lift the deny with removeDenyClasses, which makes it L5, or do without commands", [found.text]),
	"pointer": "/code",
	"line": found.line,
	"column": found.column,
} if {
	some found in input.document.strings
	found.text == data.toolwarrant.settings.sandbox.class
	not effective.runs_commands
}

# METADATA
# title: What the stored posture says, and what would be written today
# description: Only what is written is compared; documents may abbreviate the block.
# labels:
#   id: lint-posture
_posture["/runtime/javaInterop"] := [
	input.document.toolSafety.runtime.javaInterop,
	input.tool.code.javaInterop,
]

_posture["/category/id"] := [input.document.toolSafety.category.id, input.tool.category]

_posture["/capabilities/network/mode"] := [
	input.document.toolSafety.capabilities.network.mode,
	effective.network_mode,
]

_posture["/capabilities/network/hosts"] := [
	{host | some host in input.document.toolSafety.capabilities.network.hosts},
	effective.hosts,
] if {
	input.document.toolSafety.capabilities.network.hosts != null
}

_posture["/capabilities/fileRead"] := [
	input.document.toolSafety.capabilities.fileRead,
	effective.file_read,
]

_posture["/capabilities/fileWrite"] := [
	input.document.toolSafety.capabilities.fileWrite,
	effective.file_write,
]

# METADATA
# title: Stored posture out of date
# labels:
#   id: safety-stale
findings contains {
	"id": "safety-stale",
	"severity": "warning",
	"message": "the stored toolSafety is not what the code and the policy give today; --fix writes it anew",
	"pointer": sprintf("/toolSafety%s", [pointer]),
} if {
	some pointer, pair in _posture
	pair[0] != null
	pair[0] != pair[1]
}

# METADATA
# title: Loop without end
# labels:
#   id: loop-endless
findings contains {
	"id": "loop-endless",
	"severity": "warning",
	"message": "once entered, the loop never ends by itself; the call would end at its limit of statements",
	"pointer": "/code",
	"line": found.line,
	"column": found.column,
} if {
	some found in input.document.endlessLoops
}
