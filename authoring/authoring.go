// Package authoring makes the folders that tool authors begin with, and the
// declarations with which their editors complete what they write.
//
// A scaffold lints without a finding and passes its own test as it is. It may
// be imported by commands; it imports package spec, fault and internal/atomicfile.
package authoring

import (
	"bytes"
	"embed"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path"
	"path/filepath"
	"regexp"
	"strings"

	"github.com/toolwarrant/toolwarrant/fault"
	"github.com/toolwarrant/toolwarrant/internal/atomicfile"
	"github.com/toolwarrant/toolwarrant/spec"
)

//go:embed templates
var templates embed.FS

// Templates are the kinds of tools to begin with.
var Templates = []Template{
	{"pure", "computes; no network and no files", `{"text":"How long is this?"}`, ""},
	{"http", "reads a web API, tested without the network", `{"repository":"golang/go"}`, "| `fixtures.json` | what the web answers in a test; `--live` asks the web itself |\n"},
	{"file", "reads files of the workspace", `{"path":"todo.md"}`, "| `fixtures/` | the files that a test begins with |\n"},
}

// Template is one of them.
type Template struct {
	Name  string
	About string
	Args  string // arguments of a call, as JSON
	files string // rows of the README
}

// validName is what every client takes as the name of a tool, and every system
// as the name of a folder.
var validName = regexp.MustCompile(`^[A-Za-z][A-Za-z0-9_-]{0,63}$`)

// New makes the folder dir/name with a tool of that name, and returns its path.
// The folder must not be there yet; of a failed attempt nothing stays. Errors
// are of code USAGE: bad-name, unknown-template, exists, path-unwritable.
func New(dir, name, template string) (string, error) {
	if !validName.MatchString(name) {
		f := fault.New(fault.Usage, "bad-name", "%q cannot be the name of a tool: 1 to 64 letters, digits, _ and -, a letter first", name)
		if better := slug(name); better != "" {
			f.Message += fmt.Sprintf("; %q can", better)
		}
		return "", f
	}
	var known []string
	var t *Template
	for i := range Templates {
		if known = append(known, Templates[i].Name); Templates[i].Name == template {
			t = &Templates[i]
		}
	}
	if t == nil {
		return "", fault.New(fault.Usage, "unknown-template", "there is no template %q; there are %s", template, strings.Join(known, ", "))
	}
	folder := filepath.Join(dir, name)
	if _, err := os.Lstat(folder); err == nil {
		return "", fault.New(fault.Usage, "exists", "%s is there already, and nothing is written over; choose another name or --dir", folder)
	}
	if err := os.MkdirAll(dir, 0o755); err != nil {
		return "", unwritable(dir, err)
	}
	// All of it appears at once, under its name.
	building, err := os.MkdirTemp(dir, ".toolwarrant-new-")
	if err != nil {
		return "", unwritable(dir, err)
	}
	defer os.RemoveAll(building)
	if err := t.write(building, name); err != nil {
		return "", err
	}
	if err := os.Chmod(building, 0o755); err != nil {
		return "", unwritable(folder, err)
	}
	if err := os.Rename(building, folder); err != nil {
		return "", unwritable(folder, err)
	}
	return folder, nil
}

func (t *Template) write(folder, name string) error {
	readme, err := templates.ReadFile("templates/README.md")
	if err != nil {
		return fault.New(fault.Internal, "template", "a template is missing").Because(err)
	}
	text := strings.NewReplacer("NAME", name, "FILES", t.files, "ARGS", t.Args).Replace(string(readme))
	files := map[string][]byte{"README.md": []byte(text), "jsconfig.json": []byte(jsconfig)}
	root := path.Join("templates", t.Name)
	err = fs.WalkDir(templates, root, func(p string, d fs.DirEntry, err error) error {
		if err != nil || d.IsDir() {
			return err
		}
		data, err := templates.ReadFile(p)
		if p == path.Join(root, "spec.json") {
			data = bytes.Replace(data, []byte(`"NAME"`), []byte(`"`+name+`"`), 1)
		}
		files[strings.TrimPrefix(p, root+"/")] = data
		return err
	})
	if err != nil {
		return fault.New(fault.Internal, "template", "a template is missing").Because(err)
	}
	for file, data := range files {
		if err := write(filepath.Join(folder, filepath.FromSlash(file)), data); err != nil {
			return err
		}
	}
	docs, err := spec.Load(folder)
	if err != nil || len(docs) != 1 || len(docs[0].Errors) > 0 {
		return fault.New(fault.Internal, "template", "the template %s is broken: %v", t.Name, err)
	}
	return WriteTypes(folder, docs[0].Spec)
}

// jsconfig makes editors read the declarations, and know nothing of browsers
// and Node.js. Type errors are not shown: the code is the body of a function,
// which they take for a file.
const jsconfig = `{
  "compilerOptions": { "target": "ES2024", "lib": ["ES2024"], "types": [], "checkJs": false },
  "include": ["action.js", "types/*.d.ts"]
}
`

func write(path string, data []byte) error {
	if err := os.MkdirAll(filepath.Dir(path), 0o755); err != nil {
		return unwritable(path, err)
	}
	if err := atomicfile.WriteFile(path, data, 0o644); err != nil {
		return unwritable(path, err)
	}
	return nil
}

func unwritable(path string, err error) error {
	if errors.Is(err, fs.ErrPermission) {
		return fault.New(fault.Usage, "path-unwritable", "%s cannot be written: permission denied", path).Because(err)
	}
	return fault.New(fault.Usage, "path-unwritable", "%s cannot be written: %v", path, err).Because(err)
}

// slug makes a name of what was meant as one: "my tool!" becomes "myTool".
func slug(name string) string {
	var b strings.Builder
	up := false
	for _, r := range name {
		switch {
		case r >= 'a' && r <= 'z' && up && b.Len() > 0:
			b.WriteRune(r - 'a' + 'A')
			up = false
		case r >= 'a' && r <= 'z' || r >= 'A' && r <= 'Z', b.Len() > 0 && (r >= '0' && r <= '9' || r == '_' || r == '-'):
			b.WriteRune(r)
			up = false
		default:
			up = true
		}
		if b.Len() == 64 {
			break
		}
	}
	if s := b.String(); validName.MatchString(s) {
		return s
	}
	return ""
}
