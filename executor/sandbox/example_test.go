package sandbox_test

import (
	"context"
	"fmt"
	"strings"
	"time"

	"github.com/toolwarrant/toolwarrant/executor/sandbox"
)

// A program that runs commands for many lends each of them a sandbox that is
// ready. What a lease leaves is gone before the next, and who listens is told
// of each command, here without a word that is nobody's business.
func ExamplePool() {
	ctx := context.Background()
	var mine sandbox.Factory = &fakes{} // of your own, or of package backends
	queue := sandbox.NewQueue(func(e sandbox.Event) {
		fmt.Println("ran", strings.Join(e.Argv, " "), "in", e.Backend)
	}, 100)
	quiet := sandbox.Masked(queue.Listen, func(word string) string { return strings.ReplaceAll(word, "s3cret", "***") })

	spec := sandbox.Spec{Limits: sandbox.Of(0.5, 128, 10*time.Second), Warmable: true, AllowPartial: true}
	pool, err := sandbox.NewPool(mine, spec, sandbox.PoolOptions{Max: 2, Listeners: []sandbox.Listener{quiet}})
	if err != nil {
		fmt.Println(err)
		return
	}
	for range 2 {
		lease, err := pool.Borrow(ctx)
		if err != nil {
			fmt.Println(err)
			return
		}
		found, err := lease.Exec(ctx, sandbox.Command{Argv: []string{"leave", "s3cret"}})
		fmt.Printf("found %q, %v\n", found.Stdout, err)
		_ = lease.Close()
	}
	stats := pool.Stats()
	_, _ = pool.Close(ctx), queue.Close(ctx)
	fmt.Println("lent", stats.Borrowed, "times, made", stats.Made, "and not told of", queue.Dropped())
	// Unordered output:
	// found "", <nil>
	// found "", <nil>
	// ran leave *** in fake
	// ran leave *** in fake
	// lent 2 times, made 1 and not told of 0
}
