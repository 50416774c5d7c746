package attack

import "github.com/toolwarrant/toolwarrant/executor/worker"

// inTime leaves the call less time than the network would take.
var inTime = func(l *worker.Limits) { l.TimeoutMillis = 700 }

// networkAttacks try to reach what is not granted, or let a server strike.
var networkAttacks = []attack{
	{name: "host off the list", class: "network", code: `fetch("https://evil.example/")`, want: "SECURITY/host-not-in-allowlist"},
	{name: "another host in the user part", class: "network", code: `fetch("http://a.test@evil.example/")`, want: "INVALID_INPUT/invalid-url"},
	{name: "backslash", class: "network", code: `fetch("http://evil.example\\@a.test/")`, want: "INVALID_INPUT/invalid-url"},
	{name: "scheme", class: "network", code: `fetch("file:///etc/passwd")`, want: "SECURITY/unsupported-scheme"},
	{name: "gopher", class: "network", code: `fetch("gopher://127.0.0.1:6379/_FLUSHALL")`, want: "SECURITY/unsupported-scheme"},
	{name: "no host", class: "network", code: `fetch("http:///etc/passwd")`, want: "SECURITY/missing-host"},
	{name: "loopback", class: "network", code: `fetch("http://127.0.0.1:" + new URL(BASE).port)`, want: "SECURITY/literal-private-ip"},
	{name: "loopback, hexadecimal", class: "network", code: `fetch("http://0x7f.1/")`, want: "SECURITY/literal-private-ip"},
	{name: "loopback, short", class: "network", code: `fetch("http://127.1/")`, want: "SECURITY/literal-private-ip"},
	{name: "loopback, octal", class: "network", code: `fetch("http://0177.0.0.1/")`, want: "SECURITY/literal-private-ip"},
	{name: "loopback, one number", class: "network", code: `fetch("http://2130706433/")`, want: "SECURITY/literal-private-ip"},
	{name: "loopback, wide digits", class: "network", code: `fetch("http://１２７.０.０.１/")`, want: "SECURITY/literal-private-ip"},
	{name: "loopback, mapped", class: "network", code: `fetch("http://[::ffff:127.0.0.1]/")`, want: "SECURITY/literal-private-ip"},
	{name: "loopback, NAT64", class: "network", code: `fetch("http://[64:ff9b::127.0.0.1]/")`, want: "SECURITY/literal-private-ip"},
	{name: "unspecified", class: "network", code: `fetch("http://[::]/")`, want: "SECURITY/literal-private-ip"},
	{name: "metadata", class: "network", code: `fetch("http://169.254.169.254/latest/meta-data/")`, want: "SECURITY/literal-private-ip"},
	{name: "private behind a name", class: "network", code: `fetch("http://meta.test/")`, want: "SECURITY/resolved-private-ip"},
	{name: "mapped behind a name", class: "network", code: `fetch("http://mapped.test/")`, want: "SECURITY/resolved-private-ip"},
	{name: "NAT64 behind a name", class: "network", code: `fetch("http://nat64.test/")`, want: "SECURITY/resolved-private-ip"},
	{name: "another port of an open host", class: "network", code: `fetch("http://a.test:1/")`, want: "SECURITY/resolved-private-ip"},
	{name: "redirect to loopback", class: "network", code: `fetch(BASE + "/go?http://127.0.0.1/")`, want: "SECURITY/literal-private-ip"},
	{name: "redirect to metadata", class: "network", code: `fetch(BASE + "/go?http://meta.test/")`, want: "SECURITY/resolved-private-ip"},
	{name: "redirect off the list", class: "network", code: `fetch(BASE + "/go?http://evil.example/")`, want: "SECURITY/host-not-in-allowlist"},
	{name: "redirect to a file", class: "network", code: `fetch(BASE + "/go?file:///etc/passwd")`, want: "SECURITY/unsupported-scheme"},
	{name: "redirect loop", class: "network", code: `fetch(BASE + "/loop")`, want: "SECURITY/too-many-redirects"},
	{name: "injected header", class: "network", code: `fetch(BASE + "/ok", { headers: { "X": "a\r\nHost: evil" } })`, want: "INVALID_INPUT/invalid-header"},
	{name: "injected method", class: "network", code: `fetch(BASE + "/ok", { method: "GET / HTTP/1.1\r\nX: y\r\n\r\nGET" })`, want: "INVALID_INPUT/invalid-method"},
	{name: "tunnel", class: "network", code: `fetch(BASE + "/ok", { method: "CONNECT" })`, want: "INVALID_INPUT/invalid-method"},
	{name: "silent server", class: "network", limits: inTime, code: `try { fetch(BASE + "/silent") } catch (e) { return "caught" }`, want: "TIMEOUT/deadline"},
	{name: "slow head", class: "network", limits: inTime, code: `try { fetch(BASE + "/slow-head") } catch (e) { return "caught" }`, want: "TIMEOUT/deadline"},
	{name: "slow body", class: "network", limits: inTime, code: `await Promise.all([1, 2, 3].map(() => fetch(BASE + "/slow-body")))`, want: "TIMEOUT/deadline"},
	{name: "endless headers", class: "network", code: `fetch(BASE + "/headers")`, want: "HELPER_RUNTIME/io"},
	{name: "huge header", class: "network", code: `fetch(BASE + "/header")`, want: "HELPER_RUNTIME/io"},
	{name: "chunked garbage", class: "network", code: `fetch(BASE + "/chunks")`, want: "HELPER_RUNTIME/io"},
	{name: "short body", class: "network", code: `fetch(BASE + "/short")`, want: "HELPER_RUNTIME/io"},
	{name: "endless body", class: "network", code: `fetch(BASE + "/endless")`, want: "SECURITY/response-body-too-large"},
	{name: "gzip bomb", class: "network", code: `fetch(BASE + "/bomb")`, want: "SECURITY/response-body-too-large"},
	{name: "deep JSON", class: "network", code: `return fetch(BASE + "/deep").json()`, want: "HELPER_RUNTIME/invalid-json"},
	{name: "a million fetches", class: "network", limits: func(l *worker.Limits) { l.TimeoutMillis, l.MaxStatements = 120_000, 0 },
		code: `for (let i = 0; i < 1e6; i++) try { fetch("http://127.0.0.1/") } catch (e) { if (e.kind === "RESOURCE_LIMIT") throw e }`, want: "RESOURCE_LIMIT/operations"},
	{name: "a million fetches at once", class: "network", limits: func(l *worker.Limits) { l.TimeoutMillis, l.MaxStatements = 120_000, 0 },
		code: `await Promise.all((function* () { for (let i = 0; i < 1e6; i++) yield fetch("http://evil.example/") })())`, want: "SECURITY/host-not-in-allowlist"},
	{name: "fetches after the cap", class: "network", limits: func(l *worker.Limits) { l.TimeoutMillis, l.MaxStatements = 120_000, 0 },
		code: `let last; for (let i = 0; i < 20000; i++) try { fetch("http://127.0.0.1/") } catch (e) { last = e.reason } return last`, want: `= "operations"`},
	{name: "huge request", class: "network", code: `fetch(BASE + "/ok", { method: "POST", body: "x".repeat(11 << 20) })`, want: "INVALID_INPUT/request-too-large"},
	{name: "huge URL", class: "network", code: `fetch(BASE + "/ok?" + "x".repeat(1 << 20))`, want: "INVALID_INPUT/invalid-url"},
	{name: "URL that changes", class: "network", code: `let n = 0; return fetch({ toString: () => n++ ? "http://127.0.0.1/" : BASE + "/ok" }).text() + n`, want: `= "ok1"`},
	{name: "negative range", class: "network", code: `fetch(BASE + "/ok", { startIndex: -1 })`, want: "INVALID_INPUT/invalid-range"},
	{name: "unending range", class: "network", code: `return fetch(BASE + "/ok", { startIndex: 1, maxLength: Infinity }).text()`, want: `= "k"`},
}

