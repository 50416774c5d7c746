package image

import (
	"archive/tar"
	"bytes"
	"compress/gzip"
	"crypto/sha256"
	"encoding/hex"
	"encoding/json"
	"os"
	"path/filepath"
	"runtime"
	"testing"
	"time"

	"github.com/klauspost/compress/zstd"
)

// A builder makes an OCI layout, or one that is wrong in one respect.
type builder struct {
	t   *testing.T
	dir string
	top index
}

func newLayout(t *testing.T) *builder {
	b := &builder{t: t, dir: t.TempDir()}
	b.write("oci-layout", []byte(`{"imageLayoutVersion":"1.0.0"}`))
	return b
}

func (b *builder) write(name string, data []byte) {
	b.t.Helper()
	path := filepath.Join(b.dir, name)
	if err := os.MkdirAll(filepath.Dir(path), 0o755); err != nil {
		b.t.Fatal(err)
	}
	if err := os.WriteFile(path, data, 0o644); err != nil {
		b.t.Fatal(err)
	}
}

func (b *builder) blob(mediaType string, data []byte) descriptor {
	sum := sha256.Sum256(data)
	d := descriptor{MediaType: mediaType, Digest: "sha256:" + hex.EncodeToString(sum[:]), Size: int64(len(data))}
	b.write("blobs/sha256/"+hex.EncodeToString(sum[:]), data)
	return d
}

func (b *builder) document(mediaType string, v any) descriptor {
	data, err := json.Marshal(v)
	if err != nil {
		b.t.Fatal(err)
	}
	return b.blob(mediaType, data)
}

// tag adds an image of these layers to the index.
func (b *builder) tag(tag string, layers ...descriptor) descriptor {
	d := b.document("application/vnd.oci.image.manifest.v1+json", manifest{Layers: layers})
	d.Annotations = map[string]string{tagAnnotation: tag}
	b.add(d)
	return d
}

func (b *builder) add(d descriptor) {
	b.top.Manifests = append(b.top.Manifests, d)
	data, _ := json.Marshal(b.top)
	b.write("index.json", data)
}

// An entry is one of a layer: type, name, link, mode, content.
type entry struct {
	kind byte
	name string
	link string
	mode int64
	data string
}

func file(name, data string) entry { return entry{tar.TypeReg, name, "", 0o644, data} }
func dir(name string) entry        { return entry{tar.TypeDir, name, "", 0o755, ""} }
func link(name, to string) entry   { return entry{tar.TypeSymlink, name, to, 0o777, ""} }
func hard(name, to string) entry   { return entry{tar.TypeLink, name, to, 0o644, ""} }

func archive(t testing.TB, entries ...entry) []byte {
	t.Helper()
	var out bytes.Buffer
	w := tar.NewWriter(&out)
	for _, e := range entries {
		h := &tar.Header{Typeflag: e.kind, Name: e.name, Linkname: e.link, Mode: e.mode, Size: int64(len(e.data)), ModTime: time.Unix(1_000_000_000, 0), Format: tar.FormatPAX}
		if err := w.WriteHeader(h); err != nil {
			t.Fatalf("%q: %v", e.name, err)
		}
		if _, err := w.Write([]byte(e.data)); err != nil {
			t.Fatal(err)
		}
	}
	if err := w.Close(); err != nil {
		t.Fatal(err)
	}
	return out.Bytes()
}

const (
	plainLayer = "application/vnd.oci.image.layer.v1.tar"
	gzipLayer  = plainLayer + "+gzip"
	zstdLayer  = plainLayer + "+zstd"
)

func (b *builder) layer(mediaType string, entries ...entry) descriptor {
	data := archive(b.t, entries...)
	switch mediaType {
	case gzipLayer:
		data = zip(data)
	case zstdLayer:
		w, _ := zstd.NewWriter(nil)
		data = w.EncodeAll(data, nil)
	}
	return b.blob(mediaType, data)
}

func zip(data []byte) []byte {
	var out bytes.Buffer
	w := gzip.NewWriter(&out)
	_, _ = w.Write(data)
	_ = w.Close()
	return out.Bytes()
}

// platform is an entry of an index for several machines.
func platform(d descriptor, arch string) descriptor {
	d.Platform = &struct {
		Architecture string `json:"architecture"`
		OS           string `json:"os"`
	}{arch, "linux"}
	return d
}

func store(t *testing.T) *Store {
	t.Helper()
	return &Store{Dir: filepath.Join(t.TempDir(), "store")}
}

func resolve(t *testing.T, s *Store, name string) (Root, error) {
	t.Helper()
	r, err := Parse(name)
	if err != nil {
		t.Fatal(err)
	}
	return s.Resolve(t.Context(), r)
}

// TestLayouts unpacks what builders make.
func TestLayouts(t *testing.T) {
	b := newLayout(t)
	base := b.layer(gzipLayer, dir("usr/"), dir("usr/bin/"), link("bin", "usr/bin"), file("usr/bin/sh", "shell"), file("etc/old", "1"), dir("opt"), file("opt/a", "a"), file("opt/b/c", "c"))
	first := b.tag("one", base)
	b.tag("example.org/app:two", base,
		b.layer(zstdLayer, file("bin/added", "through a link"), file("etc/.wh.old", ""), file("opt/new", "n"), file("opt/.wh..wh..opq", "")),
		b.layer(plainLayer, hard("usr/bin/again", "usr/bin/sh"), link("var/run", "/run"), dir("run"), file("var/run/pid", "7")))
	b.add(func() descriptor {
		many := b.document("application/vnd.oci.image.index.v1+json", index{Manifests: []descriptor{platform(first, "vax"), platform(first, runtime.GOARCH)}})
		many.Annotations = map[string]string{tagAnnotation: "many"}
		return many
	}())
	s := store(t)
	for _, test := range []struct {
		name        string
		files, gone []string
	}{
		{b.dir + ":one", []string{"usr/bin/sh", "etc/old", "opt/b/c"}, nil},
		{b.dir + ":two", []string{"usr/bin/added", "usr/bin/again", "opt/new", "run/pid"}, []string{"etc/old", "opt/a", "opt/b", "etc/.wh.old", "opt/.wh..wh..opq"}},
		{b.dir + ":many", []string{"usr/bin/sh"}, nil},
		{b.dir + "@" + first.Digest, []string{"usr/bin/sh"}, nil},
	} {
		root, err := resolve(t, s, "oci:"+test.name)
		if err != nil {
			t.Errorf("%s: %v", test.name, err)
			continue
		}
		for _, f := range test.files {
			if info, err := os.Lstat(filepath.Join(root.Path, f)); err != nil || !info.Mode().IsRegular() {
				t.Errorf("%s: %s is not there: %v", test.name, f, err)
			} else if !info.ModTime().Equal(time.Unix(1_000_000_000, 0)) {
				t.Errorf("%s: %s has another time", test.name, f)
			}
		}
		for _, f := range test.gone {
			if _, err := os.Lstat(filepath.Join(root.Path, f)); err == nil {
				t.Errorf("%s: %s is still there", test.name, f)
			}
		}
	}
	// Two tags of one manifest are one folder, and a second look unpacks nothing.
	entries, _ := os.ReadDir(s.Dir)
	if len(entries) != 2 {
		t.Errorf("the store has %d folders: %v", len(entries), entries)
	}
}
