package config

import (
	"bytes"
	"encoding/json"
	"errors"
	"io"
	"io/fs"
	"os"

	"github.com/toolwarrant/toolwarrant/fault"
)

// Load gives the configuration that follows from the file ("" = none), the
// environment (entries NAME=value, as os.Environ gives them) and the flags
// (dotted key, such as "catalog.preset", to a string, bool, integer, list of
// strings, or any value of the key's JSON form; nil = not given). Flags win over the
// environment, the environment over the file, the file over the defaults;
// lists replace, they do not add up.
//
// Every error is a *fault.Error of code USAGE with one of these reasons:
// unreadable (the file), too-large, bad-syntax, unknown-key (with a
// suggestion), duplicate-key, bad-value, newer-version. One that stems from
// the file carries file, pointer, line and column; another names the variable
// or the key.
func Load(file string, env []string, flags map[string]any) (*Config, error) {
	s, err := loadSchema()
	if err != nil {
		return nil, err
	}
	tree := s.defaults()
	if file != "" {
		data, err := read(file)
		if err != nil {
			return nil, err
		}
		layer, err := parse(file, data)
		if err != nil {
			return nil, err
		}
		if tree, err = s.over(tree, layer); err != nil {
			return nil, err
		}
	}
	layers, err := s.environment(env)
	if err != nil {
		return nil, err
	}
	more, err := s.flags(flags)
	if err != nil {
		return nil, err
	}
	for _, layer := range append(layers, more...) {
		if tree, err = s.over(tree, layer); err != nil {
			return nil, err
		}
	}
	if err := s.validate(tree); err != nil {
		return nil, err
	}
	return decode(tree)
}

func read(file string) ([]byte, error) {
	f, err := os.Open(file)
	if err != nil {
		return nil, unreadable(file, err)
	}
	defer f.Close()
	data, err := io.ReadAll(io.LimitReader(f, MaxBytes+1))
	if err != nil {
		return nil, unreadable(file, err)
	}
	if len(data) > MaxBytes {
		return nil, tooLarge(file)
	}
	return data, nil
}

func unreadable(file string, err error) error {
	why := err
	if pathErr := (*fs.PathError)(nil); errors.As(err, &pathErr) {
		why = pathErr.Err
	}
	return fault.New(fault.Usage, "unreadable", "the configuration cannot be read: %v", why).At(file, "", 0, 0).Because(err)
}

func tooLarge(file string) error {
	return fault.New(fault.Usage, "too-large", "a configuration has at most %d bytes", MaxBytes).At(file, "", 0, 0)
}

// decode gives the tree its Go names. The tree is valid, so that a failure
// here means that the types and the schema do not state the same keys.
func decode(tree *node) (*Config, error) {
	raw, err := json.Marshal(tree.plain())
	if err != nil {
		return nil, fault.New(fault.Internal, "config-encode", "the configuration cannot be encoded").Because(err)
	}
	dec := json.NewDecoder(bytes.NewReader(raw))
	dec.DisallowUnknownFields()
	c := &Config{}
	if err := dec.Decode(c); err != nil {
		return nil, fault.New(fault.Internal, "config-decode", "the configuration types do not match their schema").Because(err)
	}
	return c, nil
}