// fileAttacks try to leave the base folder.
var fileAttacks = []attack{
	{name: "parent", class: "files", code: `safety.fs.readText("../../../../etc/passwd")`, want: "SECURITY/path-escapes-base"},
	{name: "absolute", class: "files", code: `safety.fs.readText("/etc/passwd")`, want: "SECURITY/path-escapes-base"},
	{name: "link", class: "files", code: `safety.fs.readText("passwd")`, want: "SECURITY/path-escapes-base"},
	{name: "link to the parent", class: "files", code: `safety.fs.list("up")`, want: "SECURITY/path-escapes-base"},
	{name: "write through a link", class: "files", code: `safety.fs.writeText("passwd", "x")`, want: "SECURITY/write-through-symlink"},
	{name: "zero byte", class: "files", code: `safety.fs.readText("a.txt\0.png")`, want: "INVALID_INPUT/invalid-path"},
	{name: "pattern", class: "files", code: `return safety.fs.grep("(a+)+$", "aaaa.txt").length`, want: "= 0"},
	{name: "huge pattern", class: "files", code: `safety.fs.grep("(a{1000}){1000}", "aaaa.txt")`, want: "INVALID_INPUT/grep-invalid-pattern"},
	{name: "object as a path", class: "files", code: `safety.fs.readText({ toString: () => "a.txt" })`, want: "INVALID_INPUT/invalid-arguments"},
}

