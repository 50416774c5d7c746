# The risk table: every signal, with the level that it gives.
package toolwarrant.risk_test

import rego.v2

import data.toolwarrant.effective
import data.toolwarrant.risk
import data.toolwarrant_test.fixture

test_levels[note] if {
	some note, tc in {
		"default posture": {"set": {}, "level": "L0", "ids": set()},
		"explicit falses": {
			"set": {"fileRead": false, "fileWrite": false, "networkMode": "blocked", "destructive": false},
			"level": "L0",
			"ids": set(),
		},
		"allowlist with hosts": {
			"set": {"networkMode": "allowlist", "hostsAllow": {"api.upbit.com"}},
			"level": "L3",
			"ids": {"network-allowlist"},
		},
		"allowlist without hosts": {
			"set": {"networkMode": "allowlist"},
			"level": "L3",
			"ids": {"network-allowlist"},
		},
		"allowlist with a wildcard": {
			"set": {"networkMode": "allowlist", "hostsAllow": {"*", "a.example"}},
			"level": "L4",
			"ids": {"network-allowlist", "network-wildcard"},
		},
		"allowlist with a wildcard and a port": {
			"set": {"networkMode": "allowlist", "hostsAllow": {"*:443"}},
			"level": "L4",
			"ids": {"network-allowlist", "network-wildcard"},
		},
		"hosts outside allowlist mode": {"set": {"hostsAllow": {"*"}}, "level": "L0", "ids": set()},
		"strict": {"set": {"networkMode": "strict"}, "level": "L3", "ids": {"network-strict"}},
		"open": {"set": {"networkMode": "open"}, "level": "L4", "ids": {"network-open"}},
		"file read": {"set": {"fileRead": true}, "level": "L3", "ids": {"file-read"}},
		"file write": {"set": {"fileWrite": true}, "level": "L4", "ids": {"file-write"}},
		"file read and write": {
			"set": {"fileRead": true, "fileWrite": true},
			"level": "L4",
			"ids": {"file-write"},
		},
		"destructive": {"set": {"destructive": true}, "level": "L5", "ids": {"destructive"}},
	}
	result := {"level": risk.level, "ids": {s.id | some s in risk.signals}} with input as fixture.overriding(tc.set)
	result == {"level": tc.level, "ids": tc.ids}
}

test_removed_denies[note] if {
	some note, tc in {
		"one": {"remove": {"java.lang.Thread"}, "level": "L3", "ids": {"deny-removed"}},
		"two": {
			"remove": {"java.lang.Thread", "java.lang.ThreadGroup"},
			"level": "L3",
			"ids": {"deny-removed"},
		},
		"three": {
			"remove": {"java.lang.Thread", "java.lang.ThreadGroup", "java.util.spi.*"},
			"level": "L4",
			"ids": {"deny-removed-many"},
		},
		"not on the list": {"remove": {"java.lang.Nothing", "java.lang.*"}, "level": "L0", "ids": set()},
		"Class": {
			"remove": {"java.lang.Class"},
			"level": "L4",
			"ids": {"deny-removed", "deny-removed-reflection"},
		},
		"ClassLoader": {
			"remove": {"java.lang.ClassLoader"},
			"level": "L4",
			"ids": {"deny-removed", "deny-removed-reflection"},
		},
		"invoke": {
			"remove": {"java.lang.invoke.*"},
			"level": "L4",
			"ids": {"deny-removed", "deny-removed-reflection"},
		},
		"reflect": {
			"remove": {"java.lang.reflect.*"},
			"level": "L4",
			"ids": {"deny-removed", "deny-removed-reflection"},
		},
		"ServiceLoader": {
			"remove": {"java.util.ServiceLoader"},
			"level": "L4",
			"ids": {"deny-removed", "deny-removed-reflection"},
		},
		"System": {
			"remove": {"java.lang.System"},
			"level": "L5",
			"ids": {"deny-removed", "deny-removed-critical"},
		},
		"Runtime": {
			"remove": {"java.lang.Runtime"},
			"level": "L5",
			"ids": {"deny-removed", "deny-removed-critical"},
		},
		"Process": {
			"remove": {"java.lang.Process"},
			"level": "L5",
			"ids": {"deny-removed", "deny-removed-critical"},
		},
		"ProcessBuilder": {
			"remove": {"java.lang.ProcessBuilder"},
			"level": "L5",
			"ids": {"deny-removed", "deny-removed-critical"},
		},
	}
	tested := fixture.overriding({"removeDenyClasses": tc.remove})
	result := {"level": risk.level, "ids": {s.id | some s in risk.signals}} with input as tested
	result == {"level": tc.level, "ids": tc.ids}
}

test_critical_classes_allowed[class] if {
	some class in {
		"java.lang.System",
		"java.lang.Runtime",
		"java.lang.Process",
		"java.lang.ProcessHandle",
		"java.lang.ProcessBuilder",
	}
	_scores(class, "L5", "allow-critical")
}

