package allow

import (
	"net"
	"os"
	"testing"

	"github.com/toolwarrant/toolwarrant/executor/sandbox"
)

// TestServeFiles refuses descriptors that are not what was asked for, and
// keeps none of them.
func TestServeFiles(t *testing.T) {
	tcp, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	defer tcp.Close()
	udp, err := net.ListenPacket("udp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	defer udp.Close()
	local, err := net.Listen("unix", t.TempDir()+"/socket")
	if err != nil {
		t.Fatal(err)
	}
	defer local.Close()
	good, err := New(sandbox.AllowList{Hosts: []string{"a.example"}, Ports: []int{portOf(tcp.Addr())}}, Options{})
	if err != nil {
		t.Fatal(err)
	}
	other, err := New(sandbox.AllowList{Hosts: []string{"a.example:1"}}, Options{})
	if err != nil {
		t.Fatal(err)
	}
	type filer interface{ File() (*os.File, error) }
	T, U, L := tcp.(filer), udp.(filer), local.(filer)
	for _, tc := range []struct {
		name  string
		list  *List
		files []filer
		ok    bool
	}{
		{"right", good, []filer{T, U, T}, true},
		{"none", good, nil, false},
		{"too few", good, []filer{T, U}, false},
		{"too many", good, []filer{T, T, U, T}, false},
		{"another order", good, []filer{T, T, U}, false},
		{"another port", other, []filer{T, U, T}, false},
		{"a listener of another kind", good, []filer{L, U, T}, false},
		{"a name server of another kind", good, []filer{T, U, L}, false},
		{"no socket at all", good, []filer{null{}, U, T}, false},
	} {
		var files []*os.File
		for _, f := range tc.files {
			file, err := f.File()
			if err != nil {
				t.Fatal(err)
			}
			files = append(files, file)
		}
		p, err := tc.list.ServeFiles(files)
		if err == nil != tc.ok {
			t.Errorf("%s: %v", tc.name, err)
		}
		if p != nil {
			p.Close()
		}
		for _, f := range files {
			if f.Close() == nil {
				t.Errorf("%s: a descriptor was left open", tc.name)
			}
		}
	}
}

type null struct{}

func (null) File() (*os.File, error) { return os.Open(os.DevNull) }
