package main

import (
	"runtime"
	"runtime/debug"

	"github.com/spf13/cobra"

	"github.com/toolwarrant/toolwarrant/executor/js"
	"github.com/toolwarrant/toolwarrant/spec"
)

// release is set by the linker in release builds.
var release = ""

// version is the release, else what the Go toolchain knows of the build.
func version() string {
	if release != "" {
		return release
	}
	if bi, ok := debug.ReadBuildInfo(); ok && bi.Main.Version != "" && bi.Main.Version != "(devel)" {
		return bi.Main.Version
	}
	return spec.ThisRuntime().Version + "-dev"
}

func (a *app) versionCmd() *cobra.Command {
	c := &cobra.Command{
		Use:   "version",
		Short: "Say which version this is, and what isolation it has here",
		Args:  cobra.NoArgs,
		RunE: func(*cobra.Command, []string) error {
			rt := js.New(js.Options{})
			defer rt.Close()
			iso, ours := rt.Isolation(), spec.ThisRuntime()
			if a.format == "json" {
				a.json(map[string]any{
					"version": version(), "go": runtime.Version(), "os": runtime.GOOS, "arch": runtime.GOARCH,
					"runtime": ours.ID, "runtimeVersion": ours.Version, "isolation": iso,
				})
				return nil
			}
			a.printf("toolwarrant %s (%s, %s/%s)\nruntime %s %s, isolation %s\n",
				version(), runtime.Version(), runtime.GOOS, runtime.GOARCH, ours.ID, ours.Version, iso.Mode)
			return nil
		},
	}
	a.formats(c, "text", "json")
	return c
}
