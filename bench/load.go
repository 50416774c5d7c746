//go:build unix

package main

import (
	"bufio"
	"bytes"
	"context"
	"encoding/json"
	"fmt"
	"io"
	"net/http"
	"os"
	"os/exec"
	"slices"
	"strconv"
	"strings"
	"sync"
	"sync/atomic"
	"time"
)

// sample is one measurement of one server.
type sample struct {
	cpuPerCall float64 // microseconds of the server process
	rate       float64 // calls per second
	p50, p99   float64 // milliseconds
	rss        float64 // MiB, highest
	gcRuns     float64 // of the garbage collector, in 1,000 calls
}

// usage is what a child says about itself on its standard output.
type usage struct {
	CPUMicros int64 `json:"cpuMicros"`
	RSSKiB    int64 `json:"rssKiB"`
	GCRuns    int64 `json:"gcRuns"`
}

// measure starts a server, warms it up, loads it and stops it.
func measure(ctx context.Context, server string, gogc, clients int, length time.Duration) (sample, error) {
	self, err := os.Executable()
	if err != nil {
		return sample{}, err
	}
	home, err := os.MkdirTemp("", "toolwarrant-bench-")
	if err != nil {
		return sample{}, err
	}
	defer os.RemoveAll(home)
	cmd := exec.CommandContext(ctx, self, "serve", server)
	cmd.Env = append(os.Environ(), "TOOLWARRANT_HOME="+home)
	if server != withFloor { // which yields to GOGC
		cmd.Env = append(cmd.Env, "GOGC="+strconv.Itoa(gogc))
	}
	cmd.Stderr = os.Stderr
	ask, err := cmd.StdinPipe()
	if err != nil {
		return sample{}, err
	}
	out, err := cmd.StdoutPipe()
	if err != nil {
		return sample{}, err
	}
	if err := cmd.Start(); err != nil {
		return sample{}, err
	}
	defer func() { ask.Close(); cmd.Wait() }()
	lines := bufio.NewScanner(out)
	if !lines.Scan() {
		return sample{}, fmt.Errorf("the server did not start")
	}
	url := strings.TrimSpace(lines.Text())
	asked := func() (u usage, err error) {
		if _, err = io.WriteString(ask, "usage\n"); err != nil {
			return u, err
		}
		if !lines.Scan() {
			return u, fmt.Errorf("the server is gone")
		}
		return u, json.Unmarshal(lines.Bytes(), &u)
	}
	if _, err := load(url, clients, time.Second/2); err != nil {
		return sample{}, err
	}
	before, err := asked()
	if err != nil {
		return sample{}, err
	}
	began := time.Now()
	took, err := load(url, clients, length)
	if err != nil {
		return sample{}, err
	}
	wall := time.Since(began)
	after, err := asked()
	if err != nil {
		return sample{}, err
	}
	slices.Sort(took)
	ms := func(q float64) float64 {
		return float64(took[int(q*float64(len(took)-1))].Microseconds()) / 1000
	}
	return sample{
		cpuPerCall: float64(after.CPUMicros-before.CPUMicros) / float64(len(took)),
		rate:       float64(len(took)) / wall.Seconds(),
		p50:        ms(0.5), p99: ms(0.99), rss: float64(after.RSSKiB) / 1024,
		gcRuns: 1000 * float64(after.GCRuns-before.GCRuns) / float64(len(took)),
	}, nil
}

// load calls the tool from many clients until the time is over. Every answer
// is checked: a fast wrong answer is an error.
func load(url string, clients int, length time.Duration) ([]time.Duration, error) {
	transport := &http.Transport{MaxIdleConnsPerHost: clients, MaxConnsPerHost: clients}
	defer transport.CloseIdleConnections()
	client := &http.Client{Transport: transport, Timeout: 30 * time.Second}
	end := time.Now().Add(length)
	var id atomic.Int64
	var wg sync.WaitGroup
	took := make([][]time.Duration, clients)
	errs := make([]error, clients)
	for i := range clients {
		wg.Add(1)
		go func() {
			defer wg.Done()
			for time.Now().Before(end) && errs[i] == nil {
				began := time.Now()
				errs[i] = call(client, url, id.Add(1))
				took[i] = append(took[i], time.Since(began))
			}
		}()
	}
	wg.Wait()
	for _, err := range errs {
		if err != nil {
			return nil, err
		}
	}
	return slices.Concat(took...), nil
}

const request = `{"jsonrpc":"2.0","id":%d,"method":"tools/call","params":{"name":"base64","arguments":{"text":"hello world"},` +
	`"_meta":{"io.modelcontextprotocol/protocolVersion":"2026-07-28","io.modelcontextprotocol/clientCapabilities":{},` +
	`"io.modelcontextprotocol/clientInfo":{"name":"bench","version":"1"}}}}`

func call(client *http.Client, url string, id int64) error {
	req, err := http.NewRequest(http.MethodPost, url, strings.NewReader(fmt.Sprintf(request, id)))
	if err != nil {
		return err
	}
	for k, v := range map[string]string{
		"Content-Type": "application/json", "Accept": "application/json, text/event-stream",
		"MCP-Protocol-Version": "2026-07-28", "Mcp-Method": "tools/call", "Mcp-Name": "base64",
	} {
		req.Header.Set(k, v)
	}
	resp, err := client.Do(req)
	if err != nil {
		return err
	}
	defer resp.Body.Close()
	body, err := io.ReadAll(resp.Body)
	if err != nil {
		return err
	}
	if resp.StatusCode != http.StatusOK || !bytes.Contains(body, []byte("aGVsbG8gd29ybGQ=")) {
		return fmt.Errorf("wrong answer %d: %.300s", resp.StatusCode, body)
	}
	return nil
}
