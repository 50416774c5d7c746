# The fold of the layers and what it refuses.
package toolwarrant.effective_test

import rego.v2

import data.toolwarrant.effective
import data.toolwarrant_test.fixture

test_no_overrides_give_the_baseline if {
	policy := effective.policy with input as fixture.plain
	policy == {
		"allowClasses": fixture.baseline.allowClasses,
		"denyClasses": fixture.baseline.denyClasses,
		"network": {
			"mode": "blocked",
			"hosts": set(),
			"hostsDeny": set(),
			"ports": set(),
			"privateHosts": set(),
		},
		"fs": {"read": false, "write": false, "basePath": "/base"},
		"env": set(),
		"maxStatements": 500000,
		"timeoutSeconds": 30,
		"maxMemoryBytes": 134217728,
		"maxOutputBytes": 1048576,
		"maxLogLines": 1000,
	}
}

test_plan_holds_policy_and_violations if {
	plan := effective.plan with input as fixture.plain
	plan.violations == set()
	plan.folded.network.mode == "blocked"
	effective.folded == plan.folded with input as fixture.plain
}

test_plan_says_what_the_layers_come_to if {
	plan := effective.plan with input as object.remove(fixture.overriding({"fileRead": true}), ["principal", "call", "now"])
	plan.riskLevel == "L3"
	{signal.id | some signal in plan.riskSignals} == {"file-read"}
}

test_class_algebra[note] if {
	some note, tc in {
		"add": {"set": {"addAllowClasses": {"a.B"}}, "in": {"a.B", "java.lang.*"}, "out": set()},
		"remove": {"set": {"removeAllowClasses": {"java.util.*"}}, "in": {"java.lang.*"}, "out": {"java.util.*"}},
		"remove wins over add": {
			"set": {"addAllowClasses": {"a.B"}, "removeAllowClasses": {"a.B"}},
			"in": set(),
			"out": {"a.B"},
		},
	}
	allowed := effective.allow_classes with input as fixture.overriding(tc.set)
	tc.in - allowed == set()
	tc.out & allowed == set()
}

test_deny_algebra[note] if {
	some note, tc in {
		"add": {"set": {"addDenyClasses": {"a.B"}}, "in": {"a.B", "java.lang.System"}, "out": set()},
		"remove": {
			"set": {"removeDenyClasses": {"java.lang.Thread"}},
			"in": {"java.lang.System"},
			"out": {"java.lang.Thread"},
		},
	}
	denied := effective.deny_classes with input as fixture.overriding(tc.set)
	tc.in - denied == set()
	tc.out & denied == set()
}

test_explicit_values_win_over_inherited_ones[note] if {
	some note, tc in {
		"absent inherits": {"set": {}, "mode": "strict", "read": true, "write": true},
		"false clears": {"set": {"fileRead": false}, "mode": "strict", "read": false, "write": true},
		"false clears write": {"set": {"fileWrite": false}, "mode": "strict", "read": true, "write": false},
		"a mode narrows": {"set": {"networkMode": "blocked"}, "mode": "blocked", "read": true, "write": true},
	}
	generous := fixture.folded(fixture.overriding(tc.set), {
		"fileRead": true,
		"fileWrite": true,
		"network": {"mode": "strict", "hosts": set(), "hostsDeny": set(), "ports": set()},
	})
	policy := effective.policy with input as generous
	policy.network.mode == tc.mode
	policy.fs.read == tc.read
	policy.fs.write == tc.write
	effective.network_mode == tc.mode with input as generous
	effective.file_read == tc.read with input as generous
	effective.file_write == tc.write with input as generous
}

test_hosts_unite_in_allowlist_mode_only[note] if {
	some note, tc in {
		"allowlist": {"mode": "allowlist", "hosts": {"a.example", "b.example"}},
		"strict": {"mode": "strict", "hosts": set()},
		"blocked": {"mode": "blocked", "hosts": set()},
	}
	layered := fixture.folded(
		fixture.overriding({"networkMode": tc.mode, "hostsAllow": {"b.example"}}),
		{"network": {"mode": "blocked", "hosts": {"a.example"}, "hostsDeny": {"c.example"}, "ports": {443}}},
	)
	network := effective.policy.network with input as layered
	network.hosts == tc.hosts
	effective.hosts == tc.hosts with input as layered
	network.hostsDeny == {"c.example"}
	network.ports == {443}
}

