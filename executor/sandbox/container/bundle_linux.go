package container

import (
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strings"

	"github.com/toolwarrant/toolwarrant/executor/sandbox"
	"github.com/toolwarrant/toolwarrant/executor/sandbox/image"
)

// hostFolders are what the image "host" has of the host, where it is there.
var hostFolders = []string{"usr", "bin", "sbin", "lib", "lib32", "lib64", "libx32", "etc/alternatives", "etc/ld.so.cache", "etc/ssl/certs", "etc/ca-certificates", "etc/pki"}

// ownPlaces are the entries of the root that are never the image's.
var ownPlaces = []string{"proc", "dev", "sys", "tmp", "scratch", agentFolder}

// ownFiles are those of /etc that say nothing of the host. Names are looked up
// at a server inside, where there is one, and nowhere else.
var ownFiles = map[string]string{
	"passwd":        "root:x:0:0:root:/scratch:/bin/sh\nsandbox:x:1000:1000:sandbox:/scratch:/bin/sh\nnobody:x:65534:65534:nobody:/:/bin/false\n",
	"group":         "root:x:0:\nsandbox:x:1000:\nnogroup:x:65534:\n",
	"hosts":         "127.0.0.1 localhost\n::1 localhost\n",
	"resolv.conf":   "nameserver 127.0.0.1\noptions timeout:2 attempts:1\n",
	"nsswitch.conf": "passwd: files\ngroup: files\nhosts: files dns\n",
}

// ownOverImage are the ones that replace those of an image. Where an image has
// none, C libraries ask 127.0.0.1 as well.
var ownOverImage = []string{"hosts", "resolv.conf", "nsswitch.conf"}

// A bind is a folder or file of the host in the container, read-only unless it
// is writable.
type bind struct {
	source, target string
	writable       bool
}

// furnish fills the bundle in dir: the root folder with the places of all
// mounts, and the files of our own. It gives the folder and what is mounted
// over it. An image is not copied and nothing is written into it: its top
// entries are mounted one by one.
func furnish(dir string, root image.Root, mounts []sandbox.Mount) (rootfs string, binds []bind, err error) {
	rootfs = filepath.Join(dir, "rootfs")
	base, names := root.Path, []string(nil)
	if base == "" {
		base, names = "/", hostFolders
	} else if names, err = list(base); err != nil {
		return "", nil, err
	}
	for _, name := range append([]string{"proc", "dev", "scratch", "tmp"}, agentFolder) {
		if err := makeDir(filepath.Join(rootfs, name)); err != nil {
			return "", nil, err
		}
	}
	if err := place(filepath.Join(rootfs, agentFolder, agentName)); err != nil {
		return "", nil, err
	}
	if root.Path == "" {
		if err := makeDir(filepath.Join(rootfs, "var/tmp")); err != nil {
			return "", nil, err
		}
	}
	if binds, err = skeleton(rootfs, base, names); err != nil {
		return "", nil, err
	}
	more, err := etc(dir, rootfs, root.Path)
	if err != nil {
		return "", nil, err
	}
	binds = append(binds, more...)
	for i, m := range mounts {
		if err := mountPoint(rootfs, m, binds); err != nil {
			return "", nil, sandbox.Errorf(sandbox.ErrSpec, "%s: %v", m.Target, err).At("", fmt.Sprintf("/mounts/%d/target", i), 0, 0)
		}
	}
	return rootfs, binds, nil
}

// stage makes places for the sources of mounts, for a runtime that has to
// bring them in.
func stage(rootfs string, mounts []sandbox.Mount) ([]bind, error) {
	var binds []bind
	for i, m := range mounts {
		source, err := filepath.EvalSymlinks(m.Source)
		if err != nil {
			return nil, err
		}
		info, err := os.Stat(source)
		if err != nil {
			return nil, err
		}
		target := staged(i)
		if at := filepath.Join(rootfs, target); info.IsDir() {
			err = makeDir(at)
		} else {
			err = place(at)
		}
		if err != nil {
			return nil, err
		}
		binds = append(binds, bind{source, target, m.Writable})
	}
	return binds, nil
}

