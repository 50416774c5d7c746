package apikey

import (
	"errors"
	"fmt"
	"regexp"
	"slices"
	"strings"
	"time"

	"github.com/go-json-experiment/json"

	"github.com/toolwarrant/toolwarrant/fault"
	"github.com/toolwarrant/toolwarrant/internal/printable"
)

const (
	version = 1

	// MaxKeys is how many keys an installation has at most, expired and
	// revoked ones included.
	MaxKeys = 5000
	maxFile = 16 << 20

	maxName = 64
	maxText = 256 // of a subject, a group, a scope, in bytes
	maxList = 64  // groups or scopes
)

// document is the content of the file; cue/apikeys.cue describes it.
type document struct {
	Version int     `json:"version"`
	Keys    []Entry `json:"keys"`
}

var (
	nameForm = regexp.MustCompile(`^[A-Za-z0-9][A-Za-z0-9._@:-]*$`)
	tagForm  = regexp.MustCompile(`^hmac-sha256:[0-9a-f]{64}$`)
)

// parse checks the content of a file of keys.
func parse(path string, b []byte) (document, error) {
	var head struct {
		Version int `json:"version"`
	}
	if err := json.Unmarshal(b, &head); err != nil {
		return document{}, damaged(path, errors.New("no JSON object with a version"))
	}
	if head.Version > version {
		return document{}, unusable(path, nil, "the API keys %s have version %d, this program knows %d; use a newer toolwarrant", path, head.Version, version)
	}
	var doc document
	if err := json.Unmarshal(b, &doc, json.RejectUnknownMembers(true)); err != nil {
		return document{}, damaged(path, errors.New("not of the form of version 1"))
	}
	if doc.Version != version || len(doc.Keys) > MaxKeys {
		return document{}, damaged(path, errors.New("no version, or too many keys"))
	}
	seen := map[string]bool{}
	for i, e := range doc.Keys {
		if err := e.check(); err != nil {
			return document{}, damaged(path, fmt.Errorf("key %d: %w", i, err))
		}
		if seen[e.ID] {
			return document{}, damaged(path, fmt.Errorf("key %d stands twice", i))
		}
		seen[e.ID] = true
	}
	return doc, nil
}

// check holds an entry against its form. Nothing of it enters the error.
func (e Entry) check() error {
	switch {
	case !validID(e.ID):
		return errors.New("the id is none")
	case !tagForm.MatchString(e.Tag):
		return errors.New("the tag is none")
	case e.Groups == nil || e.Scopes == nil:
		return errors.New("groups or scopes are missing")
	case !whole(&e.CreatedAt) || e.CreatedAt.IsZero() || !whole(e.ExpiresAt) || !whole(e.RevokedAt):
		return errors.New("a time is not in UTC and whole seconds")
	}
	return checkWords(e.Name, e.Subject, e.Groups, e.Scopes)
}

func whole(t *time.Time) bool {
	return t == nil || t.Equal(t.Truncate(time.Second)) && t.Location() == time.UTC
}

// checkWords holds what people chose against its bounds.
func checkWords(name, subject string, groups, scopes []string) error {
	if len(name) > maxName || !nameForm.MatchString(name) {
		return fmt.Errorf("a name has letters, digits and . _ - @ :, begins with a letter or digit, and has at most %d of them", maxName)
	}
	if !plain(subject) {
		return fmt.Errorf("a subject is printable text without spaces around it, of at most %d bytes", maxText)
	}
	for _, list := range [][]string{groups, scopes} {
		if len(list) > maxList {
			return fmt.Errorf("there are at most %d groups and %d scopes", maxList, maxList)
		}
		for i, s := range list {
			if !plain(s) || slices.Contains(list[:i], s) {
				return fmt.Errorf("groups and scopes are different printable texts of at most %d bytes", maxText)
			}
		}
	}
	for _, s := range scopes {
		if strings.ContainsAny(s, " \"\\") { // RFC 6749, section 3.3
			return errors.New("a scope has no space, quote or backslash")
		}
	}
	return nil
}

// plain reports whether a text shows what it is: no control characters, no
// invisible ones, no spaces at its ends.
func plain(s string) bool {
	return printable.Name(s, maxText) && strings.TrimSpace(s) == s
}

func damaged(path string, cause error) *fault.Error {
	return unusable(path, cause, "the API keys %s are damaged; restore the file from a backup, or remove it and make new keys", path)
}

func unusable(path string, cause error, format string, args ...any) *fault.Error {
	e := fault.New(fault.Internal, "api-keys", format, args...)
	e.File = path
	return e.Because(cause)
}
