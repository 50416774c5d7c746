package image

import (
	"archive/tar"
	"bytes"
	"context"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/toolwarrant/toolwarrant/executor/sandbox"
)

func TestParse(t *testing.T) {
	for _, test := range []struct {
		name string
		want Ref
		ok   bool
	}{
		{"", Ref{}, true},
		{"host", Ref{}, true},
		{"dir:/srv/root/", Ref{Kind: Dir, Path: "/srv/root"}, true},
		{"oci:/srv/l", Ref{Kind: OCI, Path: "/srv/l"}, true},
		{"oci:/srv/l:v1.2", Ref{Kind: OCI, Path: "/srv/l", Tag: "v1.2"}, true},
		{"oci:/a:b/c", Ref{Kind: OCI, Path: "/a:b/c"}, true},
		{"oci:/l@sha256:" + strings.Repeat("a", 64), Ref{Kind: OCI, Path: "/l", Digest: "sha256:" + strings.Repeat("a", 64)}, true},
		{"docker.io/library/alpine:3", Ref{Kind: Engine, Name: "docker.io/library/alpine:3"}, true},
		{"dir:srv", Ref{}, false},
		{"dir:", Ref{}, false},
		{"oci:l:tag", Ref{}, false},
		{"oci:/l:", Ref{}, false},
		{"oci:/l:-x", Ref{}, false},
		{"oci:/l@sha256:zz", Ref{}, false},
		{"oci:/l@md5:00", Ref{}, false},
		{"--privileged", Ref{}, false},
		{"a b", Ref{}, false},
		{"a\nb", Ref{}, false},
		{"dir:/a\x00b", Ref{}, false},
		{strings.Repeat("a", 600), Ref{}, false},
	} {
		got, err := Parse(test.name)
		if (err == nil) != test.ok || err != nil && !errors.Is(err, sandbox.ErrSpec) || test.ok && got != test.want {
			t.Errorf("%q: %+v, %v", test.name, got, err)
		}
	}
}

// TestHostileLayers holds that a layer changes nothing outside of its folder,
// and that an image that tries does not come into the store.
func TestHostileLayers(t *testing.T) {
	outside := t.TempDir()
	canary := filepath.Join(outside, "canary")
	if err := os.WriteFile(canary, []byte("alive"), 0o644); err != nil {
		t.Fatal(err)
	}
	up := strings.Repeat("../", 40)
	for name, layer := range map[string][]entry{
		"a name with dots":           {file(up+canary, "x")},
		"dots in the middle":         {file("a/../../"+canary, "x")},
		"a hard link out":            {hard("x", up+canary)},
		"a hard link to a symlink":   {link("l", canary), hard("x", "l")},
		"a hard link to a folder":    {dir("d"), hard("x", "d")},
		"a hard link to nothing":     {hard("x", canary)},
		"a hard link through a link": {link("l", outside), hard("x", "l/canary")},
		"a loop of links":            {link("a", "b"), link("b", "a"), file("a/x", "x")},
		"a link to itself":           {link("a", "a"), file("a/x", "x")},
		"a file as a folder":         {file("a", "x"), file("a/b", "x")},
		"a whiteout of dots":         {file("d/.wh...", "")},
		"a whiteout of the folder":   {file("d/.wh..", "")},
		"a whiteout of nothing":      {file("d/.wh.", "")},
		"a whiteout with dots":       {file("../.wh.canary", "")},
		"a long name":                {file(strings.Repeat("n", 300), "x")},
		"a long path":                {file(strings.Repeat("n/", 3000)+"x", "x")},
		"an empty link":              {{tar.TypeSymlink, "l", "", 0o777, ""}},
		"an unknown type":            {{'Z', "l", "", 0o777, ""}},
		"too much":                   {file("a", strings.Repeat("x", 5000)), file("b", strings.Repeat("x", 6000))},
		"too many":                   many(200),
		"too many folders":           {file(strings.Repeat("d/", 200)+"x", "x")},
	} {
		b, s := newLayout(t), store(t)
		s.Bounds = Bounds{Bytes: 10_000, Files: 100}
		b.tag("x", b.layer(gzipLayer, layer...))
		if root, err := resolve(t, s, "oci:"+b.dir); !errors.Is(err, sandbox.ErrImage) {
			t.Errorf("%s: %v, %v", name, root, err)
		}
		if left, _ := os.ReadDir(s.Dir); len(left) != 0 {
			t.Errorf("%s: left in the store: %v", name, left)
		}
	}
	if data, err := os.ReadFile(canary); err != nil || string(data) != "alive" {
		t.Errorf("the canary: %q, %v", data, err)
	}
	if entries, _ := os.ReadDir(outside); len(entries) != 1 {
		t.Errorf("something was made outside: %v", entries)
	}
}

