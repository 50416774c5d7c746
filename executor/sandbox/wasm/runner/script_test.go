package runner

import (
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"
)

func TestReadArgs(t *testing.T) {
	for _, c := range []struct {
		argv string // with | between
		want source
		err  error
	}{
		{"js", source{name: "<stdin>", read: true}, nil},
		{"js|-", source{name: "<stdin>", read: true}, nil},
		{"js|-|a|-e", source{name: "<stdin>", read: true, args: []string{"a", "-e"}}, nil},
		{"js|-e|1+1", source{name: "<code>", code: "1+1"}, nil},
		{"js|-e|", source{name: "<code>"}, nil},
		{"js|-e|1|-e|2", source{name: "<code>", code: "1", args: []string{"-e", "2"}}, nil},
		{"js|/a/b.js|x", source{name: "/a/b.js", file: "/a/b.js", args: []string{"x"}}, nil},
		{"js|b.js", source{name: "b.js", file: "/work/b.js"}, nil},
		{"js|../b.js", source{name: "../b.js", file: "/b.js"}, nil},
		{"js|../../../b.js", source{name: "../../../b.js", file: "/b.js"}, nil},
		{"js|/a/../../etc/passwd", source{name: "/a/../../etc/passwd", file: "/etc/passwd"}, nil},
		{"js|-e", source{}, errUsage},
		{"js|", source{}, errUsage},
		{"js|--help", source{}, errUsage},
		{"js|-m|x", source{}, errUsage},
	} {
		got, err := readArgs(strings.Split(c.argv, "|"), "/work")
		if err != c.err || got.name != c.want.name || got.code != c.want.code || got.file != c.want.file || got.read != c.want.read || !slices.Equal(got.args, c.want.args) {
			t.Errorf("%s: %+v, %v", c.argv, got, err)
		}
	}
}

// FuzzReadArgs: a file is always an absolute name without a way up, and one
// that is opened is in a folder of the module.
func FuzzReadArgs(f *testing.F) {
	f.Add("-e", "1", "/")
	f.Add("../x", "", "relative")
	f.Add("/scratch/../../x", "", "")
	dir := f.TempDir()
	if err := os.WriteFile(filepath.Join(dir, "canary"), []byte("secret"), 0o600); err != nil {
		f.Fatal(err)
	}
	if err := os.Mkdir(filepath.Join(dir, "in"), 0o700); err != nil {
		f.Fatal(err)
	}
	root, err := os.OpenRoot(filepath.Join(dir, "in"))
	if err != nil {
		f.Fatal(err)
	}
	folders := []folder{{root, Mount{Guest: "/scratch"}}, {root, Mount{Guest: "/"}}}
	f.Fuzz(func(t *testing.T, first, second, pwd string) {
		s, err := readArgs([]string{"js", first, second}, pwd)
		if err != nil {
			return
		}
		if s.file != "" && (s.file[0] != '/' || strings.Contains(s.file+"/", "/../")) {
			t.Errorf("%q %q: the file is %q", first, pwd, s.file)
		}
		if text, err := s.text(folders, strings.NewReader("")); err == nil && s.file != "" {
			t.Errorf("%q was read: %q", s.file, text)
		}
	})
}

func TestSource(t *testing.T) {
	dir := t.TempDir()
	for _, d := range []string{"one", "two"} {
		if err := os.Mkdir(filepath.Join(dir, d), 0o700); err != nil {
			t.Fatal(err)
		}
		if err := os.WriteFile(filepath.Join(dir, d, "x.js"), []byte(d), 0o600); err != nil {
			t.Fatal(err)
		}
	}
	for name, to := range map[string]string{"out.js": "../two/x.js", "abs.js": filepath.Join(dir, "two/x.js"), "fine.js": "x.js"} {
		if err := os.Symlink(to, filepath.Join(dir, "one", name)); err != nil {
			t.Skip(err)
		}
	}
	if err := os.Truncate(filepath.Join(dir, "two", "x.js"), 3); err != nil {
		t.Fatal(err)
	}
	if err := os.WriteFile(filepath.Join(dir, "two", "large.js"), make([]byte, maxScript+1), 0o600); err != nil {
		t.Fatal(err)
	}
	var folders []folder
	for guest, d := range map[string]string{"/data": "one", "/data/deep": "two"} {
		root, err := os.OpenRoot(filepath.Join(dir, d))
		if err != nil {
			t.Fatal(err)
		}
		defer root.Close()
		folders = append(folders, folder{root, Mount{Guest: guest}})
	}
	for file, want := range map[string]string{
		"/data/x.js": "one", "/data/deep/x.js": "two", "/data/fine.js": "one", // the deepest folder has it
		"/data/out.js": "", "/data/abs.js": "", "/data/none.js": "", "/data": "", "/data/": "", "/data/deep": "", "/datax/x.js": "", "/etc/passwd": "", "/data/deep/large.js": "",
	} {
		got, err := source{file: file}.text(folders, nil)
		if got != want || (err == nil) != (want != "") {
			t.Errorf("%s: %q, %v", file, got, err)
		}
	}
	for n, ok := range map[int]bool{maxScript: true, maxScript + 1: false} {
		text := strings.Repeat("x", n)
		_, input := source{read: true}.text(nil, strings.NewReader(text))
		_, code := source{code: text}.text(nil, nil)
		if (input == nil) != ok || (code == nil) != ok {
			t.Errorf("%d bytes: %v, %v", n, input, code)
		}
	}
}

func TestIsQuickJS(t *testing.T) {
	exports := map[string]int{}
	for _, name := range quickJS {
		if isQuickJS(exports) {
			t.Errorf("without %s it is one", name)
		}
		exports[name] = 1
	}
	exports["qjs_more"] = 1
	if !isQuickJS(exports) {
		t.Error("with all it is none")
	}
	if exports["_start"] = 1; isQuickJS(exports) {
		t.Error("a command is run as one")
	}
}

func TestScriptMemory(t *testing.T) {
	const mb = 1 << 20
	for _, c := range []struct{ limit, size, least, most uint64 }{
		{64 * mb, 1 * mb, 50 * mb, 60 * mb},
		{4096 * mb, 1 * mb, 3000 * mb, 1<<32 - 1},
		{1 * mb, 2 * mb, 1, 1}, // 0 would be none
		{0, 0, 1, 1},
	} {
		if got := scriptMemory(c.limit, c.size); got < c.least || got > c.most {
			t.Errorf("%d of %d: %d", c.limit, c.size, got)
		}
	}
}
