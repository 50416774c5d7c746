package main

import (
	"fmt"
	"io"
	"os"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"time"
	"unicode/utf8"

	"github.com/spf13/cobra"

	"github.com/toolwarrant/toolwarrant/executor"
	"github.com/toolwarrant/toolwarrant/executor/mask"
	"github.com/toolwarrant/toolwarrant/executor/sandbox"
	"github.com/toolwarrant/toolwarrant/executor/worker"
	"github.com/toolwarrant/toolwarrant/fault"
	"github.com/toolwarrant/toolwarrant/service"
)

// sandboxFlags are the flags of "sandbox run".
type sandboxFlags struct {
	own     service.OwnCommand
	mounts  []string
	env     []string
	net     string
	cpus    float64
	timeout time.Duration
	stdin   bool
}

func (a *app) sandboxRunCmd() *cobra.Command {
	var f sandboxFlags
	c := &cobra.Command{
		Use:   "run [flags] -- COMMAND [ARGUMENT...]",
		Short: "Decide about one command, run it in a sandbox, and record it",
		Long: `Run one command in a sandbox. It is decided and recorded as the call of the tool
` + service.OwnCommandTool + `: the policy says whether it may run, which back ends it may have,
what they must enforce and how much it may use. Nobody is asked: whoever types
it is the human. It sees no file of the host but
its programs, no variable, no network and no process; what it may see besides is
named by flags. Output comes as it is written, masked; on a terminal what would
act on the terminal is made visible.

The status is 0 where the command ended with 0, and 1 where it did not, ran into
a limit or was denied; its own status is in the last line, and in the JSON form.`,
		Example: `  toolwarrant sandbox run -- python3 -c 'print(6 * 7)'
  toolwarrant sandbox run --mount ./data:/data --mount ./out:/out:rw -- sh -c 'wc -l /data/* > /out/lines'
  toolwarrant sandbox run --net allow=example.com,*.example.org:443 --timeout 20s -- curl -s https://example.com
  toolwarrant sandbox run --backend container --image dir:/srv/rootfs --memory 128 --format json -- id`,
		Args: cobra.MinimumNArgs(1),
		RunE: func(c *cobra.Command, argv []string) error {
			own, err := f.command(argv, a.std.in)
			if err != nil {
				return err
			}
			ctx := c.Context()
			s, err := a.open(ctx, nil)
			if err != nil {
				return err
			}
			defer s.Close(ctx)
			if a.format == "text" {
				out, errs := newPatientWriter(shown(a.std.out)), newPatientWriter(shown(a.std.err))
				own.Stdout, own.Stderr = out, errs
				r := s.RunCommand(ctx, principal(), own)
				out.flush()
				errs.flush()
				return a.commandEnded(r)
			}
			return a.commandEnded(s.RunCommand(ctx, principal(), own))
		},
	}
	c.Flags().StringVar(&f.own.Backend, "backend", "", "the back end (default: the strongest that works and that the policy allows)")
	c.Flags().StringVar(&f.own.Image, "image", "", `what the command sees as /: "host" (programs of the host), dir:PATH, oci:PATH[:TAG], a module for wasm`)
	c.Flags().StringArrayVar(&f.mounts, "mount", nil, "a folder as SOURCE:TARGET, read-only, or SOURCE:TARGET:rw; may be repeated")
	c.Flags().StringArrayVar(&f.env, "env", nil, "a variable as NAME=value; may be repeated")
	c.Flags().StringVar(&f.net, "net", "none", `"none", or "allow=HOST[:PORT],..." for TCP to these hosts (*.x, and * for any public one)`)
	c.Flags().Float64Var(&f.cpus, "cpus", 0, "processors, such as 0.5 (default: what the policy gives)")
	c.Flags().Int64Var(&f.own.Limits.MemoryMB, "memory", 0, "MiB of memory (default: what the policy gives)")
	c.Flags().Int64Var(&f.own.Limits.DiskMB, "disk", 0, "MiB of scratch space (default: what the policy gives)")
	c.Flags().Int64Var(&f.own.Limits.MaxProcesses, "processes", 0, "processes and threads (default: what the policy gives)")
	c.Flags().DurationVar(&f.timeout, "timeout", 0, "how long it may take, such as 20s (default: what the policy gives)")
	c.Flags().StringVar(&f.own.Dir, "workdir", "", "where it starts, in the sandbox (default: its scratch folder)")
	c.Flags().BoolVar(&f.stdin, "stdin", false, "give it what comes on standard input (at most 1 MiB)")
	c.Flags().BoolVar(&f.own.AllowPartial, "allow-partial", false, "go on where the back end enforces less than asked; the record says what")
	a.formats(c, "text", "json")
	a.policyFlag(c)
	return c
}

// maxStdin is what a call can carry beside its other arguments.
const maxStdin = 1 << 20

