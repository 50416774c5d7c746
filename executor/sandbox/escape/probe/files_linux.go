package main

import (
	"os"
	"path/filepath"
	"strings"

	"golang.org/x/sys/unix"
)

// fileProbes read what is the host's.
var fileProbes = []probe{
	{Name: "read-shadow", Dimension: fsRead, run: func(args) verdict {
		text, err := os.ReadFile("/etc/shadow")
		return refused(err, first1(text))
	}},
	{Name: "read-root-home", Dimension: fsRead, run: func(args) verdict { return list("/root") }},
	{Name: "read-home", Dimension: fsRead, run: func(a args) verdict { return list(a["home"]) }},
	{Name: "read-canary", Dimension: fsRead, run: func(a args) verdict { return canary(a, a["canary"]) }},
	{Name: "read-dotdot", Dimension: fsRead, run: func(a args) verdict {
		return canary(a, probeDir+"/"+strings.Repeat("../", 20)+a["canary"])
	}},
	{Name: "read-link-in-read-only-mount", Dimension: fsRead, run: func(a args) verdict { return canary(a, probeDir+"/link") }},
	{Name: "read-link-in-writable-mount", Dimension: fsRead, run: func(a args) verdict { return canary(a, workDir+"/link") }},
	{Name: "read-relative-link-made-inside", Dimension: fsRead, run: func(a args) verdict {
		link := workDir + "/own"
		_ = os.Remove(link)
		if err := os.Symlink(strings.Repeat("../", 20)+strings.TrimPrefix(a["canary"], "/"), link); err != nil {
			return held("%v", err)
		}
		return canary(a, link)
	}},
	{Name: "read-through-root-of-process-1", Dimension: fsRead, run: func(a args) verdict { return canary(a, "/proc/1/root"+a["canary"]) }},
	{Name: "read-through-cwd-of-process-1", Dimension: fsRead, run: func(a args) verdict {
		return canary(a, "/proc/1/cwd/"+strings.Repeat("../", 20)+a["canary"])
	}},
	{Name: "read-through-root-of-host-process", Dimension: fsRead, run: func(a args) verdict { return canary(a, "/proc/"+a["pid"]+"/root"+a["canary"]) }},
	{Name: "read-descriptors-of-process-1", Dimension: fsRead, run: func(args) verdict {
		// Their numbers alone are not worth anything.
		v := list("/proc/1/fd")
		entries, _ := os.ReadDir("/proc/1/fd")
		for _, e := range entries {
			target, err := os.Readlink("/proc/1/fd/" + e.Name())
			if v = refused(err, e.Name()+" is "+target); v.Outcome == "open" {
				return v
			}
		}
		return v
	}},
	{Name: "read-machine-id", Dimension: fsRead, run: func(args) verdict {
		text, err := os.ReadFile("/etc/machine-id")
		return refused(err, first1(text))
	}},
	{Name: "read-logs", Dimension: fsRead, run: func(args) verdict { return list("/var/log") }},
	{Name: "read-boot", Dimension: fsRead, run: func(args) verdict { return list("/boot") }},
	{Name: "read-sys", Dimension: fsRead, run: func(args) verdict { return list("/sys/kernel") }},
	{Name: "read-run", Dimension: fsRead, run: func(args) verdict {
		// An engine leaves a file of its own there.
		if entries, err := os.ReadDir("/run"); err == nil && len(entries) == 1 && entries[0].Name() == ".containerenv" {
			return held("only what the engine made")
		}
		return list("/run")
	}},
	{Name: "read-kcore", Dimension: fsRead, run: func(args) verdict { return readable("/proc/kcore") }},
	{Name: "read-kmsg", Dimension: fsRead, run: func(args) verdict { return first(readable("/dev/kmsg"), readable("/proc/kmsg")) }},
	{Name: "read-keys-of-kernel", Dimension: fsRead, run: func(args) verdict {
		text, err := os.ReadFile("/proc/keys")
		if err == nil && len(text) == 0 {
			return held("no key")
		}
		return refused(err, first1(text))
	}},
	{Name: "open-by-handle", Dimension: fsRead, run: func(args) verdict {
		for _, path := range []string{"/usr", "/", probeDir} {
			handle, _, err := unix.NameToHandleAt(unix.AT_FDCWD, path, 0)
			if err != nil {
				continue
			}
			dir, err := unix.Open(path, unix.O_RDONLY|unix.O_DIRECTORY, 0)
			if err != nil {
				return held("%v", err)
			}
			defer unix.Close(dir)
			fd, err := unix.OpenByHandleAt(dir, handle, unix.O_RDONLY)
			if err == nil {
				_ = unix.Close(fd)
			}
			return refused(err, path)
		}
		return held("no handle of any file")
	}},
}

// list is open when a folder has something in it.
func list(dir string) verdict {
	entries, err := os.ReadDir(dir)
	if err == nil && len(entries) == 0 {
		return held("nothing in it")
	}
	if err != nil {
		return held("%v", err)
	}
	return open("%d entries, %s first", len(entries), entries[0].Name())
}

// canary is open when path holds the secret of the tests.
func canary(a args, path string) verdict {
	text, err := os.ReadFile(path)
	switch {
	case err != nil:
		return held("%v", err)
	case strings.Contains(string(text), a["secret"]):
		return open("the secret was read")
	}
	return held("another file")
}

// readable is open when path can be opened and gives something.
func readable(path string) verdict {
	fd, err := unix.Open(path, unix.O_RDONLY|unix.O_NONBLOCK|unix.O_CLOEXEC, 0)
	if err != nil {
		return held("%s: %v", filepath.Base(path), err)
	}
	defer unix.Close(fd)
	n, err := unix.Read(fd, make([]byte, 64))
	if err == nil && n == 0 {
		return held("%s is empty", filepath.Base(path))
	}
	return refused(err, filepath.Base(path)+" was read")
}

func first1(text []byte) string {
	line, _, _ := strings.Cut(string(text), "\n")
	return line[:min(len(line), 40)]
}
