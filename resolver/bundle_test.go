package resolver

import (
	"archive/tar"
	"bytes"
	"compress/gzip"
	"context"
	"crypto/ecdsa"
	"crypto/elliptic"
	"crypto/rand"
	"crypto/rsa"
	"crypto/x509"
	"encoding/json"
	"encoding/pem"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/open-policy-agent/opa/v1/bundle"

	"github.com/toolwarrant/toolwarrant/fault"
	"github.com/toolwarrant/toolwarrant/keyring"
)

// keyPair writes a pair of keys and gives the files.
func keyPair(t testing.TB, kind string) (private, public string) {
	t.Helper()
	var key interface{ Public() any }
	if kind == "RSA" {
		k, err := rsa.GenerateKey(rand.Reader, 2048)
		if err != nil {
			t.Fatal(err)
		}
		key = anyKey{k, k.Public()}
	} else {
		k, err := ecdsa.GenerateKey(elliptic.P256(), rand.Reader)
		if err != nil {
			t.Fatal(err)
		}
		key = anyKey{k, k.Public()}
	}
	dir := t.TempDir()
	write := func(name, kind string, der []byte, err error) string {
		if err != nil {
			t.Fatal(err)
		}
		file := filepath.Join(dir, name)
		if err := os.WriteFile(file, pem.EncodeToMemory(&pem.Block{Type: kind, Bytes: der}), 0o600); err != nil {
			t.Fatal(err)
		}
		return file
	}
	der, err := x509.MarshalPKCS8PrivateKey(key.(anyKey).private)
	private = write("key.pem", "PRIVATE KEY", der, err)
	der, err = x509.MarshalPKIXPublicKey(key.Public())
	return private, write("key.pub.pem", "PUBLIC KEY", der, err)
}

type anyKey struct{ private, public any }

func (k anyKey) Public() any { return k.public }

func signer(t testing.TB, file string) *keyring.SigningKey {
	t.Helper()
	if file == "" {
		return nil
	}
	k, err := keyring.ReadSigningKey(file)
	if err != nil {
		t.Fatal(err)
	}
	return k
}

func writeBundle(t testing.TB, dir, revision, key string) []byte {
	t.Helper()
	raw, err := WriteBundle(context.Background(), Options{Policy: dir}, revision, signer(t, key))
	if err != nil {
		t.Fatalf("WriteBundle: %v", err)
	}
	return raw
}

func bundleFile(t testing.TB, raw []byte) string {
	t.Helper()
	file := filepath.Join(t.TempDir(), "policy.tar.gz")
	if err := os.WriteFile(file, raw, 0o600); err != nil {
		t.Fatal(err)
	}
	return file
}

type entry struct {
	name string
	kind byte
	text []byte
}

// opened gives the entries of a bundle in their order.
func opened(t testing.TB, raw []byte) []entry {
	t.Helper()
	gz, err := gzip.NewReader(bytes.NewReader(raw))
	if err != nil {
		t.Fatal(err)
	}
	var out []entry
	for tr := tar.NewReader(gz); ; {
		h, err := tr.Next()
		if err == io.EOF {
			return out
		}
		if err != nil {
			t.Fatal(err)
		}
		text, err := io.ReadAll(tr)
		if err != nil {
			t.Fatal(err)
		}
		out = append(out, entry{h.Name, h.Typeflag, text})
	}
}

func packed(t testing.TB, entries []entry) []byte {
	t.Helper()
	var out bytes.Buffer
	gz := gzip.NewWriter(&out)
	tw := tar.NewWriter(gz)
	for _, e := range entries {
		h := &tar.Header{Name: e.name, Typeflag: e.kind, Mode: 0o600, Size: int64(len(e.text))}
		if e.kind == tar.TypeSymlink {
			h.Linkname, h.Size = "/etc/passwd", 0
		}
		if err := tw.WriteHeader(h); err != nil {
			t.Fatal(err)
		}
		if h.Size > 0 {
			tw.Write(e.text)
		}
	}
	tw.Close()
	gz.Close()
	return out.Bytes()
}

