package audit

import (
	"context"
	"path/filepath"
	"strconv"
	"strings"
	"testing"

	"github.com/toolwarrant/toolwarrant/internal/smalldisk"
)

// TestRedWhileTheDiskIsFull: a real disk without a free page, whose last one
// still takes small records, is red until there is room.
func TestRedWhileTheDiskIsFull(t *testing.T) {
	disk := smalldisk.New(t, "1m")
	ctx, now := context.Background(), newHandClock()
	w := mustOpen(t, t.TempDir(), Options{File: filepath.Join(disk.Dir, "audit.ndjson"), Now: now.now})
	must(t, w.Close(ctx, bareCall("first"), nil))
	disk.Fill()
	for i := range 3 {
		large := sampleCall(strconv.Itoa(i))
		large.Params = []byte(`"` + strings.Repeat("x", 20_000) + `"`)
		wantReason(t, w.Close(ctx, large, nil), ReasonDiskFull)
		must(t, w.Close(ctx, bareCall("small"+strconv.Itoa(i)), nil))
		now.pass(2 * probeEvery)
		wantReason(t, w.Health(ctx), ReasonDiskFull)
	}
	disk.Empty()
	now.pass(2 * probeEvery)
	must(t, w.Health(ctx))
	wantOK(t, w.Path())
}
