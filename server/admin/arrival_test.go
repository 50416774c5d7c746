package admin

import (
	"context"
	"net"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/toolwarrant/toolwarrant/internal/slowbody"
)

// TestBodyThatDoesNotCome: nobody holds a connection by announcing a body and
// not sending it, with credentials or without.
func TestBodyThatDoesNotCome(t *testing.T) {
	const body = time.Second
	g := newRig(t)
	srv := New(g.srv.opt)
	srv.body = body
	ln, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	ctx, stop := context.WithCancel(context.Background())
	ended := make(chan error)
	go func() { ended <- srv.Serve(ctx, ln) }()
	defer func() { stop(); <-ended }()
	root := "Host: localhost\r\nAuthorization: root\r\nContent-Type: application/json\r\n"
	var wg sync.WaitGroup
	for what, head := range map[string]string{
		"nobody":        "POST " + base + "/decisions HTTP/1.1\r\nHost: localhost\r\n",
		"admin":         "POST " + base + "/decisions HTTP/1.1\r\n" + root,
		"no role":       "POST " + base + "/reload HTTP/1.1\r\n" + strings.Replace(root, "root", "vera", 1),
		"nowhere":       "POST /nowhere HTTP/1.1\r\n" + root,
		"wrong method":  "PUT " + base + "/decisions HTTP/1.1\r\n" + root,
		"foreign host":  "POST " + base + "/decisions HTTP/1.1\r\nHost: elsewhere\r\n",
		"stream":        "GET " + base + "/events HTTP/1.1\r\n" + root,
		"reads no body": "DELETE " + base + "/keys/abc HTTP/1.1\r\n" + root,
		"options":       "OPTIONS * HTTP/1.1\r\nHost: localhost\r\n",
	} {
		for how, rest := range map[string]string{
			"length": "Content-Length: 9\r\n\r\n", "large": "Content-Length: 999999\r\n\r\n{", "chunked": "Transfer-Encoding: chunked\r\n\r\n9\r\n{",
		} {
			wg.Go(func() {
				held := slowbody.Hold(t, ln.Addr().String(), head+rest, 10*time.Second)
				if !held.Closed || held.Took > body+4*time.Second || !strings.HasPrefix(held.Answer, "HTTP/1.1 ") {
					t.Errorf("%s, %s: %+v", what, how, held)
				}
			})
		}
	}
	wg.Wait()
}