// edit changes entries of a bundle by name; nil takes one out.
func edit(changes map[string]func([]byte) []byte) func(testing.TB, []byte) []byte {
	return func(t testing.TB, raw []byte) []byte {
		var out []entry
		seen := 0
		for _, e := range opened(t, raw) {
			if change, ok := changes[e.name]; ok {
				seen++
				if change == nil {
					continue
				}
				was := e.text
				if e.text = change(bytes.Clone(e.text)); bytes.Equal(was, e.text) {
					t.Fatalf("%s was not changed", e.name)
				}
			}
			out = append(out, e)
		}
		if seen != len(changes) {
			t.Fatalf("%d of %d entries were found", seen, len(changes))
		}
		return packed(t, out)
	}
}

func add(more ...entry) func(testing.TB, []byte) []byte {
	return func(t testing.TB, raw []byte) []byte { return packed(t, append(opened(t, raw), more...)) }
}

func replace(from, to string) func([]byte) []byte {
	return func(b []byte) []byte { return bytes.Replace(b, []byte(from), []byte(to), 1) }
}

// inData changes the decoded data of a bundle.
func inData(change func(ours map[string]any)) func([]byte) []byte {
	return func(b []byte) []byte {
		dec := json.NewDecoder(bytes.NewReader(b))
		dec.UseNumber()
		var data map[string]any
		if err := dec.Decode(&data); err != nil {
			panic(err)
		}
		change(data["toolwarrant"].(map[string]any))
		out, err := json.Marshal(data)
		if err != nil {
			panic(err)
		}
		return out
	}
}

func text(m map[string]any, member string) map[string]any { return m[member].(map[string]any) }

func TestBundleIsTheFolder(t *testing.T) {
	if testing.Short() {
		t.Skip("opens many policies, each with its tests")
	}
	for _, kind := range []string{"", "EC", "RSA"} {
		dir := policyFolder(t, nil)
		if kind == "" {
			dir = fullPolicyFolder(t, nil)
		}
		folder := newResolver(t, Options{Policy: dir})
		var private, public string
		var trust Trust
		if kind != "" {
			private, public = keyPair(t, kind)
			trust = Trust{KeyFiles: []string{public}, RequireSignature: true, MinRevision: "41.9"}
		}
		raw := writeBundle(t, dir, "42", private)
		if !bytes.Equal(raw, writeBundle(t, dir, "42", private)) {
			t.Errorf("%q: two bundles of one policy differ", kind)
		}
		r := newResolver(t, Options{Policy: bundleFile(t, raw), Trust: trust})
		if r.Revision() != folder.Revision() {
			t.Errorf("%q: revision %s, of the folder %s", kind, r.Revision(), folder.Revision())
		}
		if b := r.Bundle(); b == nil || b.Revision != "42" || b.Signed != (kind != "") || (b.Key != "") != (kind != "") {
			t.Errorf("%q: bundle %+v", kind, b)
		}
		report, err := TestPolicy(context.Background(), Options{Policy: r.Policy(), Trust: trust})
		if err != nil || !report.OK() || kind == "" && report.Passed < 100 {
			t.Errorf("%q: its tests: %+v, %v", kind, report, err)
		}
		d, err := r.Resolve(context.Background(), request(doc(t, nil)))
		if err != nil || d.PolicyRevision != folder.Revision() {
			t.Errorf("%q: %v", kind, err)
		}
		if folder.Bundle() != nil {
			t.Error("a folder says that it is a bundle")
		}
	}
}

// A bundle of a bundle is the same bundle.
func TestBundleOfABundle(t *testing.T) {
	raw := writeBundle(t, policyFolder(t, nil), "1", "")
	if !bytes.Equal(raw, writeBundle(t, bundleFile(t, raw), "1", "")) {
		t.Error("a bundle of the bundle differs")
	}
}

// What OPA's own reader makes of it: rules, settings, and a valid signature.
func TestOPAReadsTheBundle(t *testing.T) {
	private, _ := keyPair(t, "EC")
	key := signer(t, private)
	raw := writeBundle(t, policyFolder(t, nil), "7", private)
	b, err := bundle.NewReader(bytes.NewReader(raw)).WithBundleVerificationConfig(bundle.NewVerificationConfig(
		map[string]*bundle.KeyConfig{key.ID: {Key: key.Public, Algorithm: key.Algorithm}}, "", "", nil)).Read()
	if err != nil {
		t.Fatal(err)
	}
	if b.Manifest.Revision != "7" || strings.Join(*b.Manifest.Roots, " ") != "toolwarrant" || *b.Manifest.RegoVersion != 1 || len(b.Modules) < 10 {
		t.Errorf("manifest %s, %d modules", b.Manifest, len(b.Modules))
	}
	if text(b.Data, "toolwarrant")["settings"] == nil {
		t.Error("the settings are not data")
	}
}

