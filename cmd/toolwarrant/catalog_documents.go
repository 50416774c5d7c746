package main

import (
	"context"
	"encoding/json"
	"fmt"
	"io/fs"
	"os"
	"strings"

	"github.com/spf13/cobra"

	"github.com/toolwarrant/toolwarrant/catalog"
	"github.com/toolwarrant/toolwarrant/executor/mask"
	"github.com/toolwarrant/toolwarrant/fault"
	"github.com/toolwarrant/toolwarrant/lint"
	"github.com/toolwarrant/toolwarrant/service"
	"github.com/toolwarrant/toolwarrant/spec"
)

// importView is the JSON shape of one imported document, or of one that was
// refused.
type importView struct {
	Name     string         `json:"name"`
	ToolID   string         `json:"toolId"`
	State    catalog.State  `json:"state"` // "" = refused
	Path     string         `json:"path"`
	Findings []lint.Finding `json:"findings"`
	Error    *fault.Error   `json:"error"`
}

func (a *app) catalogImportCmd() *cobra.Command {
	c := &cobra.Command{
		Use:   "import FILE|FOLDER|extras:NAME|-",
		Short: "Take documents into your catalog, as drafts",
		Long: `Take a document, a folder with spec.json and action.js, or a bundle (an array of
documents, or an object with toolSpecs) into your catalog. Each becomes a draft,
whatever it says of itself: publish it when you have read it. Members that
toolwarrant does not know stay as they are. extras:NAME is a tool of the pack that
comes with toolwarrant and is in no preset, such as runPython and runShell. Of a bundle, toolMcpServerSetting is
not taken over: what is served is your choice.

A document that cannot be read, or that claims the name or the id of a bundled
tool or the id of any other, is named and left out, the others are taken; the
exit status is 1 then. What lint finds is printed and keeps nothing out.`,
		Example: `  toolwarrant catalog import mytool.json
  toolwarrant catalog import ./mytool
  toolwarrant catalog import extras:runPython
  toolwarrant catalog import toolSpecsMcpSetting.json
  curl -s https://example.com/tool.json | toolwarrant catalog import -`,
		Args: cobra.ExactArgs(1),
		RunE: func(c *cobra.Command, pos []string) error {
			ctx := c.Context()
			docs, beside, err := a.arrivals(pos[0])
			if err != nil {
				return err
			}
			s, err := a.open(ctx, nil)
			if err != nil {
				return err
			}
			defer s.Close(ctx)
			views := make([]importView, len(docs))
			for i, d := range docs {
				if views[i], err = a.importOne(ctx, s, d, beside); err != nil {
					return err
				}
			}
			return a.imported(views)
		},
	}
	a.formats(c, "text", "json")
	a.policyFlag(c)
	return c
}

// arrivals reads what is imported, and what lies beside a folder's document.
func (a *app) arrivals(path string) (docs []spec.Loaded, beside fs.FS, err error) {
	if path == "-" {
		docs, err = spec.LoadReader("-", a.std.in)
		return docs, nil, err
	}
	if name, ok := strings.CutPrefix(path, "extras:"); ok {
		s, beside, err := catalog.Extra(name)
		return []spec.Loaded{{Spec: s}}, beside, err
	}
	if docs, err = spec.Load(path); err != nil {
		return nil, nil, err
	}
	if st, err := os.Stat(path); err == nil && st.IsDir() {
		beside = os.DirFS(path)
	}
	return docs, beside, nil
}

// importOne imports one document. The error is one that stops the command.
func (a *app) importOne(ctx context.Context, s *service.Service, d spec.Loaded, beside fs.FS) (importView, error) {
	v := importView{Findings: []lint.Finding{}}
	if len(d.Errors) > 0 {
		v.Error = d.Errors[0]
		return v, nil
	}
	v.Name, v.ToolID = d.Spec.Name, d.Spec.ToolID
	t, report, err := s.Import(ctx, principal(), d.Spec, beside)
	if report.Findings != nil {
		v.Findings = report.Findings
	}
	if err != nil {
		v.Error = fault.From(err)
		if v.Error.Code.Exit() == fault.ExitSystem {
			return v, err
		}
		return v, nil
	}
	v.ToolID, v.State, v.Path = t.Spec.ToolID, t.State, t.Path
	return v, nil
}

