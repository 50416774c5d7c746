package main

import (
	"fmt"
	"os"
	"strings"

	"github.com/spf13/cobra"

	"github.com/toolwarrant/toolwarrant/authoring"
	"github.com/toolwarrant/toolwarrant/catalog"
	"github.com/toolwarrant/toolwarrant/fault"
)

func (a *app) newCmd() *cobra.Command {
	template, dir := "pure", "."
	var kinds []string
	long := "Make the folder of a tool to begin with: its document, its code, calls of it\nwith how they have to end, a README, and declarations with which editors complete\nthe code. It passes its own test as it is. The templates:\n"
	for _, t := range authoring.Templates {
		kinds = append(kinds, t.Name)
		long += fmt.Sprintf("\n  %-5s %s", t.Name, t.About)
	}
	c := &cobra.Command{
		Use:   "new NAME",
		Short: "Make the folder of a tool to begin with",
		Long:  long,
		Example: `  toolwarrant new readingTime --dir mytools
  toolwarrant new latestRelease --dir mytools --template http`,
		Args: cobra.ExactArgs(1),
		RunE: func(c *cobra.Command, pos []string) error {
			bundled, err := catalog.Open(c.Context(), catalog.Options{})
			if err != nil {
				return err
			}
			if _, err := bundled.Lookup(c.Context(), pos[0]); err == nil {
				return fault.New(fault.Usage, "bad-name", "%q is the name of a bundled tool, which no other may take", pos[0])
			}
			folder, err := authoring.New(dir, pos[0], template)
			if err != nil {
				return err
			}
			if a.format == "json" {
				a.json(map[string]string{"name": pos[0], "template": template, "folder": folder})
				return nil
			}
			at, example := shellPath(folder), ""
			for _, t := range authoring.Templates {
				if t.Name == template {
					example = t.Args
				}
			}
			a.printf("%s is made. Next:\n  toolwarrant test %s\n  toolwarrant run %s --watch --args '%s'\n  toolwarrant test %s --write     # publish it\n", folder, at, at, example, at)
			return nil
		},
	}
	c.Flags().StringVarP(&template, "template", "t", template, "what to begin with: "+strings.Join(kinds, ", "))
	c.Flags().StringVar(&dir, "dir", dir, "folder to make it in")
	a.formats(c, "text", "json")
	return c
}

// shellPath is a path as the other verbs take it: never for a name.
func shellPath(p string) string {
	if !strings.ContainsAny(p, `/\`) {
		p = "./" + p
	}
	if strings.ContainsAny(p, " '\"$&;()*?[]<>|`") {
		return "'" + strings.ReplaceAll(p, "'", `'\''`) + "'"
	}
	return p
}

func (a *app) typesCmd() *cobra.Command {
	c := &cobra.Command{
		Use:   "types FOLDER",
		Short: "Write the declarations with which editors complete the code of a tool",
		Long: `Write types/globals.d.ts, what the runtime has, and types/tool.d.ts, the
parameters and static variables of the tool, into the tool's folder. Run it again
after the parameters change.`,
		Example: `  toolwarrant types mytools/readingTime`,
		Args:    cobra.ExactArgs(1),
		RunE: func(_ *cobra.Command, pos []string) error {
			if st, err := os.Stat(pos[0]); err == nil && !st.IsDir() {
				return fault.New(fault.Usage, "no-folder", "%s is a file; declarations stand in the folder of a tool, with its spec.json and action.js", pos[0])
			}
			doc, err := a.document(pos[0])
			if err != nil {
				return err
			}
			if err := authoring.WriteTypes(pos[0], doc.Spec); err != nil {
				return err
			}
			a.printf("The declarations are in %s.\n", shellPath(pos[0]+"/types"))
			return nil
		},
	}
	return c
}