// tampering is every way in which a bundle can be another than was made; a
// signature finds the first ones, the structure the others.
var tampering = map[string]struct {
	signed, unsigned string // the reasons
	change           func(testing.TB, []byte) []byte
}{
	"changed Rego":     {"bundle-signature", "bundle-content", edit(map[string]func([]byte) []byte{"/rego/decision.rego": replace("import", "# x\nimport")})},
	"broken Rego":      {"bundle-signature", "bundle-format", edit(map[string]func([]byte) []byte{"/rego/decision.rego": replace("import", "}")})},
	"changed settings": {"bundle-signature", "bundle-content", edit(map[string]func([]byte) []byte{"/data.json": replace(`"floor":"L5"`, `"floor":"none"`)})},
	"changed text": {"bundle-signature", "bundle-content", edit(map[string]func([]byte) []byte{"/data.json": inData(func(m map[string]any) {
		m["text"] = strings.Replace(m["text"].(string), `"floor": "L5"`, `"floor": "none"`, 1)
	})})},
	"changed settings and text": {"bundle-signature", "bundle-content", edit(map[string]func([]byte) []byte{"/data.json": inData(func(m map[string]any) {
		m["text"] = strings.Replace(m["text"].(string), `"floor": "L5"`, `"floor": "none"`, 1)
		text(text(m, "settings"), "hitl")["floor"] = "none"
	})})},
	"changed CUE": {"bundle-signature", "bundle-content", edit(map[string]func([]byte) []byte{"/data.json": inData(func(m map[string]any) {
		text(m, "cue")["cue/baseline.cue"] = strings.Replace(text(m, "cue")["cue/baseline.cue"].(string), "blocked", "strict", 1)
	})})},
	"added CUE": {"bundle-signature", "bundle-content", edit(map[string]func([]byte) []byte{"/data.json": inData(func(m map[string]any) {
		text(m, "cue")["cue/profiles/x.cue"] = "package toolwarrant"
	})})},
	"removed tests": {"bundle-signature", "bundle-content", edit(map[string]func([]byte) []byte{"/data.json": inData(func(m map[string]any) {
		m["tests"] = map[string]any{}
	})})},
	"a test that is a rule": {"bundle-signature", "bundle-member", edit(map[string]func([]byte) []byte{"/data.json": inData(func(m map[string]any) {
		text(m, "tests")["rego/x.rego"] = "package x"
	})})},
	"a layer out of its folder": {"bundle-signature", "bundle-member", edit(map[string]func([]byte) []byte{"/data.json": inData(func(m map[string]any) {
		text(m, "cue")["cue/profiles/../baseline.cue"] = "package toolwarrant"
	})})},
	"more capabilities": {"bundle-signature", "bundle-capabilities", edit(map[string]func([]byte) []byte{"/data.json": inData(func(m map[string]any) {
		m["capabilities"] = strings.Replace(m["capabilities"].(string), `"name":"abs"`, `"name":"http.send"`, 1)
	})})},
	"fewer capabilities": {"bundle-signature", "bundle-content", edit(map[string]func([]byte) []byte{"/data.json": inData(func(m map[string]any) {
		m["capabilities"] = strings.Replace(m["capabilities"].(string), `"rego_v1",`, ``, 1) + " "
	})})},
	"capabilities of the network": {"bundle-signature", "bundle-capabilities", edit(map[string]func([]byte) []byte{"/data.json": inData(func(m map[string]any) {
		m["capabilities"] = strings.Replace(m["capabilities"].(string), `{`, `{"allow_net":["example.com"],`, 1)
	})})},
	"no capabilities": {"bundle-signature", "bundle-format", edit(map[string]func([]byte) []byte{"/data.json": inData(func(m map[string]any) {
		delete(m, "capabilities")
	})})},
	"removed module":   {"bundle-signature", "bundle-content", edit(map[string]func([]byte) []byte{"/rego/decision.rego": nil})},
	"added module":     {"bundle-signature", "bundle-content", add(entry{"/rego/more.rego", tar.TypeReg, []byte("package toolwarrant.more\nimport rego.v2\n")})},
	"changed roots":    {"bundle-signature", "bundle-format", edit(map[string]func([]byte) []byte{"/.manifest": replace(`"roots":["toolwarrant"]`, `"roots":[""]`)})},
	"narrow roots":     {"bundle-signature", "bundle-format", edit(map[string]func([]byte) []byte{"/.manifest": replace(`"roots":["toolwarrant"]`, `"roots":["other"]`)})},
	"old Rego":         {"bundle-signature", "bundle-format", edit(map[string]func([]byte) []byte{"/.manifest": replace(`"rego_version":1`, `"rego_version":0`)})},
	"old Rego, a file": {"bundle-signature", "bundle-format", edit(map[string]func([]byte) []byte{"/.manifest": replace(`"rego_version":1`, `"rego_version":1,"file_rego_versions":{"/rego/none.rego":0}`)})},
	"newer format":     {"bundle-signature", "bundle-format", edit(map[string]func([]byte) []byte{"/.manifest": replace(`"version":1`, `"version":2`)})},
	"no manifest":      {"bundle-signature", "bundle-format", edit(map[string]func([]byte) []byte{"/.manifest": nil})},
	"no data":          {"bundle-signature", "bundle-format", edit(map[string]func([]byte) []byte{"/data.json": nil})},

	"a file that is none of a policy": {"bundle-member", "bundle-member", add(entry{"/policy.wasm", tar.TypeReg, []byte("x")})},
	"a delta":                         {"bundle-member", "bundle-member", add(entry{"/patch.json", tar.TypeReg, []byte(`{"data":[]}`)})},
	"data below":                      {"bundle-member", "bundle-member", add(entry{"/toolwarrant/data.json", tar.TypeReg, []byte(`{}`)})},
	"a test as a module":              {"bundle-member", "bundle-member", add(entry{"/rego/x_test.rego", tar.TypeReg, []byte("package x_test")})},
	"a path out of it":                {"bundle-member", "bundle-member", add(entry{"/rego/../../x.rego", tar.TypeReg, []byte("package x")})},
	"a path that is not clean":        {"bundle-member", "bundle-member", add(entry{"//rego/x.rego", tar.TypeReg, []byte("package x")})},
	"a backslash":                     {"bundle-member", "bundle-member", add(entry{`/rego/..\x.rego`, tar.TypeReg, []byte("package x")})},
	"a link":                          {"bundle-member", "bundle-member", add(entry{"/rego/x.rego", tar.TypeSymlink, nil})},
	"a file twice":                    {"bundle-member", "bundle-member", add(entry{"/data.json", tar.TypeReg, []byte("{}")})},
	"a file twice, other spelling":    {"bundle-member", "bundle-member", add(entry{"data.json", tar.TypeReg, []byte("{}")})},
	"cut off":                         {"bundle-unreadable", "bundle-unreadable", func(_ testing.TB, raw []byte) []byte { return raw[:len(raw)-20] }},
	"cut in half":                     {"bundle-unreadable", "bundle-unreadable", func(_ testing.TB, raw []byte) []byte { return raw[:len(raw)/2] }},
	"empty":                           {"bundle-unreadable", "bundle-unreadable", func(testing.TB, []byte) []byte { return nil }},
	"no archive":                      {"bundle-unreadable", "bundle-unreadable", func(testing.TB, []byte) []byte { return []byte("package x") }},
	"two archives":                    {"bundle-member", "bundle-member", func(_ testing.TB, raw []byte) []byte { return append(bytes.Clone(raw), raw...) }},
	"a bit of the checksum": {"bundle-unreadable", "bundle-unreadable", func(_ testing.TB, raw []byte) []byte {
		out := bytes.Clone(raw)
		out[len(out)-6] ^= 1
		return out
	}},
	"a bomb": {"bundle-too-large", "bundle-too-large", add(entry{"/rego/x.rego", tar.TypeReg, make([]byte, maxUnpackedBytes)})},
}