func (a *app) imported(views []importView) error {
	refused := 0
	for _, v := range views {
		if v.Error != nil {
			refused++
		}
	}
	if a.format == "json" {
		a.json(map[string]any{"imported": views, "summary": map[string]int{"imported": len(views) - refused, "refused": refused}})
	} else {
		for _, v := range views {
			for _, f := range v.Findings {
				fmt.Fprintf(a.std.err, "%s: %s %s: %s\n", mask.Visible(v.Name), f.Severity, f.RuleID, mask.Visible(f.Message))
			}
			if v.Error != nil {
				fmt.Fprintln(a.std.err, mask.Visible(v.Error.Error()))
				continue
			}
			a.printf("%s is a draft now, in %s\n", mask.Visible(v.Name), mask.Visible(v.Path))
		}
		a.printf("%d imported, %d refused\n", len(views)-refused, refused)
	}
	if refused > 0 {
		return errAnswerNo
	}
	return nil
}

func (a *app) catalogExportCmd() *cobra.Command {
	bundle := false
	c := &cobra.Command{
		Use:   "export NAME...",
		Short: "Print the document of a tool, or a bundle of several",
		Long: `Print the document of a tool as it stands, its code inside. With --bundle, print
one object with toolSpecs, the documents, and toolMcpServerSetting, which says of
them what is served. Documents hold ${NAME} where a secret goes, never its value.`,
		Example: `  toolwarrant catalog export shout > shout.json
  toolwarrant catalog export shout whisper --bundle > tools.json`,
		Args: cobra.MinimumNArgs(1),
		RunE: func(c *cobra.Command, names []string) error {
			if len(names) > 1 && !bundle {
				return fault.New(fault.Usage, "arguments", "several tools are exported as one bundle: add --bundle")
			}
			ctx := c.Context()
			s, err := a.open(ctx, nil)
			if err != nil {
				return err
			}
			defer s.Close(ctx)
			tools, err := s.Catalog.Tools(ctx, names)
			if err != nil {
				return err
			}
			for _, t := range tools {
				if err := t.Verify(); err != nil {
					return err
				}
			}
			if !bundle {
				a.printf("%s", tools[0].Spec.Standalone())
				return nil
			}
			return a.printBundle(s, tools)
		},
	}
	c.Flags().BoolVar(&bundle, "bundle", false, "print an object with toolSpecs, also for one tool")
	return c
}

// printBundle writes the documents as they stand, so that no byte of them
// changes between an export and an import.
func (a *app) printBundle(s *service.Service, tools []*catalog.Tool) error {
	setting := struct {
		AutoAdd bool     `json:"autoAdd"`
		Exposed []string `json:"exposedToolIds"`
	}{s.Catalog.Kept().AutoExpose, []string{}}
	seen := map[string]bool{}
	a.printf("{\"toolSpecs\": [")
	sep := "\n"
	for _, t := range tools {
		if seen[t.Spec.ToolID] {
			continue
		}
		seen[t.Spec.ToolID] = true
		a.printf("%s%s", sep, t.Spec.Standalone())
		sep = ",\n"
		if ok, _ := s.Catalog.Exposed(t); ok {
			setting.Exposed = append(setting.Exposed, t.Spec.ToolID)
		}
	}
	out, err := json.Marshal(setting)
	if err != nil {
		return err
	}
	a.printf("],\n\"toolMcpServerSetting\": %s}\n", out)
	return nil
}

func (a *app) catalogCloneCmd() *cobra.Command {
	c := &cobra.Command{
		Use:   "clone NAME NEWNAME",
		Short: "Copy a tool under another name and toolId, as a draft of yours",
		Long: `Copy a tool, bundled or yours, with its fixtures. The copy is a tool of its own:
another name, a toolId derived from that name, and a draft until it is published.`,
		Example: "  toolwarrant catalog clone getWeather getWeatherInCelsius",
		Args:    cobra.ExactArgs(2),
	}
	c.RunE = func(c *cobra.Command, pos []string) error {
		return a.withTool(func(ctx context.Context, s *service.Service, t *catalog.Tool) error {
			made, err := s.Clone(ctx, principal(), t, pos[1])
			if err != nil {
				return err
			}
			if a.format == "json" {
				a.json(map[string]any{"toolId": made.Spec.ToolID, "name": made.Spec.Name, "state": made.State, "path": made.Path})
				return nil
			}
			a.printf("%s is a draft now, in %s\n", mask.Visible(made.Spec.Name), mask.Visible(made.Path))
			return nil
		})(c, pos)
	}
	a.formats(c, "text", "json")
	return c
}
