package catalog

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"io/fs"
	"maps"
	"os"
	"path/filepath"
	"strings"
	"time"

	"github.com/gofrs/flock"

	jsonv2 "github.com/go-json-experiment/json"

	"github.com/toolwarrant/toolwarrant/fault"
	"github.com/toolwarrant/toolwarrant/internal/atomicfile"
)

// stateVersion is the version of state.json that this build reads and writes.
const stateVersion = 2

// noDigest names no document: a draft mark on a tool that never passed.
var noDigest = "sha256:" + strings.Repeat("0", 64)

// state is state.json: what passed its Local Pass, by toolId, and what was
// chosen while toolwarrant ran. Entries of tools that are not there now are
// kept.
type state struct {
	Version int `json:"version"`
	Kept
	Tools map[string]Pass `json:"tools"`

	there    bool // it was read from a file, or written to one
	migrated bool // that file has an older version than this has
}

func emptyState() state {
	return state{Version: stateVersion, Kept: Kept{AutoExpose: true}.clone(), Tools: map[string]Pass{}}
}

// readState reads a state file; one that does not exist is empty. Anything
// else that is wrong with it is an error: without it nobody knows what passed
// and what was taken out of service. One of an older version is given as this
// version has it.
func readState(file string) (state, error) {
	data, err := os.ReadFile(file)
	if errors.Is(err, fs.ErrNotExist) {
		return emptyState(), nil
	}
	if err != nil {
		return state{}, stateFault(file, "state-unreadable", "%s cannot be read: %v", file, err).Because(err)
	}
	// The version decides before the members do: a newer file may have more.
	var head struct {
		Version *int `json:"version"`
	}
	if err := json.Unmarshal(data, &head); err == nil && head.Version != nil && *head.Version > stateVersion {
		return state{}, stateFault(file, "state-newer",
			"%s has version %d, this build reads version %d; use the newer toolwarrant that wrote it", file, *head.Version, stateVersion)
	}
	s, err := parseState(data, head.Version != nil && *head.Version == 1)
	if err != nil {
		return state{}, corruptState(file, err)
	}
	s.there = true
	return s, nil
}

// stateAfter is readState for a catalog that has seen a state before: a file
// that was there and is gone would bring back what was hidden or taken out of
// service.
func stateAfter(old state, file string) (state, error) {
	s, err := readState(file)
	if err == nil && old.there && !s.there {
		return s, stateFault(file, "state-gone", "%s was there and is gone; restore it, or start anew to begin without it", file)
	}
	return s, err
}

// parseState reads a document of this version, or of the first.
func parseState(data []byte, first bool) (s state, err error) {
	read := jsonv2.RejectUnknownMembers(true)
	if first {
		var v1 struct {
			Version int             `json:"version"`
			Tools   map[string]Pass `json:"tools"`
		}
		if err := jsonv2.Unmarshal(data, &v1, read); err != nil {
			return s, err
		}
		s = emptyState()
		s.migrated = true
		maps.Copy(s.Tools, v1.Tools)
		for id, p := range s.Tools {
			if p.Exposure == ExposureHidden { // was part of the pass
				p.Exposure = ExposureExposed
				s.Tools[id], s.Choices[id] = p, ExposureHidden
			}
		}
	} else if err := jsonv2.Unmarshal(data, &s, read); err != nil {
		return s, err
	}
	if s.Version != stateVersion {
		return s, errors.New("it has no version")
	}
	if s.Tools == nil {
		s.Tools = map[string]Pass{}
	}
	s.Kept = s.clone()
	for id, p := range s.Tools {
		if p.Exposure != ExposureExposed && p.Exposure != ExposureDraft {
			return s, errors.New("the exposure of " + id + " is unknown: " + p.Exposure)
		}
	}
	if wrong := s.check(); wrong != "" {
		return s, errors.New(wrong)
	}
	return s, nil
}

// migrate rewrites a state file of the first version, once, and keeps what it
// said beside it.
func migrate(ctx context.Context, file string) error {
	return locked(ctx, filepath.Dir(file), func() error {
		s, err := readState(file)
		if err != nil || !s.migrated {
			return err
		}
		data, err := os.ReadFile(file)
		if err != nil {
			return stateFault(file, "state-unreadable", "%s cannot be read: %v", file, err).Because(err)
		}
		backup := file + ".v1"
		if err := atomicfile.WriteFile(backup, data, 0o600); err != nil {
			return stateFault(backup, "state-unwritable", "%s cannot be kept before it is brought to version %d; nothing was changed", file, stateVersion).Because(err)
		}
		return s.write(file)
	})
}

func corruptState(file string, err error) *fault.Error {
	return stateFault(file, "state-corrupt",
		"%s is damaged (%v); restore it, or move it away, then test and publish your tools and choose what is exposed again", file, err).Because(err)
}

func stateFault(file, reason, format string, args ...any) *fault.Error {
	return fault.New(fault.Usage, reason, format, args...).At(file, "", 0, 0)
}

// write replaces the state file, whole or not at all.
func (s *state) write(file string) error {
	var b bytes.Buffer
	enc := json.NewEncoder(&b)
	enc.SetEscapeHTML(false)
	enc.SetIndent("", "  ")
	if err := enc.Encode(s); err != nil {
		return err
	}
	if err := atomicfile.WriteFile(file, b.Bytes(), 0o600); err != nil {
		return fault.New(fault.Internal, "state-unwritable", "%s cannot be written; nothing was changed", file).
			At(file, "", 0, 0).Because(err)
	}
	s.there = true
	return nil
}

// locked runs change while no other process, and no other Catalog of this
// one, changes the catalog under home. It gives up when ctx ends.
func locked(ctx context.Context, dir string, change func() error) error {
	if err := os.MkdirAll(dir, 0o700); err != nil {
		return fault.New(fault.Internal, "state-unwritable", "the folder %s cannot be made", dir).Because(err)
	}
	lock := flock.New(filepath.Join(dir, ".lock"), flock.SetPermissions(0o600))
	ok, err := lock.TryLockContext(ctx, 5*time.Millisecond)
	if err != nil || !ok {
		return fault.New(fault.Internal, "state-locked", "the catalog in %s is locked by another process; try again", dir).Because(err)
	}
	defer func() { _ = lock.Unlock() }()
	return change()
}
