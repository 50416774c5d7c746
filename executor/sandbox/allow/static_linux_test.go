package allow

import (
	"os"
	"os/exec"
	"path/filepath"
	"strconv"
	"testing"
)

const staticClient = `package main

import (
	"fmt"
	"io"
	"net/http"
	"os"
)

func main() {
	r, err := http.Get(os.Args[1])
	if err != nil {
		fmt.Println(err)
		os.Exit(1)
	}
	io.Copy(os.Stdout, r.Body)
}
`

// TestStaticClient is a program without a C library, whose resolver is its
// own: it finds what is named, with no setting.
func TestStaticClient(t *testing.T) {
	if testing.Short() {
		t.Skip("links a program")
	}
	dir := t.TempDir()
	source, program := filepath.Join(dir, "main.go"), filepath.Join(dir, "client")
	if err := os.WriteFile(source, []byte(staticClient), 0o600); err != nil {
		t.Fatal(err)
	}
	build := exec.Command("go", "build", "-o", program, source)
	build.Env = append(os.Environ(), "CGO_ENABLED=0", "GOFLAGS=")
	if out, err := build.CombinedOutput(); err != nil {
		t.Skipf("no static program: %v: %s", err, out)
	}
	o := newOutside(t)
	j := newJail(t, o.list(t, nil))
	web := strconv.Itoa(o.web)
	if r := j.try("run", program, "http://example.com:"+web+"/"); r.Out != "served example.com:"+web {
		t.Errorf("%+v", r)
	}
	if r := j.try("run", program, "http://denied.test:"+web+"/"); r.Err == "" {
		t.Errorf("%+v", r)
	}
}
