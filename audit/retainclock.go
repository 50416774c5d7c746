package audit

import (
	"context"
	"encoding/json"
	"errors"
	"io/fs"
	"os"
	"path/filepath"
	"time"

	"github.com/toolwarrant/toolwarrant/internal/atomicfile"
)

// maxLeap is how far the clock of the machine may go ahead at once and be
// believed for the age of files: of a server that was off for a week, not of
// one whose clock says another year.
const maxLeap = 7 * 24 * time.Hour

const ageClockFile = "age-clock"

// ageClock is the time by which files are old enough to be removed. A clock
// that is wrong must not be able to empty the log, so it follows the one of the
// machine with the time that really passes, and makes up for what it does not
// believe at the same speed again.
type ageClock struct {
	Believed time.Time `json:"believed"`
	Wall     time.Time `json:"wall"` // what the machine said then

	last time.Time // with a monotonic reading; zero = not read in this process
	said bool
}

// advance moves c to now. passed is what really passed since the last time in
// this process; at the first time the machine's word is taken for up to maxLeap.
func (c *ageClock) advance(now time.Time, passed time.Duration) {
	step := now.Sub(c.Wall)
	switch {
	case step <= maxLeap && now.Sub(c.Believed) <= maxLeap:
		c.Believed = now // nothing unusual, or one that was wrong is right again
	case c.last.IsZero():
		c.Believed = c.Believed.Add(min(max(step, 0), maxLeap))
	default:
		c.Believed = c.Believed.Add(2 * passed)
	}
	if c.Believed.After(now) {
		c.Believed = now
	}
	c.Wall = now
}

// believed is the time for the age of files. newest is when the file that
// grows began, from which a log without a clock of its own starts.
func (k *keeper) believed(ctx context.Context, newest time.Time) (time.Time, error) {
	file := filepath.Join(k.w.stateDir, ageClockFile)
	c, now := &k.age, k.w.now()
	if c.last.IsZero() {
		switch text, err := os.ReadFile(file); {
		case errors.Is(err, fs.ErrNotExist):
			c.Believed, c.Wall = newest, newest
		case err != nil:
			return time.Time{}, err
		default:
			if err := json.Unmarshal(text, c); err != nil || c.Wall.IsZero() {
				c.Believed, c.Wall = newest, newest
			}
		}
	}
	read := time.Now()
	passed := time.Duration(0)
	if !c.last.IsZero() {
		passed = read.Sub(c.last)
	}
	c.advance(now, passed)
	c.last = read
	text, err := json.Marshal(c)
	if err == nil {
		err = atomicfile.WriteFile(file, text, 0o600)
	}
	if err != nil {
		return time.Time{}, err
	}
	if late := now.Sub(c.Believed) > maxLeap; late && !c.said {
		c.said = true
		return c.Believed, k.w.Event(ctx, Event{Kind: "retention.clock", Detail: map[string]any{"clock": now.UTC().Format(timeLayout), "believed": c.Believed.UTC().Format(timeLayout)}}, nil)
	} else if !late {
		c.said = false
	}
	return c.Believed, nil
}
