package runner

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"os"
	"path"
	"path/filepath"
	"runtime/debug"
	"slices"
	"strconv"

	"github.com/toolwarrant/toolwarrant/executor/sandbox/wasm/frame"
)

// serve loads the module once and runs it as often as asked. What goes wrong
// before Hello is told as Done.
func serve(c Config, in io.Reader, out io.Writer) (int, error) {
	ctx := context.Background()
	w, r := frame.NewWriter(out), frame.NewReader(in, frame.MaxRequest)
	m, err := ready(ctx, c)
	if err != nil {
		return codeRunner, errors.Join(err, w.WriteJSON(frame.Done, frame.Report{Code: codeRunner, Error: err.Error()}))
	}
	defer m.close(ctx)
	if err := w.Write(frame.Hello, []byte(strconv.Itoa(Version))); err != nil {
		return codeRunner, err
	}
	for {
		kind, body, err := r.Read()
		if errors.Is(err, io.EOF) {
			return 0, nil
		}
		if err != nil {
			return codeRunner, err
		}
		var req frame.Request
		if kind != frame.Run {
			return codeRunner, fmt.Errorf("a frame of kind %q where a run was expected", rune(kind))
		}
		if err := json.Unmarshal(body, &req); err != nil {
			return codeRunner, err
		}
		report := m.run(ctx, req, streams{
			in:  &input{w: w, r: r},
			out: &output{w: w, kind: frame.Out, left: req.MaxOutput},
			err: &output{w: w, kind: frame.Err, left: req.MaxOutput},
		})
		if err := w.WriteJSON(frame.Done, report); err != nil {
			return codeRunner, err
		}
	}
}

// ready loads a module whose code is in the cache as a rule, and gives it what
// it runs with.
func ready(ctx context.Context, c Config) (*module, error) {
	// What is allocated now stays, so a collection in the middle is for nothing.
	defer debug.SetGCPercent(debug.SetGCPercent(400))
	text, err := read(c)
	if err != nil {
		return nil, err
	}
	before := cached(c.Cache)
	if bones, ok := skeleton(text); ok && len(before) == 1 {
		text = bones
	}
	m, err := load(ctx, c, text)
	if err != nil {
		return nil, err
	}
	if len(before) == 1 && !slices.Equal(cached(c.Cache), before) {
		m.close(ctx)
		return nil, errors.New("the compiled code is not that of this module; remove it from the cache")
	}
	if err := m.open(ctx, c.Mounts); err != nil {
		m.close(ctx)
		return nil, err
	}
	return m, nil
}

// output sends what a module writes. Beyond what is kept, and one byte that
// shows that there was more, it goes nowhere.
type output struct {
	w    *frame.Writer
	kind frame.Kind
	left int64
}

func (o *output) Write(p []byte) (int, error) {
	n := len(p)
	if int64(n) > o.left+1 {
		p = p[:max(0, o.left+1)]
	}
	if len(p) > 0 {
		o.left -= int64(len(p))
		if err := o.w.Write(o.kind, p); err != nil {
			return 0, err
		}
	}
	return n, nil
}

// input asks for what a module reads when it reads.
type input struct {
	w    *frame.Writer
	r    *frame.Reader
	rest []byte
	end  bool
}

func (i *input) Read(p []byte) (int, error) {
	if len(i.rest) == 0 && !i.end {
		if err := i.w.Write(frame.Need, nil); err != nil {
			return 0, err
		}
		kind, body, err := i.r.Read()
		if err != nil {
			return 0, err
		}
		if kind != frame.In {
			return 0, fmt.Errorf("a frame of kind %q where input was expected", rune(kind))
		}
		// The body is good until the next read, which is after its end.
		i.rest, i.end = body, len(body) == 0
	}
	if i.end {
		return 0, io.EOF
	}
	n := copy(p, i.rest)
	i.rest = i.rest[n:]
	return n, nil
}

// attached runs the module once on the streams of the process.
func attached(c Config) (int, error) {
	ctx := context.Background()
	m, err := ready(ctx, c)
	if err != nil {
		return codeRunner, err
	}
	report := m.run(ctx, c.Run, streams{os.Stdin, os.Stdout, os.Stderr})
	if report.Error != "" {
		return report.Code, errors.New(report.Error)
	}
	return report.Code, nil
}

// compile compiles the module and sends its code, under the name of its
// skeleton.
func compile(c Config, out io.Writer) (int, error) {
	w := frame.NewWriter(out)
	name, err := compileTo(c, w)
	done := Compiled{File: name}
	if err != nil {
		done.Error = err.Error()
	}
	if err := w.WriteJSON(frame.Done, done); err != nil {
		return codeRunner, err
	}
	return 0, nil
}

func compileTo(c Config, w *frame.Writer) (string, error) {
	if err := os.MkdirAll(c.Cache, 0o700); err != nil {
		return "", err
	}
	text, err := read(c)
	if err != nil {
		return "", err
	}
	whole, err := compileInto(c, "whole", text)
	if err != nil {
		return "", err
	}
	name := whole
	if bones, ok := skeleton(text); ok {
		if name, err = compileInto(c, "skeleton", bones); err != nil {
			return "", err
		}
	}
	file, err := os.Open(whole)
	if err != nil {
		return "", err
	}
	defer file.Close()
	if _, err := io.CopyBuffer(&output{w: w, kind: frame.Out, left: 1 << 62}, file, make([]byte, frame.MaxBody)); err != nil {
		return "", err
	}
	return path.Join(filepath.Base(filepath.Dir(name)), filepath.Base(name)), nil
}

// compileInto compiles into a folder of its own and tells which file that
// made.
func compileInto(c Config, folder string, text []byte) (string, error) {
	c.Cache = filepath.Join(c.Cache, folder)
	m, err := load(context.Background(), c, text)
	if err != nil {
		return "", err
	}
	m.close(context.Background())
	files := cached(c.Cache)
	if len(files) != 1 {
		return "", fmt.Errorf("the cache holds %d files after compilation, not 1", len(files))
	}
	return files[0], nil
}

// cached are the files of a cache.
func cached(dir string) []string {
	if dir == "" {
		return nil
	}
	files, _ := filepath.Glob(filepath.Join(dir, "*", "*"))
	return files
}