func TestTamperedBundlesAreRefused(t *testing.T) {
	if testing.Short() {
		t.Skip("opens many policies, each with its tests")
	}
	dir := policyFolder(t, nil)
	private, public := keyPair(t, "EC")
	signed, unsigned := writeBundle(t, dir, "42", private), writeBundle(t, dir, "42", "")
	good := newResolver(t, Options{Policy: bundleFile(t, signed), Trust: Trust{KeyFiles: []string{public}}})
	for name, tc := range tampering {
		t.Run(name, func(t *testing.T) {
			for reason, try := range map[string]Options{
				"signed " + tc.signed:     {Policy: bundleFile(t, tc.change(t, signed)), Trust: Trust{KeyFiles: []string{public}}},
				"unsigned " + tc.unsigned: {Policy: bundleFile(t, tc.change(t, unsigned))},
			} {
				_, err := New(context.Background(), try)
				if err == nil {
					t.Fatalf("%s: it is in force", reason)
				}
				f := fault.From(err)
				_, want, _ := strings.Cut(reason, " ")
				if name == "removed tests" && strings.HasPrefix(reason, "unsigned") && !strings.Contains(f.Message, "it has 0 with") {
					t.Errorf("%s: it does not say that the tests are other ones: %v", reason, err)
				}
				if f.Code != fault.PolicyUnavailable || f.Reason != want || !strings.Contains(f.Message, try.Policy) {
					t.Errorf("%s: %v", reason, err)
				}
			}
			// A server that runs goes on.
			if err := os.WriteFile(good.Policy(), tc.change(t, signed), 0o600); err != nil {
				t.Fatal(err)
			}
			before := good.Revision()
			if _, err := good.Reload(context.Background()); err == nil || good.Revision() != before {
				t.Errorf("a reload: %v, revision %s", err, good.Revision())
			}
			if _, err := good.Resolve(context.Background(), request(doc(t, nil))); err != nil {
				t.Errorf("the last good one does not decide: %v", err)
			}
		})
	}
}

