package main

import (
	"fmt"
	"runtime"
	"runtime/debug"
	"strings"

	"github.com/rs/zerolog"
	"github.com/spf13/cobra"

	"github.com/toolwarrant/toolwarrant/executor/worker"
	"github.com/toolwarrant/toolwarrant/service"
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
		RunE: func(c *cobra.Command, _ []string) error {
			_, cfg, err := a.settings(nil)
			if err != nil {
				return err
			}
			rt := service.NewRuntime(cfg, zerolog.Nop())
			defer rt.Close()
			if err := service.Ready(c.Context(), rt); err != nil {
				return err
			}
			iso, ours := rt.Isolation(), spec.ThisRuntime()
			if a.format == "json" {
				a.json(map[string]any{
					"version": version(), "go": runtime.Version(), "os": runtime.GOOS, "arch": runtime.GOARCH,
					"runtime": ours.ID, "runtimeVersion": ours.Version, "isolation": iso,
				})
				return nil
			}
			a.printf("toolwarrant %s (%s, %s/%s)\nruntime %s %s, isolation %s\n",
				version(), runtime.Version(), runtime.GOOS, runtime.GOARCH, ours.ID, ours.Version, describe(iso))
			return nil
		},
	}
	a.formats(c, "text", "json")
	return c
}

// describe says in one line what confines the code of tools here.
func describe(iso worker.Isolation) string {
	parts := []string{iso.Mode}
	if len(iso.Namespaces) > 0 {
		parts = append(parts, "namespaces "+strings.Join(iso.Namespaces, "+"))
	}
	if iso.Landlock != nil {
		parts = append(parts, fmt.Sprintf("landlock %d", *iso.Landlock))
	}
	if iso.Seccomp != nil && *iso.Seccomp {
		parts = append(parts, "seccomp")
	}
	if iso.Memory != nil {
		parts = append(parts, "memory "+*iso.Memory)
	}
	return strings.Join(parts, ", ")
}
