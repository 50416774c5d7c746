package main

import (
	"fmt"
	"net"
	"os"
	"path/filepath"
	"strconv"
	"strings"
	"time"

	"golang.org/x/sys/unix"
)

// plant leaves every mark, and says which could be left.
func plant(nonce string) {
	for _, m := range marks() {
		if err := m.plant(nonce); err != nil {
			fmt.Printf("%s cannot: %v\n", m.name, err)
			continue
		}
		// What takes a moment to be there.
		for range 50 {
			if m.look(nonce) == nil {
				break
			}
			time.Sleep(10 * time.Millisecond)
		}
		fmt.Printf("%s left\n", m.name)
	}
	unix.Umask(0)
}

// look says which marks are there.
func look(nonce string) {
	for _, m := range marks() {
		if m.look(nonce) == nil {
			fmt.Printf("%s found\n", m.name)
		} else {
			fmt.Printf("%s gone\n", m.name)
		}
	}
}

func processNamed(nonce string) error {
	dirs, _ := filepath.Glob("/proc/[0-9]*")
	for _, dir := range dirs {
		text, err := os.ReadFile(filepath.Join(dir, "cmdline"))
		if err == nil && strings.Contains(string(text), "sleep\x00leak"+nonce) {
			return nil
		}
	}
	return unix.ESRCH
}

func dialled(network, address string) error {
	c, err := net.DialTimeout(network, address, patience)
	if err == nil {
		c.Close()
	}
	return err
}

// leakLimit is a size of files that nobody else gives.
const leakLimit = 7421 << 20

// limitOthers sets a limit of the agent by the number of each of its threads: the
// agent would hand it on to the next command.
func limitOthers() error {
	if os.Getppid() != 1 {
		return unix.ESRCH
	}
	threads, err := os.ReadDir("/proc/1/task")
	if err != nil {
		return err
	}
	limit := unix.Rlimit{Cur: leakLimit, Max: leakLimit}
	for _, thread := range threads {
		id, _ := strconv.Atoi(thread.Name())
		if err = unix.Prlimit(id, unix.RLIMIT_FSIZE, &limit, nil); err == nil {
			break
		}
	}
	return err
}

// listen waits for somebody who never comes.
func listen(network, address string) error {
	l, err := net.Listen(network, address)
	if err != nil {
		return err
	}
	defer l.Close()
	time.Sleep(5 * time.Minute)
	return nil
}
