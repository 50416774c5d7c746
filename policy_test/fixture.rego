# Inputs that the tests start from. The engine hands lists over as sets and
# leaves out what is null; tests do the same.
package toolwarrant_test.fixture

import rego.v2

# The baseline of cue/baseline.cue.
baseline := {
	"allowClasses": {"java.lang.*", "java.math.*", "java.text.*", "java.time.*", "java.util.*"},
	"denyClasses": {
		"java.lang.Class",
		"java.lang.ClassLoader",
		"java.lang.Process",
		"java.lang.ProcessBuilder",
		"java.lang.Runtime",
		"java.lang.System",
		"java.lang.Thread",
		"java.lang.ThreadGroup",
		"java.lang.invoke.*",
		"java.lang.reflect.*",
		"java.util.ServiceLoader",
		"java.util.spi.*",
	},
	"network": {"mode": "blocked", "hosts": set(), "hostsDeny": set(), "ports": set()},
	"fileRead": false,
	"fileWrite": false,
	"maxStatements": 500000,
	"timeoutSeconds": 30,
	"maxMemoryBytes": 134217728,
	"maxOutputBytes": 1048576,
	"maxLogLines": 1000,
}

operator := {
	"basePath": "/base",
	"roots": {"/base", "/data"},
	"separator": "/",
	"allowOpenMode": false,
	"privateHosts": {},
	"grants": [],
}

no_overrides := {
	"addAllowClasses": set(),
	"removeAllowClasses": set(),
	"addDenyClasses": set(),
	"removeDenyClasses": set(),
	"hostsAllow": set(),
}

plain_tool := {
	"toolId": "id-1",
	"name": "probe",
	"category": "MATH",
	"tags": {"util"},
	"source": "user",
	"specDigest": "sha256:00",
	"sandboxOverrides": no_overrides,
	"humanInTheLoop": {},
	"params": {"x"},
	"maskParams": set(),
	"placeholders": set(),
	"manifestEnv": set(),
}

plain := {
	"tool": plain_tool,
	"layers": {"baseline": baseline, "profiles": [], "operator": operator},
	"folded": baseline,
	"principal": {
		"subject": "local",
		"method": "none",
		"clientId": "test",
		"groups": {"staff"},
		"scopes": set(),
		"untrusted": true,
	},
	"call": {"origin": "mcp-http", "args": {}},
	"approvals": [],
	"now": "2026-01-02T03:04:05.000Z",
}

# The plain input with fields of the overrides block replaced.
overriding(fields) := tool({"sandboxOverrides": object.union(no_overrides, fields)})

# The plain input with fields of the tool replaced.
tool(fields) := object.union(plain, {"tool": _shallow(plain_tool, fields)})

# The plain input with fields of the operator replaced.
operated(base, fields) := object.union(base, {"layers": object.union(
	base.layers,
	{"operator": _shallow(base.layers.operator, fields)},
)})

# The plain input with other folded layers.
folded(base, fields) := object.union(base, {"folded": _shallow(base.folded, fields)})

# The plain input with a profile chain.
chained(profiles) := object.union(plain, {"layers": {"profiles": profiles}})

# A document that has nothing to complain about.
plain_document := {
	"description": "Adds two numbers. Returns a number.",
	"tags": ["util"],
	"hosts": [],
	"params": [],
	"staticVariables": [],
	"members": ["/name", "/code"],
	"reasons": [],
	"strings": [],
	"namedStrings": [],
	"missingNames": [],
	"identifiers": [],
	"endlessLoops": [],
}

# An input with a document, as a linter is given it.
documented(base, fields) := object.union(base, {"document": _shallow(plain_document, fields)})

_shallow(base, fields) := {key: value |
	some key in (object.keys(base) | object.keys(fields))
	value := object.get(fields, key, object.get(base, key, null))
}
