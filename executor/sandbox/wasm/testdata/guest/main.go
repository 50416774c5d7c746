// Command guest is a module that tries, one by one, what a module must not be
// able to do, and what it must. Argument 1 is the name of the attempt. It ends
// with 0 and "held" where it was stopped, with 1 and "open: ..." where not. An
// attempt says "begun" first, so that one that never began is not one that was
// held.
// It imports little, because each package is code to compile twice.
package main

import (
	"errors"
	"io"
	"os"
	"strconv"
	"strings"
	"syscall"
	"time"
)

func say(words ...string) { os.Stdout.WriteString(strings.Join(words, " ") + "\n") }

func main() {
	if len(os.Args) < 2 {
		say("no attempt")
		os.Exit(2)
	}
	try, ok := works[os.Args[1]]
	if !ok {
		if try, ok = attempts[os.Args[1]]; !ok {
			say("no attempt of the name", os.Args[1])
			os.Exit(2)
		}
		say("begun")
	}
	if open := try(os.Args[2:]); open != "" {
		say("open:", open)
		os.Exit(1)
	}
	say("held")
}

var keep [][]byte

// works is what a module can do.
var works = map[string]func(args []string) string{
	"hello": func(args []string) string { say(append([]string{"hello"}, args...)...); return "" },
	"exit":  func(args []string) string { n, _ := strconv.Atoi(args[0]); os.Exit(n); return "" },
	"cat": func([]string) string {
		n, err := io.Copy(os.Stdout, os.Stdin)
		os.Stderr.WriteString(strconv.FormatInt(n, 10))
		return wrong(err)
	},
	"lines": func([]string) string { // a server: answers each line before it reads the next
		for buf := make([]byte, 100); ; {
			n, err := os.Stdin.Read(buf)
			if n > 0 {
				say("got", strings.TrimSpace(string(buf[:n])))
			}
			if err != nil {
				return ""
			}
		}
	},
	"env": func([]string) string {
		say(strings.Join(os.Environ(), "\n"))
		return ""
	},
	"args":  func(args []string) string { say(strings.Join(os.Args, "|")); return "" },
	"write": func(args []string) string { return wrong(os.WriteFile(args[0], []byte(args[1]), 0o600)) },
	"read": func(args []string) string {
		text, err := os.ReadFile(args[0])
		say(string(text))
		return wrong(err)
	},
	"list": func(args []string) string {
		entries, err := os.ReadDir(args[0])
		for _, e := range entries {
			say(e.Name())
		}
		return wrong(err)
	},
	"files": func(args []string) string { // everything that programs do with files
		d := args[0] + "/work"
		f, err := os.Create(d + "/a")
		if err == nil {
			return "a file without its folder"
		}
		if err = os.Mkdir(d, 0o700); err == nil {
			f, err = os.Create(d + "/a")
		}
		if err != nil {
			return wrong(err)
		}
		f.WriteString("hello")
		f.WriteAt([]byte("J"), 0)
		f.Truncate(4)
		f.Sync()
		f.Close()
		return wrong(errors.Join(
			os.Mkdir(d+"/sub", 0o700), os.Rename(d+"/a", d+"/sub/b"), os.Link(d+"/sub/b", d+"/c"),
			os.Chtimes(d+"/c", time.Unix(1, 0), time.Unix(2, 0)), expect(d+"/sub/b", "Jell"), expect(d+"/c", "Jell"),
			os.Remove(d+"/sub/b"), os.Remove(d+"/sub"), os.Remove(d+"/c"), empty(d), os.Remove(d)))
	},
}

