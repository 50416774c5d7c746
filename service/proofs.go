package service

import (
	"cmp"
	"crypto/sha256"
	"encoding/hex"
	"encoding/json"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"sync"

	"github.com/toolwarrant/toolwarrant/internal/atomicfile"
	"github.com/toolwarrant/toolwarrant/resolver"
)

const (
	maxProofs     = 64   // that a home keeps; the oldest go
	maxProofBytes = 4096 // of one
)

// proofs keeps, in the home, which policies passed their own tests under this
// program, one small file each. It saves every command, and every start, the
// seconds that the tests take; "policy test" runs them always. What the files
// say is believed like the rest of the home: who can write there holds the keys
// of the installation too. A file that cannot be read or written costs a run of
// the tests and nothing else.
type proofs struct {
	dir     string
	program func() string // names the program, "" where that cannot be told
}

// proof is the content of a file. It says what it is of, so that a file under
// another's name proves nothing.
type proof struct {
	Content string         `json:"content"`
	Program string         `json:"program"`
	Tests   resolver.Tally `json:"tests"`
}

func newProofs(home string) *proofs {
	return &proofs{dir: filepath.Join(home, "policy", "passed"), program: sync.OnceValue(thisProgram)}
}

// thisProgram changes with each build: another program has other versions of
// OPA and CUE, under which the tests may end otherwise.
func thisProgram() string {
	path, err := os.Executable()
	if err != nil {
		return ""
	}
	st, err := os.Stat(path)
	if err != nil {
		return ""
	}
	return fmt.Sprintf("%s %d %d", path, st.Size(), st.ModTime().UnixNano())
}

func (p *proofs) file(content string) string {
	sum := sha256.Sum256([]byte(content + "\x00" + p.program()))
	return filepath.Join(p.dir, hex.EncodeToString(sum[:])+".json")
}

// Passed implements [resolver.Proofs].
func (p *proofs) Passed(content string) (resolver.Tally, bool) {
	path := p.file(content)
	st, err := os.Stat(path)
	if err != nil || !st.Mode().IsRegular() || st.Size() > maxProofBytes {
		return resolver.Tally{}, false
	}
	raw, err := os.ReadFile(path)
	if err != nil {
		return resolver.Tally{}, false
	}
	var is proof
	if json.Unmarshal(raw, &is) != nil || is.Content != content || is.Program == "" || is.Program != p.program() ||
		is.Tests.Passed < 1 || is.Tests.Failed != 0 {
		return resolver.Tally{}, false
	}
	return is.Tests, true
}

// Keep implements [resolver.Proofs].
func (p *proofs) Keep(content string, t resolver.Tally) {
	program := p.program()
	if program == "" {
		return
	}
	raw, err := json.Marshal(proof{content, program, t})
	if err != nil || os.MkdirAll(p.dir, 0o700) != nil {
		return
	}
	if atomicfile.WriteFile(p.file(content), append(raw, '\n'), 0o600) == nil {
		p.tidy()
	}
}

// tidy removes the oldest beyond maxProofs.
func (p *proofs) tidy() {
	files, err := filepath.Glob(filepath.Join(p.dir, "*.json"))
	if err != nil || len(files) <= maxProofs {
		return
	}
	age := func(path string) int64 {
		st, err := os.Stat(path)
		if err != nil {
			return 0
		}
		return st.ModTime().UnixNano()
	}
	slices.SortFunc(files, func(a, b string) int { return cmp.Compare(age(b), age(a)) })
	for _, old := range files[maxProofs:] {
		_ = os.Remove(old) // gone already, or one more file than needed
	}
}
