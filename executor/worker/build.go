package worker

import (
	"runtime"
	"runtime/debug"
	"strings"
	"sync"
)

// BuildID names this build of the program: parent and worker must be the
// same one, since the messages between them carry no version of their own.
var BuildID = sync.OnceValue(func() string {
	bi, ok := debug.ReadBuildInfo()
	if !ok {
		return runtime.Version() + " " + runtime.GOOS + "/" + runtime.GOARCH
	}
	parts := []string{bi.GoVersion, bi.Path, bi.Main.Version, bi.Main.Sum}
	for _, s := range bi.Settings {
		switch s.Key {
		case "vcs.revision", "vcs.modified", "GOOS", "GOARCH", "-race":
			parts = append(parts, s.Value)
		}
	}
	return strings.Join(parts, " ")
})
