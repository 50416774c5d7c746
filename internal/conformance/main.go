// Command conformance is the MCP server of toolwarrant with what the official
// conformance suite asks a server for: fixed tools, prompts, resources and
// completion. It is the same package server, with a Caller of its own in the
// place of an installation, so that what the suite looks at is the door and the
// protocol, and not one tool is governed. It is a test program: nothing of it is
// linked into toolwarrant.
//
//	go run ./internal/conformance [-addr 127.0.0.1:0]
//
// It prints the address that the suite is pointed to, and serves until it is
// interrupted.
package main

import (
	"context"
	"flag"
	"fmt"
	"net"
	"os"
	"os/signal"
	"syscall"

	"github.com/modelcontextprotocol/go-sdk/mcp"
	"github.com/rs/zerolog"

	"github.com/toolwarrant/toolwarrant/server"
)

func main() {
	addr := flag.String("addr", "127.0.0.1:0", "address to listen on; loopback only")
	verbose := flag.Bool("v", false, "log what the library says")
	flag.Parse()
	if err := run(*addr, *verbose); err != nil {
		fmt.Fprintln(os.Stderr, "conformance:", err)
		os.Exit(1)
	}
}

func run(addr string, verbose bool) error {
	if err := server.CheckAddr(addr, server.Protection{}); err != nil {
		return err
	}
	ctx, stop := signal.NotifyContext(context.Background(), os.Interrupt, syscall.SIGTERM)
	defer stop()
	ln, err := net.Listen("tcp", addr)
	if err != nil {
		return err
	}
	log := zerolog.New(os.Stderr).Level(zerolog.WarnLevel)
	if verbose {
		log = log.Level(zerolog.DebugLevel)
	}
	fmt.Printf("http://%s/mcp\n", ln.Addr())
	return newServer(log).Serve(ctx, ln)
}

// newServer makes the server of package server with the fixtures.
func newServer(log zerolog.Logger) *server.Server {
	f := newFixtures()
	s := server.New(server.Options{
		Caller: f, Name: "toolwarrant-conformance", Version: "1.0.0", Logger: log,
		Extension: server.Extension{
			Options: f.options, Features: f.features, Events: mcp.NewMemoryEventStore(nil),
		},
	})
	f.changed = s.Changed
	return s
}
