# What is asked for, against what is said and done.
package toolwarrant.lint_test

import rego.v2

import data.toolwarrant.lint
import data.toolwarrant_test.fixture

test_capabilities[note] if {
	some note, tc in {
		"nothing to say": [fixture.documented(fixture.plain, {}), set()],
		"a wildcard alone": [fixture.documented(fixture.overriding({"networkMode": "allowlist", "hostsAllow": {"*.a.example"}}), {"hosts": ["*.a.example"]}), {["host-apex", "info", "/sandboxOverrides/hostsAllow/0"]}],
		"with its apex": [fixture.documented(fixture.overriding({"networkMode": "allowlist", "hostsAllow": {"*.a.example", "a.example"}}), {"hosts": ["*.a.example", "a.example"]}), set()],
		"every host": [fixture.documented(fixture.overriding({"networkMode": "allowlist", "hostsAllow": {"*"}}), {"hosts": ["*"]}), {["host-wildcard", "warning", "/sandboxOverrides/hostsAllow/0"]}],
		"a package of classes": [fixture.documented(fixture.overriding({"addAllowClasses": {"com.a.*", "com.b.C"}}), {}), {["class-wildcard", "info", "/sandboxOverrides/addAllowClasses"]}],
		"plain http": [fixture.documented(fixture.plain, {"strings": [{"text": "see http://a.example/", "line": 1, "column": 1}]}), {["plain-http", "warning", "/code"]}],
		"encrypted": [fixture.documented(fixture.plain, {"strings": [{"text": "https://a.example", "line": 1, "column": 1}]}), set()],
		"this machine": [fixture.documented(fixture.plain, {"strings": [{"text": "http://localhost:8080/", "line": 1, "column": 1}]}), set()],
		"a name space": [fixture.documented(fixture.plain, {"strings": [{"text": "http://www.w3.org/2000/svg", "line": 1, "column": 1}]}), set()],
		"one of each": [fixture.documented(fixture.plain, {"strings": [{"text": "http://localhost and http://a.example", "line": 1, "column": 1}]}), {["plain-http", "warning", "/code"]}],
		"plain http in a static variable": [fixture.documented(fixture.plain, {"staticVariables": [{"key": "base", "value": "http://a.example"}]}), {["plain-http", "warning", "/staticVariables/0"]}],
		"not asked although it writes": [fixture.documented(fixture.tool({"humanInTheLoop": {"mode": "DISABLED"}, "sandboxOverrides": object.union(fixture.no_overrides, {"fileRead": true, "fileWrite": true})}), {}), {["hitl-below-default", "warning", "/humanInTheLoop/mode"]}],
		"not asked although it reaches any host": [fixture.documented(fixture.tool({"humanInTheLoop": {"mode": "DISABLED"}, "sandboxOverrides": object.union(fixture.no_overrides, {"networkMode": "strict"})}), {}), {["hitl-below-default", "warning", "/humanInTheLoop/mode"]}],
		"not asked, and it only reads": [fixture.documented(fixture.tool({"humanInTheLoop": {"mode": "DISABLED"}, "sandboxOverrides": object.union(fixture.no_overrides, {"fileRead": true})}), {}), set()],
		"not asked, and its hosts are fixed": [fixture.documented(fixture.tool({"humanInTheLoop": {"mode": "DISABLED"}, "sandboxOverrides": object.union(fixture.no_overrides, {"networkMode": "allowlist", "hostsAllow": {"a.example"}})}), {"hosts": ["a.example"]}), set()],
		"nothing to ask for": [fixture.documented(fixture.tool({"humanInTheLoop": {"mode": "DISABLED"}, "sandboxOverrides": object.union(fixture.no_overrides, {})}), {}), set()],
		"asked by the threshold": [fixture.documented(fixture.tool({"humanInTheLoop": {"mode": "AUTO_APPROVE"}, "sandboxOverrides": object.union(fixture.no_overrides, {"fileRead": true})}), {}), set()],
		"asked by the floor": [fixture.documented(fixture.tool({"humanInTheLoop": {"mode": "DISABLED"}, "sandboxOverrides": object.union(fixture.no_overrides, {"destructive": true})}), {}), set()],
		"asked": [fixture.documented(fixture.tool({"humanInTheLoop": {"mode": "REQUIRED"}, "sandboxOverrides": object.union(fixture.no_overrides, {"fileRead": true})}), {}), set()],
		"helpers agree": [fixture.documented(fixture.tool({"sandboxOverrides": object.union(fixture.no_overrides, {"fileRead": true}), "code": {"helpers": {"safety.fs/v1", "safety.crypto/v1"}, "javaInterop": false}}), {"toolSafety": {"runtime": {"helpers": ["safety.fs/v1", "tool-safety-helpers/v1#crypto"]}}}), set()],
		"a helper is not listed": [fixture.documented(fixture.tool({"code": {"helpers": {"safety.crypto/v1"}, "javaInterop": false}}), {"toolSafety": {"runtime": {"helpers": []}}}), {["helper-unlisted", "warning", "/toolSafety/runtime/helpers"]}],
		"a helper is not used": [fixture.documented(fixture.tool({"code": {"helpers": set(), "javaInterop": false}}), {"toolSafety": {"runtime": {"helpers": ["safety.fs/v1"]}}}), {["helper-unused", "warning", "/toolSafety/runtime/helpers"]}],
		"no list is no claim": [fixture.documented(fixture.tool({"code": {"helpers": {"safety.crypto/v1"}, "javaInterop": false}}), {"toolSafety": {"runtime": {}}}), set()],
		"files without a grant": [fixture.documented(fixture.tool({"code": {"helpers": {"safety.fs/v1"}, "javaInterop": false}}), {}), {["helper-ungranted", "warning", "/code"]}],
		"files to read": [fixture.documented(fixture.tool({"code": {"helpers": {"safety.fs/v1"}, "javaInterop": false}, "sandboxOverrides": object.union(fixture.no_overrides, {"fileRead": true})}), {}), set()],
		"files to write": [fixture.documented(fixture.tool({"code": {"helpers": {"safety.fs/v1"}, "javaInterop": false}, "sandboxOverrides": object.union(fixture.no_overrides, {"fileWrite": true})}), {}), set()],
		"the network without a grant": [fixture.documented(fixture.tool({"code": {"helpers": {"safety.http/v1"}, "javaInterop": false}}), {}), {["helper-ungranted", "warning", "/code"]}],
		"the network": [fixture.documented(fixture.tool({"code": {"helpers": {"safety.http/v1"}, "javaInterop": false}, "sandboxOverrides": object.union(fixture.no_overrides, {"networkMode": "strict"})}), {}), set()],
		"no grant is needed": [fixture.documented(fixture.tool({"code": {"helpers": {"safety.parser/v1", "safety.crypto/v1", "safety.encoding/v1", "safety.time/v1"}, "javaInterop": false}}), {}), set()],
		"every group": [fixture.documented(fixture.tool({"code": {"helpers": {"safety.check/v1", "safety.fs/v1", "safety.http/v1", "safety.parser/v1", "safety.crypto/v1", "safety.encoding/v1", "safety.time/v1"}, "javaInterop": false}}), {}), set()],
		"stale java": [fixture.documented(fixture.tool({"code": {"helpers": set(), "javaInterop": false}}), {"toolSafety": {"runtime": {"javaInterop": true}}}), {["safety-stale", "warning", "/toolSafety/runtime/javaInterop"]}],
		"stale category": [fixture.documented(fixture.tool({"code": {"helpers": set(), "javaInterop": false}}), {"toolSafety": {"category": {"id": "WEB"}}}), {["safety-stale", "warning", "/toolSafety/category/id"]}],
		"stale network": [fixture.documented(fixture.tool({"code": {"helpers": set(), "javaInterop": false}}), {"toolSafety": {"capabilities": {"network": {"mode": "open"}}}}), {["safety-stale", "warning", "/toolSafety/capabilities/network/mode"]}],
		"stale hosts": [fixture.documented(fixture.tool({"code": {"helpers": set(), "javaInterop": false}}), {"toolSafety": {"capabilities": {"network": {"hosts": ["a.example"]}}}}), {["safety-stale", "warning", "/toolSafety/capabilities/network/hosts"]}],
		"stale reading": [fixture.documented(fixture.tool({"code": {"helpers": set(), "javaInterop": false}}), {"toolSafety": {"capabilities": {"fileRead": true}}}), {["safety-stale", "warning", "/toolSafety/capabilities/fileRead"]}],
		"stale writing": [fixture.documented(fixture.tool({"code": {"helpers": set(), "javaInterop": false}}), {"toolSafety": {"capabilities": {"fileWrite": true}}}), {["safety-stale", "warning", "/toolSafety/capabilities/fileWrite"]}],
		"a posture of today": [fixture.documented(fixture.tool({"code": {"helpers": set(), "javaInterop": false}}), {"toolSafety": {"runtime": {"javaInterop": false}, "category": {"id": "MATH"}, "capabilities": {"network": {"mode": "blocked", "hosts": []}, "fileRead": false, "fileWrite": false}}}), set()],
		"nulls are not written": [fixture.documented(fixture.tool({"code": {"helpers": set(), "javaInterop": false}}), {"toolSafety": {"runtime": {"javaInterop": null}, "capabilities": {"network": {"hosts": null}}}}), set()],
		"a loop": [fixture.documented(fixture.plain, {"endlessLoops": [{"text": "while", "line": 1, "column": 1}]}), {["loop-endless", "warning", "/code"]}],
	}
	found := {[f.id, f.severity, f.pointer] | some f in lint.findings} with input as tc[0]
	found == tc[1]
}