func many(n int) (all []entry) {
	for i := range n {
		all = append(all, file(fmt.Sprint("f", i), ""))
	}
	return all
}

// TestTamed unpacks what is odd and harmless when it stays inside.
func TestTamed(t *testing.T) {
	outside := t.TempDir()
	b, s := newLayout(t), store(t)
	b.tag("x", b.layer(plainLayer,
		entry{tar.TypeReg, "bin/su", "", 0o6755, "setuid"},
		entry{tar.TypeDir, "shut", "", 0o2000, ""},
		entry{tar.TypeChar, "dev/mem", "", 0o666, ""},
		entry{tar.TypeBlock, "dev/sda", "", 0o666, ""},
		entry{tar.TypeFifo, "pipe", "", 0o666, ""},
		link("out", outside), file("out/planted", "x"),
		link("up", "../../../../../.."+outside), file("up/planted", "x"),
		link("swap", outside), dir("swap"), file("swap/planted", "x"),
		file("/absolute", "x"), file("./dot", "x"),
	))
	root, err := resolve(t, s, "oci:"+b.dir)
	if err != nil {
		t.Fatal(err)
	}
	if entries, _ := os.ReadDir(outside); len(entries) != 0 {
		t.Errorf("made outside: %v", entries)
	}
	for _, name := range []string{"bin/su", "absolute", "dot", "swap/planted", filepath.Join(outside, "planted")} {
		if info, err := os.Lstat(filepath.Join(root.Path, name)); err != nil || !info.Mode().IsRegular() {
			t.Errorf("%s is not in the image: %v", name, err)
		}
	}
	harmless(t, root.Path)
}

// harmless fails for devices, pipes and programs with an identity.
func harmless(t testing.TB, dir string) {
	err := filepath.WalkDir(dir, func(path string, d fs.DirEntry, err error) error {
		if err != nil {
			return err
		}
		info, err := d.Info()
		if err == nil && info.Mode()&(fs.ModeSetuid|fs.ModeSetgid|fs.ModeDevice|fs.ModeNamedPipe|fs.ModeSocket|fs.ModeIrregular) != 0 {
			t.Errorf("%s is %v", path, info.Mode())
		}
		return err
	})
	if err != nil {
		t.Error(err)
	}
}

// TestWrongLayouts holds that nothing is used that is not what it says.
func TestWrongLayouts(t *testing.T) {
	bomb := zip(bytes.Repeat(make([]byte, 1<<20), 200))
	for name, spoil := range map[string]func(b *builder){
		"another blob": func(b *builder) {
			d := b.layer(gzipLayer, file("a", "x"))
			b.tag("x", d)
			b.write("blobs/sha256/"+d.Digest[7:], zip(archive(b.t, file("a", "y"))))
		},
		"something after the blob": func(b *builder) {
			d := b.layer(plainLayer, file("a", "x"))
			d.Size += 3
			b.tag("x", d)
			b.write("blobs/sha256/"+d.Digest[7:], append(archive(b.t, file("a", "x")), "abc"...))
		},
		"another manifest": func(b *builder) {
			d := b.tag("x", b.layer(plainLayer, file("a", "x")))
			b.write("blobs/sha256/"+d.Digest[7:], bytes.Repeat([]byte(" "), int(d.Size)))
		},
		"a digest that is a path": func(b *builder) {
			b.add(descriptor{Digest: "sha256:../../index.json"})
		},
		"a layer that is a path": func(b *builder) {
			b.tag("x", descriptor{MediaType: plainLayer, Digest: "../x"})
		},
		"a foreign layer": func(b *builder) {
			b.tag("x", b.blob("application/vnd.oci.image.layer.nondistributable.v1.tar", archive(b.t)))
		},
		"a bomb in the padding": func(b *builder) { b.tag("x", b.blob(gzipLayer, bomb)) },
		"a truncated layer": func(b *builder) {
			data := zip(archive(b.t, file("a", strings.Repeat("x", 2000))))
			b.tag("x", b.blob(gzipLayer, data[:len(data)/2]))
		},
		"no gzip":       func(b *builder) { b.tag("x", b.blob(gzipLayer, []byte("hello"))) },
		"two of no tag": func(b *builder) { b.tag("x"); b.tag("y", b.layer(plainLayer)) },
		"an index in itself": func(b *builder) {
			d := platform(b.document("application/vnd.oci.image.index.v1+json", index{}), "amd64")
			for range 5 {
				d = b.document("application/vnd.oci.image.index.v1+json", index{Manifests: []descriptor{platform(d, "amd64"), platform(d, "arm64")}})
			}
			b.add(d)
		},
		"another machine": func(b *builder) {
			m := b.document("application/vnd.oci.image.manifest.v1+json", manifest{})
			b.add(b.document("application/vnd.oci.image.index.v1+json", index{Manifests: []descriptor{platform(m, "vax")}}))
		},
		"a large index": func(b *builder) { b.write("index.json", bytes.Repeat([]byte(" "), maxDocument+1)) },
		"no version":    func(b *builder) { b.tag("x"); b.write("oci-layout", []byte("{}")) },
		"no layout":     func(b *builder) { os.RemoveAll(b.dir) },
		"a link out": func(b *builder) {
			b.tag("x")
			os.Rename(filepath.Join(b.dir, "index.json"), b.dir+".json")
			os.Symlink(b.dir+".json", filepath.Join(b.dir, "index.json"))
		},
		"a folder as index": func(b *builder) { os.Mkdir(filepath.Join(b.dir, "index.json"), 0o755) },
	} {
		b, s := newLayout(t), store(t)
		s.Bounds = Bounds{Bytes: 1 << 20, Files: 100}
		spoil(b)
		if root, err := resolve(t, s, "oci:"+b.dir); !errors.Is(err, sandbox.ErrImage) {
			t.Errorf("%s: %v, %v", name, root, err)
		}
		if left, _ := os.ReadDir(s.Dir); len(left) != 0 {
			t.Errorf("%s: left in the store: %v", name, left)
		}
	}
}

