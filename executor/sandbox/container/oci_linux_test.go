package container

import (
	"archive/tar"
	"bytes"
	"crypto/sha256"
	"encoding/hex"
	"encoding/json"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/toolwarrant/toolwarrant/executor/sandbox"
	"github.com/toolwarrant/toolwarrant/executor/sandbox/image"
)

// TestImageOCI runs a layout that the test makes.
func TestImageOCI(t *testing.T) {
	busybox, err := os.ReadFile("/bin/busybox")
	if err != nil || static(bytes.NewReader(busybox)) != nil {
		t.Skip("no static busybox is here to be an image")
	}
	f := working(t, NewRunc)
	f.images = &image.Store{Dir: filepath.Join(f.folder.base, "images")}
	defer os.RemoveAll(f.images.Dir)

	dir := t.TempDir()
	blob := func(data []byte) map[string]any {
		sum := sha256.Sum256(data)
		name := hex.EncodeToString(sum[:])
		if err := write(filepath.Join(dir, "blobs/sha256", name), string(data)); err != nil {
			t.Fatal(err)
		}
		return map[string]any{"digest": "sha256:" + name, "size": len(data)}
	}
	document := func(v any) []byte {
		data, err := json.Marshal(v)
		if err != nil {
			t.Fatal(err)
		}
		return data
	}
	var layer bytes.Buffer
	w := tar.NewWriter(&layer)
	for _, h := range []tar.Header{
		{Name: "bin/busybox", Typeflag: tar.TypeReg, Mode: 0o6755, Size: int64(len(busybox))},
		{Name: "bin/sh", Typeflag: tar.TypeSymlink, Linkname: "busybox"},
		{Name: "etc/passwd", Typeflag: tar.TypeReg, Mode: 0o644},
		{Name: "var/tmp", Typeflag: tar.TypeDir, Mode: 0o1777},
	} {
		if err := w.WriteHeader(&h); err != nil {
			t.Fatal(err)
		}
		if h.Size > 0 {
			_, _ = w.Write(busybox)
		}
	}
	_ = w.Close()
	l := blob(layer.Bytes())
	l["mediaType"] = "application/vnd.oci.image.layer.v1.tar"
	m := blob(document(map[string]any{"layers": []any{l}}))
	m["mediaType"] = "application/vnd.oci.image.manifest.v1+json"
	m["annotations"] = map[string]string{"org.opencontainers.image.ref.name": "v1"}
	for name, data := range map[string][]byte{"oci-layout": []byte(`{"imageLayoutVersion":"1.0.0"}`), "index.json": document(map[string]any{"manifests": []any{m}})} {
		if err := write(filepath.Join(dir, name), string(data)); err != nil {
			t.Fatal(err)
		}
	}
	s := create(t, f, sandbox.Spec{Image: "oci:" + dir + ":v1"})
	r := sh(t, s, "busybox ls -d /*; busybox stat -c %a /bin/busybox; echo x > /var/tmp/x && busybox cat /var/tmp/x; echo y > /bin/y; busybox id -u")
	got := strings.Join(strings.Fields(string(r.Stdout)), " ")
	if got != "/bin /dev /etc /proc /scratch /tmp /var 755 x 1000" && got != "/bin /dev /etc /proc /scratch /tmp /var 755 x 0" {
		t.Errorf("inside: %q %s", got, r.Stderr)
	}
}