test_ceilings_hold if {
	chain := effective.chain with input as fixture.chained([{"timeoutSeconds": 9999, "maxLogLines": 5}])
	chain.timeoutSeconds == 300
	chain.maxLogLines == 5
}

test_chain_without_profiles_is_the_baseline if {
	chain := effective.chain with input as fixture.plain
	chain == fixture.baseline
}

test_chain_folds_root_first if {
	chain := effective.chain with input as fixture.chained([
		{
			"allowClasses": {"a.Root"},
			"denyClasses": {"d.Root"},
			"network": {"mode": "strict", "hosts": {"root.example"}, "hostsDeny": set()},
			"fileRead": true,
			"timeoutSeconds": 20,
		},
		{
			"allowClasses": {"a.Leaf"},
			"network": {"mode": "allowlist", "hosts": {"leaf.example"}, "ports": {443}},
			"fileRead": false,
			"timeoutSeconds": 5,
		},
	])
	chain.allowClasses == fixture.baseline.allowClasses | {"a.Root", "a.Leaf"}
	chain.denyClasses == fixture.baseline.denyClasses | {"d.Root"}
	chain.network == {
		"mode": "allowlist",
		"hosts": {"root.example", "leaf.example"},
		"hostsDeny": set(),
		"ports": {443},
	}
	chain.fileRead == false
	chain.fileWrite == false
	chain.timeoutSeconds == 5
	chain.maxStatements == 500000
}

test_a_profile_cannot_lift_a_baseline_deny if {
	chain := effective.chain with input as fixture.chained([{"removeDenyClasses": {"java.lang.System"}}])
	"java.lang.System" in chain.denyClasses
}

test_the_tool_can_lift_a_baseline_deny if {
	tested := fixture.overriding({"removeDenyClasses": {"java.lang.System"}})
	not "java.lang.System" in effective.deny_classes with input as tested
	effective.removed_denies == {"java.lang.System"} with input as tested
}

test_env[note] if {
	everyone := {"names": {"KEY", "API_*"}, "tools": set(), "categories": set(), "sources": set()}
	some note, tc in {
		"nothing granted": {"source": "user", "manifest": set(), "grants": [], "env": set()},
		"bundled by manifest": {"source": "builtin", "manifest": {"KEY"}, "grants": [], "env": {"KEY"}},
		"bundled tools take no grants": {"source": "builtin", "manifest": set(), "grants": [everyone], "env": set()},
		"manifests of others count for nothing": {"source": "user", "manifest": {"KEY"}, "grants": [], "env": set()},
		"granted to all": {"source": "user", "manifest": set(), "grants": [everyone], "env": {"KEY", "API_ONE"}},
		"granted by tool name": {
			"source": "user",
			"manifest": set(),
			"grants": [object.union(everyone, {"tools": {"pro*"}})],
			"env": {"KEY", "API_ONE"},
		},
		"granted to another tool": {
			"source": "user",
			"manifest": set(),
			"grants": [object.union(everyone, {"tools": {"other"}})],
			"env": set(),
		},
		"granted to another category": {
			"source": "user",
			"manifest": set(),
			"grants": [object.union(everyone, {"categories": {"WEB"}})],
			"env": set(),
		},
		"granted to another source": {
			"source": "user",
			"manifest": set(),
			"grants": [object.union(everyone, {"sources": {"shop"}})],
			"env": set(),
		},
		"never our own": {
			"source": "user",
			"manifest": set(),
			"grants": [object.union(everyone, {"names": {"*"}})],
			"env": {"KEY", "API_ONE", "OTHER"},
		},
	}
	tested := fixture.operated(
		fixture.tool({
			"source": tc.source,
			"manifestEnv": tc.manifest,
			"placeholders": {"KEY", "API_ONE", "OTHER", "TOOLWARRANT_HOME"},
		}),
		{"grants": tc.grants},
	)
	env := effective.env with input as tested
	env == tc.env
}

