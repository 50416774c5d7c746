package egress

import (
	"encoding/json"
	"net/netip"
	"net/url"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"
)

// agrees fails the test if raw passes the gate and a browser would go
// elsewhere. It reports whether raw passes.
func agrees(t *testing.T, raw string) bool {
	t.Helper()
	got, f := parseTarget(raw)
	if f != nil {
		return false
	}
	want, err := browser.Parse(raw)
	if err != nil {
		t.Errorf("%q passes, and a browser cannot read it", raw)
		return true
	}
	host := strings.TrimSuffix(strings.Trim(want.Hostname(), "[]"), ".")
	if addr, err := netip.ParseAddr(host); err == nil {
		if v4, ok := spelled4(addr); ok {
			host = v4.String() // the gate calls such an address by its shortest name
		}
	}
	if want.Scheme() != got.url.Scheme || want.DecodedPort() != int(got.port) || host != got.host || want.Username()+want.Password() != "" {
		t.Errorf("%q: the gate judges %s, a browser reads %s", raw, got.origin(), want.Href(false))
	}
	return true
}

// TestReadings has URLs that parsers are known to read in two ways.
func TestReadings(t *testing.T) {
	const good, evil = "good.example", "evil.example"
	refused := []string{
		"http://" + good + "\\@" + evil + "/", "http:\\\\" + evil + "/", "http:/\\" + evil + "/",
		"http:" + good, "http:/" + good, "http:///" + good, "http:////" + good + "/", "https:" + good + "/x", "http:/" + good + "@" + evil,
		"ht\ntp://" + good, "ht\ttp://" + good, "http://" + good + "\t." + evil + "/", "http://go\nod.example", "http://good.ex\rample",
		"http://" + good + ":80@" + evil + "/", "http://" + good + "@" + evil, "http://" + good + "%40" + evil, "http://" + good + "%2f@" + evil,
		"http://" + good + "%00." + evil, "http://" + good + "%2e" + evil + "\\", "http://" + good + ":0x50/", "http://" + good + ":8 0/",
		"http://" + good + ":+80/", "http://" + good + ":٨٠/", "http://" + good + ":80:80/", "http://[::1]" + good + "/", "http://[::1]@" + evil + "/",
		"http://[::1%25lo]/", "http://[::ffff:7f.0.0.1]/", "http://1.2.3/4.5@" + evil + "\\", "//" + evil, "\\\\" + evil, "/\\" + evil, "http://" + good + "／@" + evil,
		"http://" + good + "\u2100/", "http://" + good + "？." + evil, "http://" + good + "＃." + evil, "http://" + good + "＠" + evil,
		"http://" + good + "：80", "http://a\u0000b/", "http://a<b/", "http://a>b/", "http://a^b/", "http://a|b/", "http://xn--/", "http://xn--ls8h=/",
		"http://" + good + "\u00ad\u200b\u2060@" + evil, "blob:http://" + good + "/", "view-source:http://" + good, "jar:http://" + good + "!/", "http;//" + good, "http//" + good,
		"http://;@" + evil + "/", "http://" + good + ";" + evil + "/", "http://" + good + "," + evil + "/", "http://" + good + "&@" + evil + "#@" + good, "http://" + good + " @" + evil,
	}
	for _, raw := range refused {
		if agrees(t, raw) {
			t.Errorf("%q passes", raw)
		}
	}
	passes := []string{
		"http://" + good, "http://" + good + "/@" + evil, "http://" + good + "?@" + evil, "http://" + good + "#@" + evil,
		"http://" + good + ":80/", "http://" + good + ":00080/", "http://" + good + ":", "http://GOOD.example./", "http://" + good + "/a:b@c", "http://" + good + "?u=http://" + evil,
		"http://g\u00adood.example/", "http://good\u3002example/", "http://faß.example/", "http://0x7f.1/", "http://0177.1/", "http://[::FFFF:127.0.0.1]/", "http://[0:0::1]/", "http://a_b.example/", "http://-a.example/",
	}
	for _, raw := range passes {
		if !agrees(t, raw) {
			_, f := parseTarget(raw)
			t.Errorf("%q is refused: %v", raw, f.Message)
		}
	}
}

// TestReadingsOfTheStandard takes the inputs of the WHATWG URL cases.
func TestReadingsOfTheStandard(t *testing.T) {
	dir, err := exec.Command("go", "list", "-m", "-f", "{{.Dir}}", "github.com/nlnwa/whatwg-url").Output()
	if err != nil {
		t.Skipf("no go command tells where the module is: %v", err)
	}
	b, err := os.ReadFile(filepath.Join(strings.TrimSpace(string(dir)), "testdata", "urltestdata.json"))
	if err != nil {
		t.Fatal(err)
	}
	var list []json.RawMessage
	if err := json.Unmarshal(b, &list); err != nil {
		t.Fatal(err)
	}
	pass, total, differ := 0, 0, 0
	for _, raw := range list {
		var c struct {
			Input string
			Base  string
			Href  string
		}
		if json.Unmarshal(raw, &c) != nil {
			continue // a comment
		}
		total++
		if agrees(t, c.Input) {
			pass++
		}
		// As the target of a redirect, it leads where a browser goes.
		if from, f := parseTarget(c.Base); f == nil {
			if next, f := redirectTarget(from, c.Input); f == nil && c.Href == "" {
				t.Errorf("%q from %s leads to %s and cannot be read", c.Input, c.Base, next.origin())
			} else if f == nil {
				agrees(t, next.url.String())
				if want, err := url.Parse(c.Href); err != nil || want.Scheme != next.url.Scheme {
					t.Errorf("%q from %s leads to %s, a browser goes to %s", c.Input, c.Base, next.origin(), c.Href)
				}
			}
		}
		if u, err := url.Parse(strings.Trim(c.Input, " \t\r\n")); err == nil {
			if to, f := checkURL(u); f == nil && sameReading(to, c.Input, nil) != nil {
				differ++
			}
		}
	}
	t.Logf("%d of %d inputs pass; %d are refused for their two readings alone", pass, total, differ)
	if total < 700 || pass < 20 {
		t.Errorf("%d of %d inputs pass", pass, total)
	}
}

// FuzzReadings looks for a URL that passes and leads elsewhere in a browser.
func FuzzReadings(f *testing.F) {
	for _, s := range []string{"http://good.example\\@evil.example/", "http://[::1]:80@x/", "http://0x7f.1:080/?#", "https://a.b./\u3002"} {
		f.Add(s)
	}
	f.Fuzz(func(t *testing.T, raw string) { agrees(t, raw) })
}
