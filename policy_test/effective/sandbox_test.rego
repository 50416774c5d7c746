# What commands are kept in.
package toolwarrant.effective_test

import rego.v2

import data.toolwarrant.effective
import data.toolwarrant_test.fixture

_commands := {"removeDenyClasses": {"java.lang.ProcessBuilder"}}

_all := {"container", "docker", "firecracker", "gvisor", "podman", "process", "wasm"}

test_who_may_start_commands[note] if {
	some note, tc in {
		"nothing asked": {"set": {}, "may": false},
		"the deny lifted": {"set": _commands, "may": true},
		"a deny beside": {"set": {"removeDenyClasses": {"java.lang.Process"}}, "may": false},
		"denied again": {"set": object.union(_commands, {"addDenyClasses": {"java.lang.*"}}), "may": false},
		"allowed in vain": {"set": {"addAllowClasses": {"java.lang.ProcessBuilder"}}, "may": false},
		"not allowed": {"set": object.union(_commands, {"removeAllowClasses": {"java.lang.*"}}), "may": false},
		"allowed by name": {
			"set": object.union(_commands, {
				"removeAllowClasses": {"java.lang.*"},
				"addAllowClasses": {"java.lang.ProcessBuilder"},
			}),
			"may": true,
		},
	}
	policy := effective.policy with input as fixture.overriding(tc.set)
	{name | some name, _ in policy; name == "sandbox"} == {name | some name in ["sandbox"]; tc.may}
	starts := {true | effective.runs_commands with input as fixture.overriding(tc.set)}
	starts == {true | tc.may}
}

test_settings_without_sandbox_start_nothing if {
	policy := effective.policy with input as fixture.overriding(_commands)
		with data.toolwarrant.settings as object.remove(data.toolwarrant.settings, ["sandbox"])
	not "sandbox" in object.keys(policy)
}

test_default_sandbox if {
	effective.sandbox == {
		"image": "",
		"backends": _all,
		"require": {
			"fs-read": "full", "fs-write": "full", "memory": "full", "wallclock": "full",
			"processes": "full", "env": "full", "syscalls": "partial",
		},
		"limits": {"cpuMillis": 1000, "memoryMB": 256, "diskMB": 64, "maxProcesses": 64},
		"allowPartial": false,
		"env": set(),
		"warm": "",
	} with input as fixture.overriding(_commands)
}

_asking(asked) := fixture.tool({"sandbox": asked, "sandboxOverrides": object.union(fixture.no_overrides, _commands)})

test_an_author_asks_for_more_and_never_for_less[note] if {
	some note, tc in {
		"nothing": [{}, _all, "partial", 256],
		"one of them": [{"backends": ["gvisor", "plain"]}, {"gvisor"}, "partial", 256],
		"a stronger one": [{"require": {"syscalls": "full"}}, _all, "full", 256],
		"a weaker one": [{"require": {"syscalls": "none"}}, _all, "partial", 256],
		"a limit less": [{"limits": {"memoryMB": 64}}, _all, "partial", 64],
		"a limit more": [{"limits": {"memoryMB": 4096}}, _all, "partial", 256],
	}
	sandbox := effective.sandbox with input as _asking(tc[0])
	sandbox.backends == tc[1]
	sandbox.require.syscalls == tc[2]
	sandbox.limits.memoryMB == tc[3]
	sandbox.limits.diskMB == 64
}

test_an_author_may_require_what_nobody_else_does if {
	sandbox := effective.sandbox with input as _asking({"require": {"kernel": "full"}})
	sandbox.require.kernel == "full"
	sandbox.require.memory == "full"
}

_ruled(rules) := object.union(data.toolwarrant.settings.sandbox, {"rules": rules})

_rules := [
	{"tools": ["probe"], "tags": ["none-such"], "image": "dir:/no"},
	{
		"tools": ["probe"], "categories": ["MATH"], "tags": ["util"],
		"image": "dir:/img", "backends": ["gvisor"], "require": {"kernel": "full"},
		"limits": {"memoryMB": 512}, "allowPartial": true, "env": ["KEY"], "warm": "python",
	},
	{"image": "dir:/late"},
]

test_the_first_rule_that_matches if {
	effective.sandbox == {
		"image": "dir:/img",
		"backends": {"gvisor"},
		"require": {"kernel": "full"},
		"limits": {"cpuMillis": 1000, "memoryMB": 512, "diskMB": 64, "maxProcesses": 64},
		"allowPartial": true,
		"env": {"KEY"},
		"warm": "python",
	} with input as fixture.overriding(_commands)
		with data.toolwarrant.settings.sandbox as _ruled(_rules)
}

test_a_rule_for_everybody_else if {
	sandbox := effective.sandbox with input as fixture.overriding(_commands)
		with data.toolwarrant.settings.sandbox as _ruled([_rules[0], _rules[2]])
	sandbox.image == "dir:/late"
	sandbox.allowPartial == false
}

test_settings_without_rules if {
	sandbox := effective.sandbox with input as fixture.overriding(_commands)
	sandbox.image == ""
}

test_no_sandbox_left[note] if {
	some note, tc in {
		"none named": [{}, {}],
		"one of them": [{"backends": ["process"]}, {}],
		"none of them": [{"backends": ["plain"]}, {"sandbox-none-left"}],
	}
	found := effective.violations with input as _asking(tc[0])
	{v.id | some v in found} == {id | some id in tc[1]}
}

test_a_sandbox_that_is_not_used_is_no_violation if {
	effective.violations == set() with input as fixture.tool({"sandbox": {"backends": ["plain"]}})
}
