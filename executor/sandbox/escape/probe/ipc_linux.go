package main

import (
	"os"
	"strconv"
	"unsafe"

	"golang.org/x/sys/unix"
)

// ipcProbes reach for what processes of the host share.
var ipcProbes = []probe{
	{Name: "shared-memory-of-host", Dimension: environ, run: func(a args) verdict {
		key, _ := strconv.Atoi(a["shm"])
		if key == 0 {
			return absent("the tests could not prepare it")
		}
		_, _, e := unix.Syscall(unix.SYS_SHMGET, uintptr(key), 0, 0)
		return refused(failure(e), "it is there")
	}},
	{Name: "shared-files-of-host", Dimension: environ, run: func(a args) verdict { return canary(a, "/dev/shm/"+a["nonce"]) }},
}

// A mark is something that may be left for the next user of a sandbox.
type mark struct {
	name        string
	plant, look func(nonce string) error // look is nil where the mark is found
}

func fileMark(name, path string) mark {
	return mark{name, func(nonce string) error { return os.WriteFile(path, []byte(nonce), 0o600) },
		func(string) error { _, err := os.Lstat(path); return err }}
}

const ipcCreate, ipcKey = 0o1600, 0x6c65616b

func marks() []mark {
	queue := [...]byte{'l', 'e', 'a', 'k', 0}
	return []mark{
		fileMark("scratch", "/scratch/leak"), fileMark("tmp", "/tmp/leak"), fileMark("var-tmp", "/var/tmp/leak"), fileMark("dev-shm", "/dev/shm/leak"),
		fileMark("hidden", "/scratch/.leak"),
		{"locked-folder", func(nonce string) error {
			if err := os.MkdirAll("/scratch/deep/"+nonce, 0o700); err != nil {
				return err
			}
			return os.Chmod("/scratch/deep", 0)
		}, func(string) error { _, err := os.Lstat("/scratch/deep"); return err }},
		{"link", func(string) error { return os.Symlink(probeDir, "/scratch/to") }, func(string) error { _, err := os.Lstat("/scratch/to"); return err }},
		{"home", func(nonce string) error { return os.WriteFile(os.Getenv("HOME")+"/.profile", []byte(nonce), 0o600) },
			func(string) error { _, err := os.Lstat(os.Getenv("HOME") + "/.profile"); return err }},
		{"shared-memory", func(string) error {
			_, _, e := unix.Syscall(unix.SYS_SHMGET, ipcKey, 4096, ipcCreate)
			return failure(e)
		}, func(string) error { _, _, e := unix.Syscall(unix.SYS_SHMGET, ipcKey, 0, 0); return failure(e) }},
		{"semaphore", func(string) error {
			_, _, e := unix.Syscall(unix.SYS_SEMGET, ipcKey, 1, ipcCreate)
			return failure(e)
		}, func(string) error { _, _, e := unix.Syscall(unix.SYS_SEMGET, ipcKey, 0, 0); return failure(e) }},
		{"message-queue", func(string) error {
			_, _, e := unix.Syscall(unix.SYS_MSGGET, ipcKey, ipcCreate, 0)
			return failure(e)
		}, func(string) error { _, _, e := unix.Syscall(unix.SYS_MSGGET, ipcKey, 0, 0); return failure(e) }},
		{"posix-queue", func(string) error {
			_, _, e := unix.Syscall6(unix.SYS_MQ_OPEN, uintptr(unsafe.Pointer(&queue)), unix.O_CREAT|unix.O_RDWR, 0o600, 0, 0, 0)
			return failure(e)
		}, func(string) error {
			_, _, e := unix.Syscall6(unix.SYS_MQ_OPEN, uintptr(unsafe.Pointer(&queue)), unix.O_RDWR, 0, 0, 0, 0)
			return failure(e)
		}},
		{"key", func(nonce string) error {
			_, err := unix.AddKey("user", "leak", []byte(nonce), unix.KEY_SPEC_USER_KEYRING)
			return err
		}, func(string) error {
			_, err := unix.KeyctlSearch(unix.KEY_SPEC_USER_KEYRING, "user", "leak", 0)
			return err
		}},
		{"process", func(nonce string) error { _, err := start("sleep", "leak"+nonce); return err }, processNamed},
		{"abstract-socket", func(nonce string) error { _, err := start("listen", "unix", "@leak"+nonce); return err },
			func(nonce string) error { return dialled("unix", "@leak"+nonce) }},
		{"port", func(string) error { _, err := start("listen", "tcp", "127.0.0.1:7421"); return err },
			func(string) error { return dialled("tcp", "127.0.0.1:7421") }},
		{"limit", func(string) error { return limitOthers() }, func(string) error {
			var now unix.Rlimit
			if err := unix.Getrlimit(unix.RLIMIT_FSIZE, &now); err != nil || now.Cur == leakLimit {
				return err
			}
			return unix.ENOENT
		}},
		{"hostname", func(string) error { return unix.Sethostname([]byte("leak")) }, func(string) error {
			if name, _ := os.Hostname(); name != "leak" {
				return unix.ENOENT
			}
			return nil
		}},
	}
}