test_violations[note] if {
	some note, tc in {
		"none": {"set": {}, "found": set()},
		"baseline java.lang.* beside java.lang.System is no overlap": {
			"set": {"removeDenyClasses": {"java.lang.Thread"}},
			"found": set(),
		},
		"the same class added to both": {
			"set": {"addAllowClasses": {"a.B"}, "addDenyClasses": {"a.B"}},
			"found": {["class-overlap", "/sandboxOverrides/addAllowClasses", "a.B"]},
		},
		"an allow that the baseline denies": {
			"set": {"addAllowClasses": {"java.lang.System"}},
			"found": {["class-overlap", "/sandboxOverrides/addAllowClasses", "java.lang.System"]},
		},
		"a deny that the baseline allows": {
			"set": {"addDenyClasses": {"java.math.*"}},
			"found": {["class-overlap", "/sandboxOverrides/addDenyClasses", "java.math.*"]},
		},
		"an allow and the removal of its deny": {
			"set": {"addAllowClasses": {"java.lang.System"}, "removeDenyClasses": {"java.lang.System"}},
			"found": set(),
		},
		"a class under a denied package": {
			"set": {"addAllowClasses": {"java.lang.reflect.Method"}},
			"found": {["dead-grant", "/sandboxOverrides/addAllowClasses", "java.lang.reflect.Method"]},
		},
		"a package under a denied package": {
			"set": {"addAllowClasses": {"com.a.b.*"}, "addDenyClasses": {"com.a.*"}},
			"found": {["dead-grant", "/sandboxOverrides/addAllowClasses", "com.a.b.*"]},
		},
		"a class under a package whose deny is lifted": {
			"set": {
				"addAllowClasses": {"java.lang.reflect.Method"},
				"removeDenyClasses": {"java.lang.reflect.*"},
			},
			"found": set(),
		},
		"a package above a deny": {"set": {"addAllowClasses": {"java.*"}}, "found": set()},
		"open without the operator": {
			"set": {"networkMode": "open"},
			"found": {["open-mode-not-allowed", "/sandboxOverrides/networkMode", "open"]},
		},
		"a base below the base": {"set": {"fsBasePath": "/base/a/b"}, "found": set()},
		"the base itself": {"set": {"fsBasePath": "/base"}, "found": set()},
		"a base below another root": {"set": {"fsBasePath": "/data/x"}, "found": set()},
		"a base beside the base": {
			"set": {"fsBasePath": "/based"},
			"found": {["base-path-outside", "/sandboxOverrides/fsBasePath", "/based"]},
		},
		"a base elsewhere": {
			"set": {"fsBasePath": "/etc"},
			"found": {["base-path-outside", "/sandboxOverrides/fsBasePath", "/etc"]},
		},
		"a base with a NUL": {
			"set": {"fsBasePath": "/base/\u0000"},
			"found": {["base-path-outside", "/sandboxOverrides/fsBasePath", "/base/\u0000"]},
		},
	}
	found := {[v.id, v.pointer, v.value] | some v in effective.violations} with input as fixture.overriding(tc.set)
	found == tc.found
}

test_open_with_the_operator if {
	tested := fixture.operated(fixture.overriding({"networkMode": "open"}), {"allowOpenMode": true})
	effective.violations == set() with input as tested
}

test_a_violation_of_the_layers_points_at_the_whole_document if {
	layered := fixture.folded(fixture.plain, {
		"allowClasses": {"java.lang.System"},
		"network": {"mode": "open", "hosts": set(), "hostsDeny": set(), "ports": set()},
	})
	found := {[v.id, v.pointer] | some v in effective.violations} with input as layered
	found == {["class-overlap", ""], ["open-mode-not-allowed", ""]}
}

test_the_root_folder_as_a_root if {
	tested := fixture.operated(fixture.overriding({"fsBasePath": "/etc"}), {"roots": {"/"}})
	effective.violations == set() with input as tested
	effective.base_path == "/etc" with input as tested
	effective.base_inside with input as tested
}
