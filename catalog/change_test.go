package catalog

import (
	"context"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/toolwarrant/toolwarrant/fault"
	"github.com/toolwarrant/toolwarrant/spec"
)

// publish does what publishing a user tool does, short of running it.
func publish(c *Catalog, name string) error {
	ctx := context.Background()
	tool, err := c.Lookup(ctx, name)
	if err != nil {
		return err
	}
	draft := false
	edited, ferr := tool.Spec.Edit(spec.Patch{Draft: &draft})
	if ferr != nil {
		return ferr
	}
	if err := c.WriteSpec(ctx, tool, edited); err != nil {
		return err
	}
	return c.SetPass(ctx, tool.Spec.ToolID, &Pass{PassedDigest: edited.Digest(), Mode: "live", Runtime: "test", PolicyRevision: "test"})
}

func mustPublish(t *testing.T, c *Catalog, name string) {
	t.Helper()
	if err := publish(c, name); err != nil {
		t.Fatalf("publish %s: %v", name, err)
	}
}

func TestWriteSpecLeavesWhatSomebodyElseChanged(t *testing.T) {
	home := t.TempDir()
	file := filepath.Join(home, "catalog", "mine.json")
	writeFile(t, file, docJSON("id-mine", "mine", "return 1;", true))
	c := mustOpen(t, Options{Home: home})
	tool := lookup(t, c, "mine")
	draft := false
	edited, ferr := tool.Spec.Edit(spec.Patch{Draft: &draft})
	if ferr != nil {
		t.Fatal(ferr)
	}
	changed := docJSON("id-mine", "mine", "return 99;", true)
	writeFile(t, file, changed)
	err := c.WriteSpec(context.Background(), tool, edited)
	wantFault(t, err, fault.LocalPassFailed, "changed-on-disk", file)
	if got, _ := os.ReadFile(file); string(got) != changed {
		t.Error("the change of somebody else was lost")
	}
}

// Publishing members of one bundle file, and folders, in any order keeps all
// of them, also from several catalogs at once.
func TestConcurrentPublishing(t *testing.T) {
	home := t.TempDir()
	dir := filepath.Join(home, "catalog")
	var names, members []string
	for i := range 4 {
		name := fmt.Sprintf("member%d", i)
		names, members = append(names, name), append(members, docJSON("id-"+name, name, "return 1;", true))
	}
	writeFile(t, filepath.Join(dir, "bundle.json"), "["+strings.Join(members, ",")+"]")
	for i := range 4 {
		name := fmt.Sprintf("folder%d", i)
		names = append(names, name)
		writeFile(t, filepath.Join(dir, name, "spec.json"), fmt.Sprintf(`{"toolId":"id-%s","name":%q,"description":"x","params":[],"codeType":"Javascript","draft":true,"x-note":[1,  2]}`, name, name))
		writeFile(t, filepath.Join(dir, name, "action.js"), "return 1;\n")
	}
	var wg sync.WaitGroup
	for _, name := range names {
		wg.Add(1)
		go func() {
			defer wg.Done()
			c, err := Open(context.Background(), Options{Home: home})
			if err == nil {
				err = publish(c, name)
			}
			if err != nil {
				t.Errorf("%s: %v", name, err)
			}
		}()
	}
	wg.Wait()
	c := mustOpen(t, Options{Home: home})
	for _, name := range names {
		wantState(t, c, name, StateActive, "")
	}
	raw, err := os.ReadFile(filepath.Join(dir, "folder0", "spec.json"))
	if err != nil || !strings.Contains(string(raw), `"x-note":[1,  2]`) {
		t.Errorf("unknown members were not kept: %s, %v", raw, err)
	}
}

// Readers see whole snapshots while others reload and change.
func TestReadersDuringReload(t *testing.T) {
	home := t.TempDir()
	writeFile(t, filepath.Join(home, "catalog", "mine.json"), docJSON("id-mine", "mine", "return 1;", false))
	c := mustOpen(t, Options{Home: home, Missing: func(*Tool) []string { return nil }})
	ctx, cancel := context.WithTimeout(context.Background(), 10*time.Second)
	defer cancel()
	var wg sync.WaitGroup
	for range 4 {
		wg.Add(1)
		go func() {
			defer wg.Done()
			for range 200 {
				tools, err := c.List(ctx)
				if err != nil || len(tools) != len(c.bundle.docs)+1 {
					t.Errorf("List: %d tools, %v", len(tools), err)
					return
				}
				for _, tool := range tools {
					c.Exposed(tool)
				}
				_ = c.Revision()
			}
		}()
	}
	tool := lookup(t, c, "mine")
	for range 20 {
		reload(t, c)
		setPass(t, c, tool)
	}
	wg.Wait()
}