// command checks the flags. Paths of the host are made absolute.
func (f *sandboxFlags) command(argv []string, in io.Reader) (service.OwnCommand, error) {
	own := f.own
	own.Argv, own.Timeout, own.Image = argv, f.timeout, absoluteImage(f.own.Image)
	own.Limits.CPUMillis = int64(f.cpus * 1000)
	if f.cpus < 0 || own.Limits.MemoryMB < 0 || own.Limits.DiskMB < 0 || own.Limits.MaxProcesses < 0 || f.timeout < 0 {
		return own, fault.New(fault.Usage, "flags", "a limit cannot be below 0")
	}
	if own.Dir != "" && !strings.HasPrefix(own.Dir, "/") {
		return own, fault.New(fault.Usage, "flags", "--workdir is a folder of the sandbox and begins with /, and not %q", own.Dir)
	}
	for _, m := range f.mounts {
		mount, err := parseMount(m)
		if err != nil {
			return own, err
		}
		own.Mounts = append(own.Mounts, mount)
	}
	for _, e := range f.env {
		if err := sandbox.CheckEnv(e); err != nil {
			return own, fault.New(fault.Usage, "flags", "--env: %s", fault.From(err).Message)
		}
		name, value, _ := strings.Cut(e, "=")
		own.Env = append(own.Env, [2]string{name, value})
	}
	switch hosts, allow := strings.CutPrefix(f.net, "allow="); {
	case allow && strings.Trim(hosts, ", ") != "":
		for h := range strings.SplitSeq(hosts, ",") {
			own.Hosts = append(own.Hosts, strings.TrimSpace(h))
		}
	case f.net != "none":
		return own, fault.New(fault.Usage, "flags", "--net is none, or allow=HOST[:PORT],... and not %q", f.net)
	}
	if f.stdin {
		b, err := io.ReadAll(io.LimitReader(in, maxStdin+1))
		if err != nil || len(b) > maxStdin {
			return own, fault.New(fault.Usage, "stdin", "standard input cannot be read, or is above 1 MiB; mount a folder with the file instead")
		}
		own.Input = string(b)
	}
	return own, nil
}

// absoluteImage is an image with the path in it, if it has one, made absolute.
func absoluteImage(image string) string {
	kind, path, has := strings.Cut(image, ":")
	switch {
	case has && path != "" && slices.Contains([]string{"dir", "oci", "wasm"}, kind):
		kind += ":"
	case strings.HasSuffix(image, ".wasm"):
		kind, path = "", image
	default:
		return image
	}
	path, err := filepath.Abs(path)
	if err != nil {
		return image
	}
	return kind + path
}

// parseMount reads SOURCE:TARGET[:ro|:rw]. A source may contain colons, a
// target may not.
func parseMount(m string) (sandbox.Mount, error) {
	rest, writable := strings.CutSuffix(m, ":rw")
	if !writable {
		rest = strings.TrimSuffix(m, ":ro")
	}
	i := strings.LastIndexByte(rest, ':')
	if i <= 0 || !strings.HasPrefix(rest[i+1:], "/") {
		return sandbox.Mount{}, fault.New(fault.Usage, "flags", "--mount is SOURCE:/TARGET or SOURCE:/TARGET:rw, and not %q", m)
	}
	source, err := filepath.Abs(rest[:i])
	if err == nil {
		_, err = os.Stat(source)
	}
	if err != nil {
		return sandbox.Mount{}, fault.New(fault.Usage, "path-unreadable", "--mount: %s cannot be read", rest[:i]).Because(err)
	}
	return sandbox.Mount{Source: source, Target: rest[i+1:], Writable: writable}, nil
}

// shown is w, and where w is a terminal one that nothing can act on.
func shown(w io.Writer) io.Writer {
	if !isTerminal(w) {
		return w
	}
	return &visibleWriter{to: w}
}

// visibleWriter makes control characters visible, all but the ends of lines and
// tabs. A character that comes in two parts is shown when it is whole; one
// goroutine writes at a time.
type visibleWriter struct {
	to   io.Writer
	part []byte
}

func (v *visibleWriter) Write(b []byte) (int, error) {
	text := append(v.part, b...)
	whole := len(text)
	for back := 1; back < utf8.UTFMax && back <= len(text); back++ {
		if tail := text[len(text)-back:]; utf8.RuneStart(tail[0]) {
			if !utf8.FullRune(tail) {
				whole = len(text) - back
			}
			break
		}
	}
	v.part = slices.Clone(text[whole:])
	lines := strings.Split(string(text[:whole]), "\n")
	for i, line := range lines {
		cells := strings.Split(strings.TrimSuffix(line, "\r"), "\t")
		for j := range cells {
			cells[j] = mask.Visible(cells[j])
		}
		lines[i] = strings.Join(cells, "\t")
	}
	if _, err := io.WriteString(v.to, strings.Join(lines, "\n")); err != nil {
		return 0, err
	}
	return len(b), nil
}

// commandView is the JSON shape of one command.
type commandView struct {
	executor.View
	Command *worker.CommandResult `json:"command"`
}

// commandEnded prints how a command ended and turns it into a status.
func (a *app) commandEnded(r service.OwnCommandResult) error {
	if a.format == "json" {
		a.json(commandView{r.Result.View(), r.Command})
		if r.Err != nil {
			return exitOf(r.Err)
		}
	} else if r.Err != nil {
		return r.Err
	}
	c := r.Command
	if a.format == "text" {
		said := "ended with " + strconv.Itoa(c.ExitCode)
		if c.TimedOut {
			said = "was ended: its time was up"
		}
		if c.LimitHit != "" && !c.TimedOut {
			said += ", after it met its limit of " + c.LimitHit
		}
		if c.Truncated {
			said += "; it wrote more than is kept"
		}
		if c.ExitCode != 0 || c.TimedOut || c.LimitHit != "" || c.Truncated {
			fmt.Fprintf(a.std.err, "toolwarrant: the command %s\n", said)
		}
	}
	if c.ExitCode != 0 || c.TimedOut {
		return errAnswerNo
	}
	return nil
}