// A sparse file stands for a terabyte of zeros in a few hundred bytes.
func TestSparseBombIsRefused(t *testing.T) {
	const size = 1 << 40
	sparse := fmt.Sprintf("1\n%d\n0\n", size)
	var out bytes.Buffer
	gz := gzip.NewWriter(&out)
	gz.Write(paxRecords(t, map[string]string{
		"GNU.sparse.major": "1", "GNU.sparse.minor": "0", "GNU.sparse.name": "/rego/x.rego", "GNU.sparse.realsize": fmt.Sprint(size),
	}))
	gz.Write(archiveOf(t, entry{"/rego/x.rego", tar.TypeReg, append([]byte(sparse), make([]byte, 512-len(sparse))...)}))
	gz.Close()
	_, err := unpack(out.Bytes())
	wantFault(t, err, fault.PolicyUnavailable, "bundle-too-large")
}

// paxRecords is the extended header that comes before an entry, which
// archive/tar does not write for sparse files.
func paxRecords(t *testing.T, records map[string]string) []byte {
	t.Helper()
	var text strings.Builder
	for _, k := range sortedKeys(records) {
		rest := " " + k + "=" + records[k] + "\n"
		n := len(rest)
		for len(fmt.Sprint(n))+len(rest) != n {
			n = len(fmt.Sprint(n)) + len(rest)
		}
		text.WriteString(fmt.Sprint(n) + rest)
	}
	block := archiveOf(t, entry{"/pax", tar.TypeReg, []byte(text.String())})
	block = block[:1024] // header and text, without the end of the archive
	block[156] = tar.TypeXHeader
	sum := 0
	copy(block[148:156], "        ")
	for _, b := range block[:512] {
		sum += int(b)
	}
	copy(block[148:156], fmt.Sprintf("%06o\x00 ", sum))
	return block
}

func archiveOf(t *testing.T, e entry) []byte {
	t.Helper()
	gz, err := gzip.NewReader(bytes.NewReader(packed(t, []entry{e})))
	if err != nil {
		t.Fatal(err)
	}
	out, err := io.ReadAll(gz)
	if err != nil {
		t.Fatal(err)
	}
	return out
}

