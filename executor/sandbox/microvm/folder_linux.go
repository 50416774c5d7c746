package microvm

import (
	"fmt"
	"os"
	"path/filepath"
	"strconv"
	"strings"

	"github.com/toolwarrant/toolwarrant/executor/sandbox"
)

// folderPrefix begins the names of folders of sockets. The namespace of the
// process that made one, its number and when it began follow: a number says
// nothing in another namespace that shares the folder.
func folderPrefix() (string, error) {
	space, err := os.Readlink("/proc/self/ns/pid")
	if err != nil {
		return "", err
	}
	return "toolwarrant-vm-" + strings.Trim(space, "pid:[]") + "-", nil
}

// socketFolder makes a folder that only we can enter.
func socketFolder(parent string) (string, error) {
	if parent == "" {
		parent = os.TempDir()
	}
	self := strconv.Itoa(os.Getpid())
	began, err := startTime(self)
	if err != nil {
		return "", err
	}
	prefix, err := folderPrefix()
	if err != nil {
		return "", err
	}
	dir, err := os.MkdirTemp(parent, prefix+self+"-"+began+"-")
	if err != nil {
		return "", sandbox.Errorf(sandbox.ErrUnavailable, "no folder for the sockets of a virtual machine can be made: %v; name another with Folder", err)
	}
	return dir, nil
}

// sweepFolders removes what processes left that were killed.
func sweepFolders(parent string) {
	if parent == "" {
		parent = os.TempDir()
	}
	prefix, err := folderPrefix()
	if err != nil {
		return
	}
	found, err := filepath.Glob(filepath.Join(parent, prefix+"*-*-*"))
	if err != nil {
		return
	}
	for _, dir := range found {
		part := strings.Split(strings.TrimPrefix(filepath.Base(dir), prefix), "-")
		if info, err := os.Lstat(dir); err != nil || !info.IsDir() || len(part) != 3 {
			continue
		}
		if began, err := startTime(part[0]); err == nil && began == part[1] {
			continue // its owner lives
		}
		_ = os.RemoveAll(dir)
	}
}

// startTime is when a process began, in ticks since the system did: with its
// number it names a process for good.
func startTime(pid string) (string, error) {
	stat, err := os.ReadFile("/proc/" + pid + "/stat")
	if err != nil {
		return "", err
	}
	// The name in parentheses may hold anything.
	_, rest, _ := strings.Cut(string(stat[strings.LastIndexByte(string(stat), ')')+1:]), " ")
	fields := strings.Fields(rest)
	if len(fields) < 20 {
		return "", fmt.Errorf("the state of process %s cannot be read", pid)
	}
	return fields[19], nil
}
