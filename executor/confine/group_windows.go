package confine

import (
	"os/exec"
	"unsafe"

	"golang.org/x/sys/windows"
)

// memoryKind is how memory is bounded.
const memoryKind = "job"

// baseline is what an idle worker may have committed already: a job counts
// from zero, so that it is added to every limit.
const baseline = 96 << 20

// A Group is a job object: the process is alone in it, is ended with it, and
// cannot commit more memory than it allows. It belongs to one goroutine.
type Group struct {
	job windows.Handle
	now int64
}

// Attach puts a process that has started into a job of its own.
func Attach(c *exec.Cmd) (*Group, error) {
	job, err := windows.CreateJobObject(nil, nil)
	if err != nil {
		return nil, err
	}
	g := &Group{job: job}
	process, err := windows.OpenProcess(windows.PROCESS_SET_QUOTA|windows.PROCESS_TERMINATE, false, uint32(c.Process.Pid))
	if err == nil {
		defer windows.CloseHandle(process)
		if err = g.set(0); err == nil {
			err = windows.AssignProcessToJobObject(job, process)
		}
	}
	if err != nil {
		_ = windows.CloseHandle(job)
		return nil, err
	}
	return g, nil
}

// LimitMemory lets the process grow by so many bytes over an idle one.
func (g *Group) LimitMemory(growth int64) error {
	if growth == g.now {
		return nil
	}
	if err := g.set(growth); err != nil {
		return err
	}
	g.now = growth
	return nil
}

func (g *Group) set(growth int64) error {
	var info windows.JOBOBJECT_EXTENDED_LIMIT_INFORMATION
	info.BasicLimitInformation.LimitFlags = windows.JOB_OBJECT_LIMIT_KILL_ON_JOB_CLOSE | windows.JOB_OBJECT_LIMIT_ACTIVE_PROCESS | windows.JOB_OBJECT_LIMIT_DIE_ON_UNHANDLED_EXCEPTION
	info.BasicLimitInformation.ActiveProcessLimit = 1
	if growth > 0 {
		info.BasicLimitInformation.LimitFlags |= windows.JOB_OBJECT_LIMIT_PROCESS_MEMORY
		info.ProcessMemoryLimit = uintptr(baseline + growth)
	}
	_, err := windows.SetInformationJobObject(g.job, windows.JobObjectExtendedLimitInformation, uintptr(unsafe.Pointer(&info)), uint32(unsafe.Sizeof(info)))
	return err
}

// Close ends what is still in the job.
func (g *Group) Close() error { return windows.CloseHandle(g.job) }