func TestUntrustedBundlesAreRefused(t *testing.T) {
	if testing.Short() {
		t.Skip("long, and no goroutines of its own")
	}
	dir := policyFolder(t, nil)
	private, public := keyPair(t, "EC")
	_, other := keyPair(t, "EC")
	_, rsaKey := keyPair(t, "RSA")
	signed, unsigned := bundleFile(t, writeBundle(t, dir, "42", private)), bundleFile(t, writeBundle(t, dir, "42", ""))
	stripped := bundleFile(t, edit(map[string]func([]byte) []byte{"/.signatures.json": nil})(t, writeBundle(t, dir, "42", private)))
	noToken := bundleFile(t, edit(map[string]func([]byte) []byte{"/.signatures.json": func([]byte) []byte { return []byte(`{}`) }})(t, writeBundle(t, dir, "42", private)))
	plugin := bundleFile(t, edit(map[string]func([]byte) []byte{"/.signatures.json": replace("_default", "own")})(t, writeBundle(t, dir, "42", private)))
	byCommit := bundleFile(t, writeBundle(t, dir, "3f2a", private))
	keys := func(files ...string) Trust { return Trust{KeyFiles: files} }
	least := func(r string) Trust { return Trust{MinRevision: r} }
	for name, tc := range map[string]struct {
		policy string
		trust  Trust
		reason string // "" = it is put into force
	}{
		"the right key":                {signed, keys(public), ""},
		"one of the keys":              {signed, keys(other, rsaKey, public), ""},
		"no key is configured":         {signed, Trust{}, ""},
		"another key":                  {signed, keys(other), "bundle-signature"},
		"a key of another kind":        {signed, keys(rsaKey), "bundle-signature"},
		"not signed":                   {unsigned, keys(public), "bundle-unsigned"},
		"signature removed":            {stripped, keys(public), "bundle-unsigned"},
		"signatures emptied":           {noToken, keys(public), "bundle-signature"},
		"signed by a plug-in":          {plugin, keys(public), "bundle-signature"},
		"required, no key":             {signed, Trust{RequireSignature: true}, "key-missing"},
		"required, a folder":           {dir, Trust{RequireSignature: true, KeyFiles: []string{public}}, "bundle-unsigned"},
		"required, builtin":            {Builtin, Trust{RequireSignature: true, MinRevision: "5"}, ""},
		"the least revision":           {signed, least("42"), ""},
		"above the least revision":     {signed, least("41.99"), ""},
		"a zero more":                  {signed, least("42.0"), ""},
		"below the least revision":     {signed, least("42.1"), "bundle-rolled-back"},
		"numbers, not texts":           {signed, least("100"), "bundle-rolled-back"},
		"a revision without order":     {byCommit, least("1"), "bundle-rolled-back"},
		"a least one without order":    {signed, least("3f2a"), "min-revision"},
		"a folder has no revision":     {dir, least("1"), "bundle-rolled-back"},
		"a key that is not there":      {signed, keys("nowhere.pem"), "key-unreadable"},
		"a private key in its place":   {signed, keys(private), "key-unusable"},
		"a signature of no key at all": {unsigned, Trust{KeyFiles: []string{public}, RequireSignature: true}, "bundle-unsigned"},
	} {
		_, err := New(context.Background(), Options{Policy: tc.policy, Trust: tc.trust})
		switch f := fault.From(err); {
		case tc.reason == "" && err != nil:
			t.Errorf("%s: %v", name, err)
		case tc.reason != "" && (err == nil || f.Reason != tc.reason):
			t.Errorf("%s: %v, want %s", name, err, tc.reason)
		}
	}
}

func TestWriteBundleRefuses(t *testing.T) {
	for name, tc := range map[string]struct {
		dir, revision, reason string
	}{
		"a policy that fails its tests": {policyFolder(t, map[string]string{"policy_test/x_test.rego": "package x_test\nimport rego.v2\ntest_no if false\n"}), "1", "policy-tests-failed"},
		"a policy that is broken":       {policyFolder(t, map[string]string{"rego/x.rego": "package x"}), "1", "policy-compile"},
		"a name that it needs itself":   {policyFolder(t, map[string]string{"rego/data.json": strings.Replace(readFile(t, "../rego/data.json"), `"settings"`, `"cue": 1, "settings"`, 1)}), "1", "bundle-reserved"},
		"a revision of two words":       {policyFolder(t, nil), "1 2", "revision"},
		"nothing":                       {filepath.Join(t.TempDir(), "nowhere"), "1", "policy-missing"},
	} {
		_, err := WriteBundle(context.Background(), Options{Policy: tc.dir}, tc.revision, nil)
		if f := fault.From(err); err == nil || f.Reason != tc.reason {
			t.Errorf("%s: %v, want %s", name, err, tc.reason)
		}
	}
}

