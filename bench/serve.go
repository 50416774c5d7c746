//go:build unix

package main

import (
	"bufio"
	"context"
	"encoding/base64"
	"encoding/json"
	"fmt"
	"net"
	"net/http"
	"os"
	"path/filepath"
	"runtime"
	"runtime/metrics"
	"runtime/pprof"
	"syscall"

	"github.com/modelcontextprotocol/go-sdk/mcp"
	"github.com/rs/zerolog"

	"github.com/toolwarrant/toolwarrant/config"
	"github.com/toolwarrant/toolwarrant/server"
	"github.com/toolwarrant/toolwarrant/service"
)

// serveChild is one server process. It prints its URL, answers "usage" lines
// with its own CPU time and memory, and ends with its standard input.
func serveChild(kind string) error {
	listener, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		return err
	}
	handler := echoHandler()
	if kind == "governed" || kind == withFloor {
		if kind == withFloor && !service.HeapFloor(64<<20, os.LookupEnv) {
			return fmt.Errorf("there is no floor here: GOGC, GOMEMLIMIT or the memory of the machine forbids it")
		}
		governed, closeAll, err := governed(context.Background(), os.Getenv("TOOLWARRANT_HOME"))
		if err != nil {
			return err
		}
		defer closeAll()
		handler = governed
	}
	stop, err := startProfile(kind)
	if err != nil {
		return err
	}
	defer stop()
	web := &http.Server{Handler: handler}
	go web.Serve(listener)
	defer web.Close()
	fmt.Printf("http://%s/mcp\n", listener.Addr())
	out := json.NewEncoder(os.Stdout)
	for lines := bufio.NewScanner(os.Stdin); lines.Scan(); {
		var r syscall.Rusage
		if err := syscall.Getrusage(syscall.RUSAGE_SELF, &r); err != nil {
			return err
		}
		rss := r.Maxrss
		if runtime.GOOS == "darwin" { // bytes there, KiB elsewhere
			rss /= 1024
		}
		if err := out.Encode(usage{CPUMicros: micros(r.Utime) + micros(r.Stime), RSSKiB: int64(rss), GCRuns: collections()}); err != nil {
			return err
		}
	}
	return nil
}

// governed is toolwarrant with everything on.
func governed(ctx context.Context, home string) (http.Handler, func(), error) {
	cfg, err := config.Load("", nil, map[string]any{"log.level": "error", "catalog.preset": "dev-essentials"})
	if err != nil {
		return nil, nil, err
	}
	logger := zerolog.New(os.Stderr).Level(zerolog.ErrorLevel)
	s, err := service.Open(ctx, service.Options{Home: home, Config: cfg, Logger: logger})
	if err != nil {
		return nil, nil, err
	}
	return server.New(server.Options{Caller: server.Governed(s), Name: "bench", Version: "0", Logger: logger}).Handler(), func() { _ = s.Close(ctx) }, nil
}

// collections is how often the garbage collector of this process ran so far.
func collections() int64 {
	of := []metrics.Sample{{Name: "/gc/cycles/total:gc-cycles"}}
	metrics.Read(of)
	return int64(of[0].Value.Uint64())
}

// profileDir names the folder for profiles in a child's environment.
const profileDir = "TOOLWARRANT_BENCH_PROFILE"

// startProfile writes a CPU profile of this process if one was asked for.
func startProfile(kind string) (stop func(), err error) {
	dir := os.Getenv(profileDir)
	if dir == "" {
		return func() {}, nil
	}
	f, err := os.Create(filepath.Join(dir, kind+"-gogc"+os.Getenv("GOGC")+".pprof"))
	if err != nil {
		return nil, err
	}
	if err := pprof.StartCPUProfile(f); err != nil {
		return nil, err
	}
	return func() { pprof.StopCPUProfile(); f.Close() }, nil
}

func micros(t syscall.Timeval) int64 { return int64(t.Sec)*1e6 + int64(t.Usec) }

// echoHandler is the bare side: the SDK, one tool, nothing else.
func echoHandler() http.Handler {
	s := mcp.NewServer(&mcp.Implementation{Name: "echo", Version: "0"}, nil)
	s.AddTool(&mcp.Tool{
		Name: "base64", Description: "Encodes text to base64.",
		InputSchema: json.RawMessage(`{"type":"object","properties":{"text":{"type":"string"}},"required":["text"]}`),
	}, func(_ context.Context, req *mcp.CallToolRequest) (*mcp.CallToolResult, error) {
		var in struct{ Text string }
		if err := json.Unmarshal(req.Params.Arguments, &in); err != nil {
			return nil, err
		}
		return &mcp.CallToolResult{Content: []mcp.Content{&mcp.TextContent{Text: base64.StdEncoding.EncodeToString([]byte(in.Text))}}}, nil
	})
	return mcp.NewStreamableHTTPHandler(func(*http.Request) *mcp.Server { return s }, &mcp.StreamableHTTPOptions{Stateless: true, JSONResponse: true})
}