test_hosts_in_code[note] if {
	some note, tc in {
		"listed": ["allowlist", {"api.example.com"}, ["https://API.example.com/v1?q=1"], "", 0],
		"listed with a port": ["allowlist", {"api.example.com:8443"}, ["https://api.example.com:8443"], "", 0],
		"below a wildcard": ["allowlist", {"*.example.com"}, ["https://api.example.com/"], "", 0],
		"everything": ["allowlist", {"*"}, ["https://api.example.com/"], "", 0],
		"not listed": ["allowlist", {"api.example.com"}, ["http://other.example.com/v1"], "", 1],
		"the apex of a wildcard": ["allowlist", {"*.example.com"}, ["https://example.com#a"], "", 1],
		"a name that ends alike": ["allowlist", {"*.example.com"}, ["https://notexample.com"], "", 1],
		"none of two": ["allowlist", {"api.example.com"}, ["https://a.example.com", "https://b.example.com"], "", 2],
		"a link beside": ["allowlist", {"api.example.com"}, ["https://api.example.com/v1", "https://www.example.com/item"], "", 0],
		"a link, and the host in a variable": ["allowlist", {"api.example.com"}, ["https://www.example.com/item"], "https://api.example.com", 0],
		"a link, and something else in a variable": ["allowlist", {"api.example.com"}, ["https://www.example.com/item"], "v1", 1],
		"the begin of a name": ["allowlist", {"api.example.com"}, ["https://api."], "", 0],
		"in the midst of a text": ["allowlist", {"api.example.com"}, ["see https://other.example.com/"], "", 0],
		"an address of this machine": ["allowlist", {"api.example.com"}, ["http://127.0.0.1:8080/"], "", 0],
		"another mode": ["strict", set(), ["https://other.example.com/"], "", 0],
	}
	found := lint.findings with input as fixture.documented(
		fixture.tool({
			"code": {"helpers": {"safety.http/v1"}, "javaInterop": false},
			"sandboxOverrides": object.union(fixture.no_overrides, {"networkMode": tc[0], "hostsAllow": tc[1]}),
		}),
		{
			"strings": [{"text": text, "line": 1, "column": i} | some i, text in tc[2]],
			"staticVariables": [{"name": "base", "value": tc[3]}],
		},
	)
	count([f | some f in found; f.id == "host-unlisted"]) == tc[4]
}

test_commands_without_the_class[note] if {
	some note, tc in {
		"asked for": [{"removeDenyClasses": {"java.lang.ProcessBuilder"}}, "java.lang.ProcessBuilder", set()],
		"not asked for": [{}, "java.lang.ProcessBuilder", {"process-ungranted"}],
		"another class": [{}, "java.lang.Math", set()],
	}
	found := lint.findings with input as fixture.documented(
		fixture.overriding(tc[0]),
		{"strings": [{"text": tc[1], "line": 1, "column": 11}]},
	)
	{f.id | some f in found; f.id == "process-ungranted"} == tc[2]
}
