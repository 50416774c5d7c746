package config

import (
	"os"
	"path/filepath"
	"runtime"
	"strings"

	"github.com/toolwarrant/toolwarrant/fault"
)

// Home is the absolute path of the home folder: the flag, else
// $TOOLWARRANT_HOME, else toolwarrant in the user's data folder, which is
// $XDG_DATA_HOME or ~/.local/share, ~/Library/Application Support on darwin,
// and %LocalAppData% on windows. It is not created. The error is USAGE.
func Home(flag string, env []string) (string, error) {
	return home(flag, env, runtime.GOOS, os.UserHomeDir)
}

func home(flag string, env []string, system string, userHome func() (string, error)) (string, error) {
	get := func(name string) string {
		value := ""
		for _, entry := range env {
			if n, v, ok := strings.Cut(entry, "="); ok && n == name {
				value = v
			}
		}
		return value
	}
	for _, dir := range []string{flag, get(HomeVariable)} {
		if dir != "" {
			return absolute(dir)
		}
	}
	var below []string
	switch system {
	case "windows":
		if dir := get("LocalAppData"); dir != "" {
			return absolute(filepath.Join(dir, "toolwarrant"))
		}
		below = []string{"AppData", "Local"}
	case "darwin", "ios":
		below = []string{"Library", "Application Support"}
	default:
		// The XDG specification: a relative path there is to be ignored.
		if dir := get("XDG_DATA_HOME"); filepath.IsAbs(dir) {
			return filepath.Join(dir, "toolwarrant"), nil
		}
		below = []string{".local", "share"}
	}
	user, err := userHome()
	if err != nil {
		return "", fault.New(fault.Usage, "no-home", "the user has no home folder; give one with --home or %s", HomeVariable).Because(err)
	}
	return absolute(filepath.Join(append(append([]string{user}, below...), "toolwarrant")...))
}

func absolute(dir string) (string, error) {
	abs, err := filepath.Abs(dir)
	if err != nil {
		return "", fault.New(fault.Usage, "no-home", "the home folder %q cannot be found", dir).Because(err)
	}
	return abs, nil
}
