package catalog

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"io/fs"
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
const stateVersion = 1

// noDigest names no document: a draft mark on a tool that never passed.
var noDigest = "sha256:" + strings.Repeat("0", 64)

// state is state.json: what passed its Local Pass, by toolId. Entries of
// tools that are not there now are kept.
type state struct {
	Version int             `json:"version"`
	Tools   map[string]Pass `json:"tools"`
}

// readState reads a state file; one that does not exist is empty. Anything
// else that is wrong with it is an error: without it nobody knows what passed
// and what was taken out of service.
func readState(file string) (state, error) {
	empty := state{Version: stateVersion, Tools: map[string]Pass{}}
	data, err := os.ReadFile(file)
	if errors.Is(err, fs.ErrNotExist) {
		return empty, nil
	}
	if err != nil {
		return empty, stateFault(file, "state-unreadable", "%s cannot be read: %v", file, err).Because(err)
	}
	// The version decides before the members do: a newer file may have more.
	var head struct {
		Version *int `json:"version"`
	}
	if err := json.Unmarshal(data, &head); err == nil && head.Version != nil && *head.Version > stateVersion {
		return empty, stateFault(file, "state-newer",
			"%s has version %d, this build reads version %d; use the newer toolwarrant that wrote it", file, *head.Version, stateVersion)
	}
	var s state
	if err := jsonv2.Unmarshal(data, &s, jsonv2.RejectUnknownMembers(true)); err != nil {
		return empty, corruptState(file, err)
	}
	if s.Version != stateVersion {
		return empty, corruptState(file, errors.New("it has no version"))
	}
	if s.Tools == nil {
		s.Tools = map[string]Pass{}
	}
	for id, p := range s.Tools {
		switch p.Exposure {
		case ExposureExposed, ExposureHidden, ExposureDraft:
		default:
			return empty, corruptState(file, errors.New("the exposure of "+id+" is unknown: "+p.Exposure))
		}
	}
	return s, nil
}

func corruptState(file string, err error) *fault.Error {
	return stateFault(file, "state-corrupt",
		"%s is damaged (%v); restore it, or move it away and test and publish your tools again", file, err).Because(err)
}

func stateFault(file, reason, format string, args ...any) *fault.Error {
	return fault.New(fault.Usage, reason, format, args...).At(file, "", 0, 0)
}

// write replaces the state file, whole or not at all.
func (s state) write(file string) error {
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
