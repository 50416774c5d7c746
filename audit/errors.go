package audit

import (
	"context"
	"errors"
	"io/fs"

	"github.com/toolwarrant/toolwarrant/fault"
)

// The reasons of AUDIT_UNAVAILABLE.
const (
	ReasonDiskFull   = "disk-full"      // no space or quota left
	ReasonReadOnly   = "read-only"      // the file system is mounted read-only
	ReasonPermission = "permission"     // the user of this process may not write
	ReasonLock       = "lock"           // another process holds the lock for too long
	ReasonTimeout    = "timeout"        // the disk did not answer in time
	ReasonCancelled  = "cancelled"      // the caller went away before the record was written
	ReasonFileGone   = "file-gone"      // the log was removed or replaced while in use
	ReasonFileCut    = "file-cut"       // the log got shorter while in use
	ReasonNotALog    = "not-a-log"      // the path holds something else
	ReasonSink       = "sink"           // a required sink failed
	ReasonClosed     = "closed"         // the log was shut down
	ReasonInvalid    = "invalid-record" // a record without what it needs: a defect of the caller
	ReasonTwice      = "double-close"   // a call was closed before: a defect of the caller
	ReasonIO         = "io"             // any other failure of the disk
)

// unavailable makes the error of this package out of err, which is kept as
// the cause. An error that is one already stays as it is.
func unavailable(path string, err error) *fault.Error {
	var f *fault.Error
	if errors.As(err, &f) {
		return f
	}
	reason, message := explain(err)
	e := fault.New(fault.AuditUnavailable, reason, message, path).Because(err)
	e.File = path
	return e
}

// explain gives the reason for err and a format for the person, which takes
// the path of the log.
func explain(err error) (reason, format string) {
	switch {
	case isDiskFull(err):
		return ReasonDiskFull, "the disk with the audit log %s is full; free space, calls go on by themselves then"
	case isReadOnly(err):
		return ReasonReadOnly, "the audit log %s is on a read-only file system; remount it writable, calls go on by themselves then"
	case errors.Is(err, fs.ErrPermission):
		return ReasonPermission, "this user may not write the audit log %s; give it to this user with mode 0600, in a folder with mode 0700"
	case errors.Is(err, fs.ErrNotExist):
		return ReasonFileGone, "the audit log %s is gone; put the file back, or restart to begin a new chain"
	case errors.Is(err, context.DeadlineExceeded):
		return ReasonTimeout, "the audit log %s was not written in time; look at the load and the health of its disk"
	case errors.Is(err, context.Canceled):
		return ReasonCancelled, "the call was given up before it entered the audit log %s"
	}
	return ReasonIO, "the audit log %s cannot be written; see the log of this process for the cause"
}

func refuse(path, reason, format string, args ...any) *fault.Error {
	e := fault.New(fault.AuditUnavailable, reason, format, args...)
	e.File = path
	return e
}