test_file_writing_classes_allowed[class] if {
	some class in {
		"java.io.FileWriter",
		"java.io.FileOutputStream",
		"java.io.RandomAccessFile",
		"java.nio.channels.FileChannel",
	}
	_scores(class, "L5", "allow-file-write")
}

test_reflection_classes_allowed[class] if {
	some class in {
		"java.lang.Class",
		"java.lang.reflect.Method",
		"java.lang.invoke.MethodHandles",
		"java.lang.reflect.*",
	}
	_scores(class, "L4", "allow-reflection")
}

test_network_classes_allowed[class] if {
	some class in {
		"java.net.http.HttpClient",
		"java.net.http.*",
		"java.net.Socket",
		"java.net.URL",
		"java.net.URLConnection",
		"java.net.HttpURLConnection",
		"java.nio.channels.SocketChannel",
		"javax.net.ssl.SSLContext",
		"org.jsoup.Jsoup",
	}
	_scores(class, "L4", "allow-network")
}

test_file_reading_classes_allowed[class] if {
	some class in {
		"java.io.File",
		"java.io.FileReader",
		"java.io.FileInputStream",
		"java.nio.file.Files",
		"java.nio.file.Path",
		"java.nio.file.Paths",
	}
	_scores(class, "L4", "allow-file-read")
}

test_other_classes_allowed[class] if {
	some class in {"java.io.Filer", "com.example.Thing", "com.example.*"}
	_scores(class, "L3", "allow-other")
}

test_wildcards_score_as_their_worst_member[class] if {
	some class, tc in {
		"java.io.*": ["L5", "allow-file-write"],
		"java.nio.*": ["L5", "allow-file-write"],
		"java.nio.channels.*": ["L5", "allow-file-write"],
		"java.nio.file.*": ["L4", "allow-file-read"],
		"java.net.*": ["L4", "allow-network"],
		"java.*": ["L5", "allow-critical"],
		"javax.*": ["L4", "allow-network"],
		"org.*": ["L4", "allow-network"],
	}
	_scores(class, tc[0], tc[1])
}

test_an_allow_of_the_baseline_is_no_signal if {
	risk.signals == set() with input as fixture.overriding({"addAllowClasses": {"java.lang.*"}})
}

_scores(class, level, id) if {
	tested := fixture.overriding({"addAllowClasses": {class}})
	result := {"level": risk.level, "ids": {s.id | some s in risk.signals}} with input as tested
	result.level == level
	id in result.ids
}

test_message_names_the_cause if {
	messages := {s.message | some s in risk.signals} with input as fixture.overriding({
		"networkMode": "allowlist",
		"hostsAllow": {"b.example", "a.example"},
	})
	messages == {"may reach the listed hosts: a.example, b.example"}
}

test_several_kinds_at_once if {
	ids := {s.id | some s in risk.signals} with input as fixture.overriding({"addAllowClasses": {
		"java.io.*",
		"com.example.Thing",
	}})
	ids == {"allow-file-read", "allow-file-write", "allow-other"}
	several := fixture.overriding({"addAllowClasses": {"java.io.*", "com.example.Thing"}})
	risk.added_kinds == {"file-read": {"java.io.*"}, "file-write": {"java.io.*"}} with input as several
	risk.added_other == {"com.example.Thing"} with input as several
}

test_an_added_and_removed_allow_still_counts if {
	tested := fixture.overriding({
		"addAllowClasses": {"com.example.Thing"},
		"removeAllowClasses": {"com.example.Thing"},
	})
	risk.level == "L3" with input as tested
	effective.added_allows == {"com.example.Thing"} with input as tested
}

test_an_allow_of_a_profile_counts if {
	widened := fixture.baseline.allowClasses | {"java.net.URL"}
	risk.level == "L4" with input as fixture.folded(fixture.plain, {"allowClasses": widened})
}

test_a_private_host_is_at_least_l4[note] if {
	some note, tc in {
		"named": {"hosts": {"db.internal"}, "level": "L4"},
		"named with port": {"hosts": {"db.internal:8080"}, "level": "L4"},
		"not named": {"hosts": {"api.example"}, "level": "L3"},
		"by a wildcard, which does not open it": {"hosts": {"*.internal"}, "level": "L3"},
	}
	tested := fixture.operated(
		fixture.overriding({"networkMode": "allowlist", "hostsAllow": tc.hosts}),
		{"privateHosts": {"db.internal": {"db.internal:8080"}, "db.internal:8080": {"db.internal:8080"}}},
	)
	risk.level == tc.level with input as tested
	named := tc.hosts & {"db.internal", "db.internal:8080"}
	count(effective.private_hosts) == count(named) with input as tested
}
