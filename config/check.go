package config

import (
	"errors"
	"fmt"
	"strconv"
	"strings"

	"github.com/santhosh-tekuri/jsonschema/v6"
	why "github.com/santhosh-tekuri/jsonschema/v6/kind"

	"github.com/toolwarrant/toolwarrant/fault"
)

// over checks a layer and lays it over the tree below.
func (s *schema) over(tree, layer *node) (*node, error) {
	if v := layer.member("version"); layer.kind == object && v != nil {
		if err := checkVersion(v.node); err != nil {
			return nil, err
		}
	}
	layer, err := s.check(s.root, layer, nil)
	if err != nil {
		return nil, err
	}
	return merge(tree, layer), nil
}

// checkVersion comes first: a newer format may have any other shape.
func checkVersion(n *node) error {
	if n.kind != number {
		return nil // of the wrong type, which check says
	}
	text := fmt.Sprint(n.scalar)
	v, err := strconv.ParseInt(text, 10, 64)
	tooBig := errors.Is(err, strconv.ErrRange) && !strings.HasPrefix(text, "-")
	if tooBig || (err == nil && v > Version) {
		return n.at.fault("newer-version", []string{"version"},
			"this configuration has version %s and this toolwarrant understands up to %d; use a newer toolwarrant", text, Version)
	}
	return nil
}

// check refuses unknown keys and wrong types. It returns the layer without
// its nulls, which mean the same as an absent key.
func (s *schema) check(k *key, n *node, path []string) (*node, error) {
	if n.kind != k.kind {
		return nil, n.at.fault("bad-value", path, "%s wants %s, not %s", label(path), k.kind, n.kind)
	}
	out := &node{kind: n.kind, scalar: n.scalar, at: n.at}
	switch n.kind {
	case object:
		for _, m := range n.members {
			here := extend(path, m.name)
			sub := k.properties[m.name]
			if sub == nil {
				return nil, m.at.fault("unknown-key", here, "there is no key %q%s", dotted(here), s.didYouMean(here))
			}
			if m.node.kind == null {
				continue
			}
			v, err := s.check(sub, m.node, here)
			if err != nil {
				return nil, err
			}
			out.members = append(out.members, member{m.name, m.at, v})
		}
	case list:
		for i, item := range n.items {
			v, err := s.check(k.items, item, extend(path, strconv.Itoa(i)))
			if err != nil {
				return nil, err
			}
			out.items = append(out.items, v)
		}
	case number:
		if _, err := strconv.ParseInt(fmt.Sprint(n.scalar), 10, 64); err != nil {
			return nil, n.at.fault("bad-value", path, "%s wants a whole number, not %v", label(path), n.scalar)
		}
	}
	return out, nil
}

// validate holds the merged tree against the whole schema, which knows
// bounds, patterns and words.
func (s *schema) validate(tree *node) error {
	err := s.compiled.Validate(tree.plain())
	if err == nil {
		return nil
	}
	var v *jsonschema.ValidationError
	if !errors.As(err, &v) {
		return fault.New(fault.Internal, "config-validate", "the configuration cannot be validated").Because(err)
	}
	for len(v.Causes) > 0 {
		v = v.Causes[0]
	}
	path := v.InstanceLocation
	at := tree.find(path).at
	return at.fault("bad-value", path, "%s %s", label(path), s.want(v.ErrorKind, path)).Because(err)
}

// want says what a value should have been.
func (s *schema) want(k jsonschema.ErrorKind, path []string) string {
	switch k := k.(type) {
	case *why.Enum:
		words := make([]string, len(k.Want))
		for i, w := range k.Want {
			words[i] = fmt.Sprint(w)
		}
		return fmt.Sprintf("wants one of %s, not %v", strings.Join(words, ", "), k.Got)
	case *why.Minimum:
		return fmt.Sprintf("wants at least %s", k.Want.RatString())
	case *why.Maximum:
		return fmt.Sprintf("wants at most %s", k.Want.RatString())
	case *why.Pattern:
		if strings.Contains(k.Want, "https://") {
			return fmt.Sprintf("wants https://..., or http:// to a loopback address, without a query, not %q", k.Got)
		}
		if strings.Contains(k.Want, ":[0-9]") {
			return fmt.Sprintf("wants host:port, not %q", k.Got)
		}
		return fmt.Sprintf("wants a text that matches %s, not %q", k.Want, k.Got)
	case *why.MinLength:
		return "wants a text that is not empty"
	case *why.MaxLength:
		return fmt.Sprintf("wants at most %d characters", k.Want)
	case *why.MinItems:
		return "wants at least one entry"
	case *why.Required:
		return "lacks " + strings.Join(k.Missing, ", ")
	}
	return "has a value that the configuration does not allow"
}

func label(path []string) string {
	if len(path) == 0 {
		return "the configuration"
	}
	return dotted(path)
}
