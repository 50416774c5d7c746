package process

import (
	"context"
	"fmt"
	"os"
	"path/filepath"
	"strconv"
	"sync"
	"syscall"

	"golang.org/x/sys/unix"

	"github.com/toolwarrant/toolwarrant/executor/sandbox"
	"github.com/toolwarrant/toolwarrant/executor/sandbox/agent"
	"github.com/toolwarrant/toolwarrant/executor/sandbox/wire"
)

// mounts resolves the sources and takes note which files they are. Whatever is
// put under their names later is refused at the start.
func (l *launch) mounts() error {
	for i, m := range l.spec.Mounts {
		at := "/mounts/" + strconv.Itoa(i) + "/source"
		resolved, err := filepath.EvalSymlinks(m.Source)
		if err != nil {
			return sandbox.Errorf(sandbox.ErrSpec, "the folder %s of the host is not there", m.Source).At("", at, 0, 0).Because(err)
		}
		var info unix.Stat_t
		if err := unix.Lstat(resolved, &info); err != nil {
			return sandbox.Errorf(sandbox.ErrSpec, "the folder %s of the host is not there", m.Source).At("", at, 0, 0).Because(err)
		}
		if kind := info.Mode & unix.S_IFMT; kind != unix.S_IFDIR && kind != unix.S_IFREG {
			return sandbox.Errorf(sandbox.ErrSpec, "%s is neither a folder nor a file", m.Source).At("", at, 0, 0)
		}
		l.pinned = append(l.pinned, wire.Mount{Source: resolved, Target: m.Target, Writable: m.Writable, Dev: uint64(info.Dev), Ino: info.Ino})
	}
	return nil
}

// trees opens the sources as root, who alone can show files as those of the
// user that commands run as. Where the caller is an ordinary user, commands
// are that user, and the agent opens them.
func (l *launch) trees(ctx context.Context, mounts []wire.Mount) ([]*os.File, error) {
	if os.Geteuid() != 0 {
		return nil, nil
	}
	var files []*os.File
	if l.root != "" {
		// Its folder may be closed to the user that the agent is.
		t, err := unix.OpenTree(unix.AT_FDCWD, l.root, unix.OPEN_TREE_CLONE|unix.OPEN_TREE_CLOEXEC|unix.AT_RECURSIVE|unix.AT_SYMLINK_NOFOLLOW)
		if err != nil {
			return nil, sandbox.Errorf(sandbox.ErrImage, "the image %s cannot be opened: %v", l.spec.Image, err).Because(err)
		}
		files = append(files, os.NewFile(uintptr(t), l.root))
	}
	for i := range mounts {
		m := &mounts[i]
		f, err := l.tree(ctx, m)
		if err != nil {
			return files, err
		}
		m.Tree = true
		files = append(files, f)
	}
	return files, nil
}

func (l *launch) tree(ctx context.Context, m *wire.Mount) (*os.File, error) {
	refused := func(err error) error {
		return sandbox.Errorf(sandbox.ErrFailed, "the folder %s of the host cannot be shown in a sandbox: %v", m.Source, err).Because(err)
	}
	fd, err := unix.Openat2(unix.AT_FDCWD, m.Source, &unix.OpenHow{Flags: unix.O_PATH | unix.O_CLOEXEC, Resolve: unix.RESOLVE_NO_SYMLINKS})
	if err != nil {
		return nil, refused(err)
	}
	defer unix.Close(fd)
	var info unix.Stat_t
	if err := unix.Fstat(fd, &info); err != nil {
		return nil, refused(err)
	}
	if uint64(info.Dev) != m.Dev || info.Ino != m.Ino {
		return nil, refused(fmt.Errorf("it is not what it was when the sandbox was made"))
	}
	t, err := unix.OpenTree(fd, "", unix.OPEN_TREE_CLONE|unix.OPEN_TREE_CLOEXEC|unix.AT_RECURSIVE|unix.AT_EMPTY_PATH)
	if err != nil {
		return nil, refused(err)
	}
	tree := os.NewFile(uintptr(t), m.Target)
	err = l.f.owners.with(ctx, l.f, int(info.Uid), int(info.Gid), func(owner *os.File) error {
		return unix.MountSetattr(t, "", unix.AT_RECURSIVE|unix.AT_EMPTY_PATH, &unix.MountAttr{Attr_set: unix.MOUNT_ATTR_IDMAP, Userns_fd: uint64(owner.Fd())})
	})
	if err != nil && m.Writable {
		_ = tree.Close()
		return nil, refused(fmt.Errorf("its file system cannot show files as those of another user (%w): mount it read-only, or run as an ordinary user that owns it", err))
	}
	return tree, nil // where it cannot, what everybody may read is readable
}

// owners keeps, for each owner of files, a user namespace that shows them as
// those of commands.
type owners struct {
	mu     sync.Mutex
	spaces map[[2]int]*os.File
}

// mostOwners bounds what is kept.
const mostOwners = 64

// with calls use with the namespace for the files of uid and gid.
func (o *owners) with(ctx context.Context, f *Factory, uid, gid int, use func(*os.File) error) error {
	o.mu.Lock()
	defer o.mu.Unlock()
	key := [2]int{uid, gid}
	space := o.spaces[key]
	if space == nil {
		var err error
		if space, err = newSpace(ctx, f, uid, gid); err != nil {
			return err
		}
		if o.spaces == nil {
			o.spaces = map[[2]int]*os.File{}
		}
		if len(o.spaces) >= mostOwners {
			for k, s := range o.spaces {
				_ = s.Close()
				delete(o.spaces, k)
				break
			}
		}
		o.spaces[key] = space
	}
	return use(space)
}

// newSpace makes a user namespace. It lives as long as the file is open.
func newSpace(ctx context.Context, f *Factory, uid, gid int) (*os.File, error) {
	in, out, err := os.Pipe()
	if err != nil {
		return nil, err
	}
	defer in.Close()
	defer out.Close()
	attr := &os.ProcAttr{Dir: "/", Env: []string{}, Files: []*os.File{in, f.null, f.null}, Sys: &syscall.SysProcAttr{
		Cloneflags: syscall.CLONE_NEWUSER, Pdeathsig: syscall.SIGKILL,
		UidMappings: []syscall.SysProcIDMap{{ContainerID: uid, HostID: agent.CommandHostID, Size: 1}},
		GidMappings: []syscall.SysProcIDMap{{ContainerID: gid, HostID: agent.CommandHostID, Size: 1}},
		Credential:  &syscall.Credential{Uid: uint32(uid), Gid: uint32(gid), NoSetGroups: true},
	}}
	var holder *os.Process
	err = f.starter.Do(ctx, func() (err error) {
		holder, err = os.StartProcess(f.program.path(), []string{agent.Name, agent.Hold}, attr)
		return err
	})
	if err != nil {
		return nil, err
	}
	space, err := os.Open("/proc/" + strconv.Itoa(holder.Pid) + "/ns/user")
	_ = holder.Kill()
	_, _ = holder.Wait()
	return space, err
}

func (o *owners) close() {
	o.mu.Lock()
	defer o.mu.Unlock()
	for _, s := range o.spaces {
		_ = s.Close()
	}
	o.spaces = nil
}