func TestStore(t *testing.T) {
	b := newLayout(t)
	b.tag("x", b.layer(plainLayer, file("a", "x")))
	shared := t.TempDir()
	if err := os.Chmod(shared, 0o777); err != nil {
		t.Fatal(err)
	}
	if _, err := resolve(t, &Store{Dir: shared}, "oci:"+b.dir); !errors.Is(err, sandbox.ErrImage) {
		t.Errorf("a folder that all may write was taken: %v", err)
	}
	s := store(t)
	dead := filepath.Join(s.Dir, unfinished+"999999999-1")
	if err := os.MkdirAll(filepath.Join(dead, "shut"), 0o700); err != nil {
		t.Fatal(err)
	}
	if err := os.Chmod(filepath.Join(dead, "shut"), 0); err != nil {
		t.Fatal(err)
	}
	ctx, cancel := context.WithCancel(t.Context())
	cancel()
	ref, _ := Parse("oci:" + b.dir)
	if _, err := s.Resolve(ctx, ref); !errors.Is(err, sandbox.ErrImage) || !errors.Is(err, context.Canceled) {
		t.Errorf("an ended context: %v", err)
	}
	if _, err := s.Resolve(t.Context(), ref); err != nil {
		t.Error(err)
	}
	if _, err := os.Stat(dead); err == nil {
		t.Error("what a dead process left is still there")
	}
	for _, name := range []string{"dir:/", "dir:" + b.dir + "/oci-layout", "dir:/nowhere"} {
		if _, err := resolve(t, s, name); !errors.Is(err, sandbox.ErrImage) {
			t.Errorf("%s: %v", name, err)
		}
	}
	if _, err := resolve(t, s, "alpine"); !errors.Is(err, sandbox.ErrSpec) {
		t.Errorf("a name of an engine: %v", err)
	}
}

// FuzzLayer puts any archive over an image that has links in all directions.
func FuzzLayer(f *testing.F) {
	for _, seed := range [][]entry{
		{file("a/b", "x"), hard("c", "a/b"), file("a/.wh.b", "")},
		{link("l", "/"), file("l/l/l/x", "y"), file(".wh..wh..opq", "")},
		{dir("a"), link("a", ".."), file("a/x", "y"), {tar.TypeReg, "s", "", 0o6777, "z"}},
	} {
		f.Add(archive(f, seed...))
	}
	f.Fuzz(func(t *testing.T, data []byte) {
		outer := t.TempDir()
		inner := filepath.Join(outer, "image")
		if err := os.Mkdir(inner, 0o755); err != nil {
			t.Fatal(err)
		}
		tr, err := openTree(inner, Bounds{Bytes: 1 << 20, Files: 100})
		if err != nil {
			t.Fatal(err)
		}
		defer tr.close()
		lower := archive(t, link("up", "../.."), link("root", "/"), link("out", outer), dir("d"), file("d/f", "x"))
		if err := tr.apply(tar.NewReader(bytes.NewReader(lower))); err != nil {
			t.Fatal(err)
		}
		_ = tr.apply(tar.NewReader(bytes.NewReader(data)))
		_ = tr.finish()
		if tr.bytesLeft < 0 {
			t.Error("more was written than allowed")
		}
		if entries, _ := os.ReadDir(outer); len(entries) != 1 {
			t.Errorf("made outside: %v", entries)
		}
		harmless(t, inner)
	})
}
