package config

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"regexp"
	"strconv"
	"strings"
	"unicode/utf8"

	"go.yaml.in/yaml/v3"

	"github.com/toolwarrant/toolwarrant/fault"
)

// parse reads a document, JSON where its name or its content says so.
func parse(name string, data []byte) (*node, error) {
	data = bytes.TrimPrefix(data, []byte("\xef\xbb\xbf"))
	if !utf8.Valid(data) {
		return nil, syntax(name, 0, 0, "the document is not UTF-8 text")
	}
	read := parseYAML
	if strings.HasSuffix(strings.ToLower(name), ".json") || json.Valid(data) {
		read = func(name string, data []byte) (*node, error) { return parseJSON(place{file: name}, data) }
	}
	n, err := read(name, data)
	if err == nil && n.kind == null { // an empty document
		n.kind, n.scalar = object, nil
	}
	return n, err
}

func syntax(file string, line, column int, format string, args ...any) *fault.Error {
	return fault.New(fault.Usage, "bad-syntax", format, args...).At(file, "", line, column)
}

// parseYAML reads one YAML document without expanding anything.
func parseYAML(file string, data []byte) (n *node, err error) {
	defer func() {
		// The YAML parser is not ours and reports some defects by panicking.
		if p := recover(); p != nil {
			n, err = nil, syntax(file, 0, 0, "the document is not YAML").Because(fmt.Errorf("%v", p))
		}
	}()
	dec := yaml.NewDecoder(bytes.NewReader(data))
	var doc, next yaml.Node
	switch err := dec.Decode(&doc); {
	case errors.Is(err, io.EOF):
		return &node{kind: object, at: place{file: file, line: 1, column: 1}}, nil
	case err != nil:
		return nil, yamlSyntax(file, err)
	}
	switch err := dec.Decode(&next); {
	case err == nil:
		return nil, syntax(file, next.Line, next.Column, "a configuration is one YAML document; this begins a second one")
	case !errors.Is(err, io.EOF):
		return nil, yamlSyntax(file, err)
	}
	r := yamlReader{file: file, lines: bytes.Split(data, []byte("\n"))}
	return r.node(&doc, nil)
}

var yamlLine = regexp.MustCompile(`^yaml: (?:line ([0-9]+): )?(?s:(.*))$`)

func yamlSyntax(file string, err error) error {
	m := yamlLine.FindStringSubmatch(err.Error())
	if m == nil {
		return syntax(file, 0, 0, "the document is not YAML").Because(err)
	}
	line, _ := strconv.Atoi(m[1])
	column := 0
	if line > 0 {
		column = 1
	}
	return syntax(file, line, column, "the document is not YAML: %s", m[2]).Because(err)
}

// yamlReader turns YAML nodes into ours.
type yamlReader struct {
	file  string
	lines [][]byte
}

func (r yamlReader) node(y *yaml.Node, path []string) (*node, error) {
	at := r.place(y)
	if len(path) > maxDepth {
		return nil, at.fault("bad-value", path[:1], "nested deeper than %d levels", maxDepth)
	}
	if y.Kind == yaml.AliasNode || y.Anchor != "" {
		return nil, at.fault("bad-value", path, "anchors and aliases are not supported; write the value out")
	}
	n := &node{at: at}
	switch y.Kind {
	case yaml.DocumentNode:
		if len(y.Content) == 1 {
			return r.node(y.Content[0], path)
		}
		n.kind = null
	case yaml.MappingNode:
		if tag := y.ShortTag(); tag != "!!map" {
			return nil, at.fault("bad-value", path, "the tag %s is not supported", tag)
		}
		n.kind = object
		for i := 0; i+1 < len(y.Content); i += 2 {
			m, err := r.member(n, y.Content[i], y.Content[i+1], path)
			if err != nil {
				return nil, err
			}
			n.members = append(n.members, m)
		}
	case yaml.SequenceNode:
		if tag := y.ShortTag(); tag != "!!seq" {
			return nil, at.fault("bad-value", path, "the tag %s is not supported", tag)
		}
		n.kind = list
		for i, e := range y.Content {
			item, err := r.node(e, extend(path, strconv.Itoa(i)))
			if err != nil {
				return nil, err
			}
			n.items = append(n.items, item)
		}
	case yaml.ScalarNode:
		return n, r.scalar(n, y, path)
	default:
		return nil, at.fault("bad-value", path, "this YAML construct is not supported")
	}
	return n, nil
}

func (r yamlReader) member(of *node, key, value *yaml.Node, path []string) (member, error) {
	at := r.place(key)
	if key.Kind != yaml.ScalarNode || key.Anchor != "" || key.ShortTag() == "!!merge" {
		return member{}, at.fault("bad-value", path, "a key has to be a plain word")
	}
	if of.member(key.Value) != nil {
		return member{}, duplicate(at, extend(path, key.Value))
	}
	n, err := r.node(value, extend(path, key.Value))
	return member{key.Value, at, n}, err
}

func (r yamlReader) scalar(n *node, y *yaml.Node, path []string) error {
	switch y.ShortTag() {
	case "!!str", "!!timestamp": // a date is a text here
		n.kind, n.scalar = text, y.Value
	case "!!null":
		n.kind = null
	case "!!bool":
		n.kind, n.scalar = truth, strings.EqualFold(y.Value, "true")
	case "!!int", "!!float":
		if !json.Valid([]byte(y.Value)) {
			return n.at.fault("bad-value", path, "%q is not a decimal number", y.Value)
		}
		n.kind, n.scalar = number, json.Number(y.Value)
	default:
		return n.at.fault("bad-value", path, "the tag %s is not supported", y.ShortTag())
	}
	return nil
}

// place turns the column of y, which counts characters, into bytes.
func (r yamlReader) place(y *yaml.Node) place {
	p := place{file: r.file, line: y.Line, column: y.Column}
	if y.Line < 1 || y.Line > len(r.lines) {
		return p
	}
	line, column := r.lines[y.Line-1], 1
	for i := 1; i < y.Column && column <= len(line); i++ {
		_, size := utf8.DecodeRune(line[column-1:])
		column += size
	}
	p.column = column
	return p
}

func duplicate(at place, path []string) *fault.Error {
	return at.fault("duplicate-key", path, "the key %q is given twice; keep one", path[len(path)-1])
}

// extend gives path with one more step and never shares memory with it.
func extend(path []string, step string) []string {
	return append(path[:len(path):len(path)], step)
}