// attempts are what it must not be able to do.
var attempts = map[string]func(args []string) string{
	"state": func([]string) string { // memory is fresh in each run
		state++
		if state != 1 {
			return "a second run sees the memory of the first"
		}
		return ""
	},
	"host-files": func(args []string) string {
		for _, p := range append(args, "/etc/passwd", "/etc/shadow", "/proc/self/environ", "/proc/1/environ", "/root", "/", "/sys", "/dev/null", "/usr/bin/env", "/.wasm", "/.wasm/module.wasm", "/home") {
			if _, err := os.Stat(p); err == nil {
				return "stat of " + p
			}
			if f, err := os.Open(p); err == nil {
				f.Close()
				return "open of " + p
			}
		}
		return ""
	},
	"dotdot": func(args []string) string {
		for _, base := range args {
			for n := range 9 {
				for _, to := range []string{"etc/passwd", "etc", "proc/self/environ", "canary", ""} {
					if f, err := raw(base + "/" + strings.Repeat("../", n+1) + to); err == nil {
						f.Close()
						return base + " with " + strconv.Itoa(n+1) + " levels up, " + to
					}
				}
			}
		}
		return ""
	},
	"symlink": func(args []string) string { // makes one that leads out
		for i, to := range []string{"../canary", "../../../../../../etc/passwd", "/etc/passwd", "..", "/"} {
			name := args[0] + "/link" + strconv.Itoa(i)
			if err := os.Symlink(to, name); err != nil {
				continue
			}
			if _, err := os.ReadFile(name); err == nil {
				return "read through a link to " + to
			}
			return "a link to " + to + " was made"
		}
		return ""
	},
	"links": func(args []string) string { // follows those that are there
		list, err := os.ReadDir(args[0])
		if err != nil || len(list) == 0 {
			return "there are no links: " + wrong(err)
		}
		for _, d := range list {
			p := args[0] + "/" + d.Name()
			for _, q := range []string{p, p + "/", p + "/canary", p + "/etc/passwd", p + "/made"} {
				if f, err := os.OpenFile(q, os.O_RDWR|os.O_CREATE, 0o600); err == nil {
					f.Close()
					return "open of " + q
				}
				if _, err := os.ReadFile(q); err == nil {
					return "read of " + q
				}
				if _, err := os.ReadDir(q); err == nil {
					return "list of " + q
				}
				if os.Mkdir(q, 0o700) == nil || os.Chtimes(q, time.Now(), time.Now()) == nil {
					return "change of " + q
				}
			}
		}
		return ""
	},
	"race": func(args []string) string { // the test swaps a folder for a link
		end := time.Now().Add(2 * time.Second)
		reads := 0
		for time.Now().Before(end) {
			if text, err := os.ReadFile(args[0] + "/swap/canary"); err == nil {
				reads++
				if strings.Contains(string(text), "secret") {
					return "read outside"
				}
			}
			os.WriteFile(args[0]+"/swap/made", nil, 0o600)
			os.Rename(args[0]+"/swap/made", args[0]+"/made")
		}
		if reads == 0 {
			return "nothing was read, so nothing was raced"
		}
		say(strconv.Itoa(reads), "reads")
		return ""
	},
	"readonly": func(args []string) string {
		d := args[0]
		for what, err := range map[string]error{
			"create": os.WriteFile(d+"/new", nil, 0o600), "overwrite": os.WriteFile(d+"/file", nil, 0o600), "mkdir": os.Mkdir(d+"/d", 0o700),
			"remove": os.Remove(d + "/file"), "rename": os.Rename(d+"/file", d+"/g"), "link": os.Link(d+"/file", d+"/h"), "truncate": os.Truncate(d+"/file", 0),
			"symlink": os.Symlink("x", d+"/s"), "times": os.Chtimes(d+"/file", time.Now(), time.Now()),
		} {
			if err == nil {
				return what
			}
		}
		return ""
	},
	"across": func(args []string) string { // from one mount into another
		if os.Rename(args[0]+"/file", args[1]+"/taken") == nil || os.Link(args[0]+"/file", args[1]+"/taken") == nil {
			return "a file went from one mount to another"
		}
		return ""
	},
	"network": func(args []string) string {
		for _, family := range []int{syscall.AF_INET, syscall.AF_INET6, syscall.AF_UNIX} {
			if _, err := syscall.Socket(family, syscall.SOCK_STREAM, 0); err == nil {
				return "a socket"
			}
		}
		for fd := 3; fd < 64; fd++ { // what is open already
			if _, err := syscall.Write(fd, []byte("x")); err == nil {
				return "write to descriptor " + strconv.Itoa(fd)
			}
			if n, _, err := syscall.Accept(fd); err == nil {
				return "accept gave " + strconv.Itoa(n)
			}
		}
		return ""
	},
	"process": func([]string) string {
		if _, err := os.StartProcess("/bin/sh", []string{"sh"}, &os.ProcAttr{}); err == nil {
			return "a process"
		}
		if syscall.Kill(1, 9) == nil {
			return "a signal"
		}
		return ""
	},
	"descriptors": func([]string) string { // what is open and was not given
		for fd := range 256 {
			var st syscall.Stat_t
			if fd > 2 && syscall.Fstat(fd, &st) == nil && st.Filetype != syscall.FILETYPE_DIRECTORY {
				return "descriptor " + strconv.Itoa(fd)
			}
		}
		return ""
	},
	"memory": func([]string) string { // ends by the failure of the allocation
		for {
			b := make([]byte, 8<<20)
			for i := 0; i < len(b); i += 4096 {
				b[i] = 1
			}
			keep = append(keep, b)
		}
	},
	"loop": func([]string) string {
		for {
			state++
		}
	},
	"sleep": func([]string) string { time.Sleep(time.Hour); return "" },
	"flood": func([]string) string {
		line := []byte(strings.Repeat("x", 1<<16))
		for range 1 << 12 { // 256 MiB on each stream
			os.Stdout.Write(line)
			os.Stderr.Write(line)
		}
		return ""
	},
	"disk": func(args []string) string {
		f, err := os.Create(args[0] + "/big")
		if err != nil {
			return ""
		}
		b := make([]byte, 1<<20)
		for n := range 512 {
			if _, err := f.Write(b); err != nil {
				say("stopped after", strconv.Itoa(n), "MiB:", err.Error())
				return ""
			}
		}
		return "512 MiB were written"
	},
	"inodes": func(args []string) string {
		for n := range 200_000 {
			if err := os.Mkdir(args[0]+"/"+strconv.Itoa(n), 0o700); err != nil {
				say("stopped after", strconv.Itoa(n), err.Error())
				return ""
			}
		}
		return "200000 folders were made"
	},
	"open-files": func(args []string) string {
		var files []*os.File
		for range 100_000 {
			f, err := os.Open(args[0] + "/file")
			if err != nil {
				break
			}
			files = append(files, f)
		}
		say(strconv.Itoa(len(files)), "files at a time")
		if len(files) >= 100_000 {
			return "100000 files are open"
		}
		return ""
	},
	"recursion": func([]string) string { say(strconv.Itoa(deep(1))); return "it came to an end" },
}

var state int

func deep(n int) int {
	var pad [64]int
	pad[n%64] = n
	return deep(n+1) + pad[(n+1)%64]
}

// raw opens a name as it is, without what package os makes of it first.
func raw(p string) (*os.File, error) {
	fd, err := syscall.Open(p, syscall.O_RDONLY, 0)
	if err != nil {
		return nil, err
	}
	return os.NewFile(uintptr(fd), p), nil
}

func expect(p, want string) error {
	got, err := os.ReadFile(p)
	if err == nil && string(got) != want {
		err = errors.New(p + " holds " + string(got))
	}
	return err
}

func empty(d string) error {
	list, err := os.ReadDir(d)
	if err == nil && len(list) > 0 {
		err = errors.New(d + " still holds " + list[0].Name())
	}
	return err
}

func wrong(err error) string {
	if err != nil {
		return err.Error()
	}
	return ""
}