// parserAttacks are documents that unfold.
var parserAttacks = []attack{
	{name: "YAML aliases", class: "parser", code: `let s = "a0: &a0 [x,x,x,x,x,x,x,x,x]\n"; for (let i = 1; i < 12; i++) s += "a" + i + ": &a" + i + " [" + Array(9).fill("*a" + (i - 1)).join() + "]\n"; safety.parser.yaml(s)`, want: "HELPER_RUNTIME/parse-failed"},
	{name: "YAML tags", class: "parser", code: `safety.parser.yaml("!!java.lang.ProcessBuilder [id]")`, want: "HELPER_RUNTIME/parse-failed"},
	{name: "XML entities", class: "parser", code: "safety.parser.xml('<!DOCTYPE a [<!ENTITY a \"aaaa\"><!ENTITY b \"&a;&a;\">]><a>&b;</a>')", want: "HELPER_RUNTIME/parse-failed"},
	{name: "XML external entity", class: "parser", code: `safety.parser.xml('<!DOCTYPE a [<!ENTITY x SYSTEM "file:///etc/passwd">]><a>&x;</a>')`, want: "HELPER_RUNTIME/parse-failed"},
	{name: "XML depth", class: "parser", code: `safety.parser.xml("<a>".repeat(100000))`, want: "HELPER_RUNTIME/parse-failed"},
	{name: "HTML depth", class: "parser", code: `safety.parser.html("<div>".repeat(100000))`, want: "HELPER_RUNTIME/parse-failed"},
	{name: "huge document", class: "parser", code: `const s = "a,".repeat(1 << 22); safety.parser.csv(s + s + s)`, want: "INVALID_INPUT/input-too-large"},
	{name: "one record of a million fields", class: "parser", code: `return safety.parser.csv(",".repeat(1e6)).length`, want: "= 1"},
	{name: "fields beyond the header", class: "parser", code: `return safety.parser.csv("a\n" + ",".repeat(5e6), { header: true }).length`, want: "= 1"},
	{name: "a header of 60,000 names", class: "parser", code: `let s = ""; for (let i = 0; i < 60000; i++) s += i.toString(36) + ","; safety.parser.csv(s, { header: true })`, want: "HELPER_RUNTIME/parse-failed"},
}

// classAttacks ask for classes that are denied.
var classAttacks = []attack{
	{name: "denied", class: "classes", code: `Java.type("java.lang.System")`, want: "SECURITY/class-denied"},
	{name: "denied by prefix", class: "classes", code: `Java.type("java.lang.reflect.Method")`, want: "SECURITY/class-denied"},
	{name: "not allowed", class: "classes", code: `Java.type("java.io.File")`, want: "SECURITY/class-not-allowed"},
	{name: "array of a denied class", class: "classes", code: `Java.type("java.lang.System[]")`, want: "INVALID_INPUT/invalid-class-name"},
	{name: "denied with a space", class: "classes", code: `Java.type("java.lang.System ")`, want: "INVALID_INPUT/invalid-class-name"},
	{name: "denied with a zero byte", class: "classes", code: `Java.type("java.lang.System\0")`, want: "INVALID_INPUT/invalid-class-name"},
	{name: "name that changes", class: "classes", code: `let n = 0; Java.type({ toString: () => n++ ? "java.lang.System" : "java.lang.Math" })`, want: "INVALID_INPUT/class-name-required"},
	{name: "huge number", class: "classes", code: `const I = Java.type("java.math.BigInteger"); let n = I.TWO; for (let i = 0; i < 64; i++) n = n.pow(1 << 20)`, want: "INVALID_INPUT/too-large"},
}