// An older program built it, with fewer builtins: the policy runs with these.
func TestBundleOfFewerCapabilities(t *testing.T) {
	own, _, err := ownCapabilities()
	if err != nil {
		t.Fatal(err)
	}
	for i, b := range own.Builtins {
		if b.Name == "strings.render_template" {
			own.Builtins = append(own.Builtins[:i:i], own.Builtins[i+1:]...)
			break
		}
	}
	less, err := json.Marshal(own)
	if err != nil {
		t.Fatal(err)
	}
	s, err := readSource(context.Background(), Options{Policy: policyFolder(t, nil)})
	if err != nil {
		t.Fatal(err)
	}
	s.capabilitiesText = less
	raw := func() []byte {
		b, err := s.toBundle("1")
		if err != nil {
			t.Fatal(err)
		}
		var out bytes.Buffer
		if err := bundle.NewWriter(&out).UseModulePath(true).Write(*b); err != nil {
			t.Fatal(err)
		}
		return out.Bytes()
	}
	newResolver(t, Options{Policy: bundleFile(t, raw())})
	s.rego["rego/x.rego"] = []byte("package toolwarrant.x\nimport rego.v2\ny := strings.render_template(\"{{.a}}\", {\"a\": 1})\n")
	_, err = New(context.Background(), Options{Policy: bundleFile(t, raw())})
	wantFault(t, err, fault.PolicyUnavailable, "policy-compile")
}

// FuzzReadBundle takes archives before they are packed: behind a checksum
// nearly every input would fail at the first step.
func FuzzReadBundle(f *testing.F) {
	small := []entry{
		{"/data.json", tar.TypeReg, []byte(`{"toolwarrant":{"settings":{},"cue":{"cue/baseline.cue":"package toolwarrant"},"tests":{},"capabilities":"{}","text":"{\"toolwarrant\":{\"settings\":{}}}"}}`)},
		{"/.manifest", tar.TypeReg, []byte(`{"revision":"1","roots":["toolwarrant"],"rego_version":1,"metadata":{"toolwarrant":{"version":1,"policyRevision":"","tests":""}}}`)},
		{"/rego/decision.rego", tar.TypeReg, []byte("package toolwarrant\nimport rego.v2\n")},
	}
	archive := func(raw []byte) []byte {
		gz, err := gzip.NewReader(bytes.NewReader(raw))
		if err != nil {
			f.Fatal(err)
		}
		text, err := io.ReadAll(gz)
		if err != nil {
			f.Fatal(err)
		}
		return text
	}
	f.Add(archive(packed(f, small)))
	for i := range small {
		f.Add(archive(packed(f, small[i:i+1])))
	}
	f.Add(archive(packed(f, []entry{{"/rego/x.rego", tar.TypeSymlink, nil}})))
	f.Add(archive(packed(f, []entry{{"/rego/../x.rego", tar.TypeReg, []byte("package x")}})))
	f.Fuzz(func(t *testing.T, text []byte) {
		var gz bytes.Buffer
		w := gzip.NewWriter(&gz)
		w.Write(text)
		w.Close()
		raw := gz.Bytes()
		s, err := readBundle("fuzz", raw, Trust{})
		if err != nil {
			if fault.From(err).Code != fault.PolicyUnavailable {
				t.Errorf("error %v", err)
			}
			return
		}
		// What is read can be written, and is the same policy.
		b, err := s.toBundle(s.bundle.Revision)
		if err != nil {
			t.Fatal(err)
		}
		var out bytes.Buffer
		if err := bundle.NewWriter(&out).UseModulePath(true).Write(*b); err != nil {
			t.Fatal(err)
		}
		again, err := readBundle("fuzz", out.Bytes(), Trust{})
		if err != nil || again.revision() != s.revision() {
			t.Errorf("read again: %v", err)
		}
	})
}
