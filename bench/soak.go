//go:build unix

package main

import (
	"encoding/json"
	"flag"
	"fmt"
	"net/http"
	"os"
	"slices"
	"sync"
	"time"
)

// soaked is what all clients together saw. Every call is in exactly one count.
type soaked struct {
	Clients int     `json:"clients"`
	Seconds float64 `json:"seconds"`
	OK      int     `json:"ok"`       // answered as it should be
	Asked   int     `json:"accepted"` // of these, after the client accepted the question
	Shed    int     `json:"shed"`     // 429, or RATE_LIMITED
	Stopped int     `json:"stopped"`  // 503, or no connection: the server is stopping or gone
	Unsent  int     `json:"unsent"`   // the connection ended under the request; allowed while the server stops
	Errors  int     `json:"errors"`
	First   string  `json:"firstError"`
	P50, P99, Max,
	AskedP50 float64 // milliseconds
}

// soak loads a server that runs: each client with a session or ids of its own,
// half of them of either protocol era, checking every answer. A share of the
// calls needs a human, whose answer the client gives.
//
//	go run ./bench soak -url http://127.0.0.1:8282/mcp -clients 64 -seconds 60 -approvals 10
//
// It prints one JSON document, and fails when a call failed that was not shed.
// With -until-gone it goes on until the server is away, which is no failure.
func soak(args []string) error {
	f := flag.NewFlagSet("soak", flag.ContinueOnError)
	url := f.String("url", "http://127.0.0.1:8282/mcp", "the server's address")
	clients := f.Int("clients", 64, "clients at a time")
	seconds := f.Float64("seconds", 60, "length")
	share := f.Int("approvals", 10, "of a hundred calls, how many need an approval")
	gone := f.Bool("until-gone", false, "the server is stopped meanwhile")
	if err := f.Parse(args); err != nil {
		return err
	}
	if *clients < 1 || *clients > 10000 || *seconds <= 0 || *share < 0 || *share > 100 {
		return fmt.Errorf("want 1 to 10000 clients, a length and a share of 0 to 100")
	}
	transport := &http.Transport{MaxIdleConnsPerHost: 2 * *clients, MaxConnsPerHost: 0}
	defer transport.CloseIdleConnections()
	began := time.Now()
	end := began.Add(time.Duration(*seconds * float64(time.Second)))
	results := make([]tally, *clients)
	var wg sync.WaitGroup
	for i := range *clients {
		wg.Go(func() {
			c := &soaker{number: i, url: *url, http: &http.Client{Transport: transport, Timeout: 3 * time.Minute}, legacy: i%2 == 1}
			results[i] = c.run(end, *share, *gone)
		})
	}
	wg.Wait()
	out := soaked{Clients: *clients, Seconds: time.Since(began).Seconds()}
	var plain, asked []time.Duration
	for _, r := range results {
		out.OK += len(r.plain) + len(r.asked)
		out.Asked += len(r.asked)
		out.Shed, out.Stopped, out.Unsent, out.Errors = out.Shed+r.shed, out.Stopped+r.stopped, out.Unsent+r.unsent, out.Errors+r.errors
		if out.First == "" {
			out.First = r.first
		}
		plain, asked = append(plain, r.plain...), append(asked, r.asked...)
	}
	out.P50, out.P99, out.Max, out.AskedP50 = quantile(plain, .5), quantile(plain, .99), quantile(plain, 1), quantile(asked, .5)
	enc := json.NewEncoder(os.Stdout)
	enc.SetIndent("", "  ")
	if err := enc.Encode(out); err != nil {
		return err
	}
	switch {
	case out.Errors > 0:
		return fmt.Errorf("%d calls failed, the first with: %s", out.Errors, out.First)
	case !*gone && out.Stopped+out.Unsent > 0:
		return fmt.Errorf("%d calls found no server", out.Stopped+out.Unsent)
	case out.OK == 0:
		return fmt.Errorf("no call was answered")
	case *share > 0 && out.Asked == 0:
		return fmt.Errorf("no call was asked about")
	}
	return nil
}

func quantile(all []time.Duration, q float64) float64 {
	if len(all) == 0 {
		return 0
	}
	slices.Sort(all)
	return float64(all[int(q*float64(len(all)-1))].Microseconds()) / 1000
}