// list gives the top entries of an image that are its own.
func list(base string) ([]string, error) {
	entries, err := os.ReadDir(base)
	if err != nil {
		return nil, err
	}
	var names []string
	for _, e := range entries {
		if !slices.Contains(ownPlaces, e.Name()) {
			names = append(names, e.Name())
		}
	}
	return names, nil
}

// skeleton makes a place for each entry of an image, or the link that it is.
func skeleton(rootfs, base string, names []string) ([]bind, error) {
	var binds []bind
	for _, name := range names {
		source, at := filepath.Join(base, name), filepath.Join(rootfs, name)
		info, err := os.Lstat(source)
		if errors.Is(err, os.ErrNotExist) {
			continue
		}
		if err != nil {
			return nil, err
		}
		switch mode := info.Mode(); {
		case mode&os.ModeSymlink != 0:
			target, err := os.Readlink(source)
			if err == nil {
				err = os.Symlink(target, at)
			}
			if err != nil {
				return nil, err
			}
			continue
		case mode.IsDir():
			err = makeDir(at)
		case mode.IsRegular():
			err = place(at)
		default:
			continue // a device, a pipe, a socket
		}
		if err != nil {
			return nil, err
		}
		binds = append(binds, bind{source: source, target: "/" + name})
	}
	return binds, nil
}

// etc writes our files, or puts them over those of an image.
func etc(dir, rootfs, base string) ([]bind, error) {
	if base == "" {
		for name, text := range ownFiles {
			if err := write(filepath.Join(rootfs, "etc", name), text); err != nil {
				return nil, err
			}
		}
		return nil, nil
	}
	var binds []bind
	if info, err := os.Lstat(filepath.Join(base, "etc")); err != nil || !info.IsDir() {
		return nil, nil
	}
	for _, name := range ownOverImage {
		if info, err := os.Lstat(filepath.Join(base, "etc", name)); err != nil || !info.Mode().IsRegular() {
			continue
		}
		source := filepath.Join(dir, "etc", name)
		if err := write(source, ownFiles[name]); err != nil {
			return nil, err
		}
		binds = append(binds, bind{source: source, target: "/etc/" + name})
	}
	return binds, nil
}

// mountPoint makes the place of a mount, where it is in the root folder itself.
// One inside of the image must be there, and the scratch space is the agent's.
func mountPoint(rootfs string, m sandbox.Mount, binds []bind) error {
	for _, own := range []string{"/scratch", "/tmp", "/var/tmp"} {
		if m.Target == own || strings.HasPrefix(m.Target, own+"/") {
			return nil
		}
	}
	if m.Target == "/"+agentFolder || strings.HasPrefix(m.Target, "/"+agentFolder+"/") {
		return errors.New("the place is the sandbox's own; choose another")
	}
	info, err := os.Stat(m.Source)
	if err != nil {
		return fmt.Errorf("its source cannot be used: %w", err)
	}
	at, names := rootfs, strings.Split(strings.Trim(m.Target, "/"), "/")
	for i, name := range names {
		at = filepath.Join(at, name)
		target := "/" + strings.Join(names[:i+1], "/")
		if slices.ContainsFunc(binds, func(b bind) bool { return b.target == target }) {
			return nil
		}
		have, err := os.Lstat(at)
		switch {
		case errors.Is(err, os.ErrNotExist) && i == len(names)-1 && !info.IsDir():
			err = place(at)
		case errors.Is(err, os.ErrNotExist):
			err = makeDir(at)
		case err == nil && have.Mode()&os.ModeSymlink != 0:
			err = errors.New("the place leads through a symbolic link; name where it leads")
		}
		if err != nil {
			return err
		}
	}
	return nil
}

// makeDir, place and write make what everyone may read, whatever the umask.
func makeDir(at string) error {
	if err := os.MkdirAll(at, 0o755); err != nil {
		return err
	}
	return os.Chmod(at, 0o755)
}

func place(at string) error { return write(at, "") }

func write(at, text string) error {
	if err := makeDir(filepath.Dir(at)); err != nil {
		return err
	}
	if err := os.WriteFile(at, []byte(text), 0o644); err != nil {
		return err
	}
	return os.Chmod(at, 0o644)
}
