package audit_test

import (
	"context"
	"fmt"
	"os"

	"github.com/toolwarrant/toolwarrant/audit"
	"github.com/toolwarrant/toolwarrant/decision"
	"github.com/toolwarrant/toolwarrant/fault"
)

// One call, from before its code runs to its answer, and what proves it.
func Example() {
	dir, err := os.MkdirTemp("", "audit")
	if err != nil {
		panic(err)
	}
	defer os.RemoveAll(dir)
	ctx := context.Background()

	log, err := audit.Open(dir, audit.Options{})
	if err != nil {
		fmt.Println(err) // AUDIT_UNAVAILABLE: take no calls
		return
	}
	call := audit.Call{CallID: "call-1", Origin: decision.OriginCLIRun}
	if err := log.Open(ctx, call, true, nil); err != nil {
		return // the code must not run
	}
	outcome := fault.OK
	call.Outcome = &outcome
	if err := log.Close(ctx, call, nil); err != nil {
		return // the answer must not leave
	}
	if err := log.Shutdown(ctx); err != nil {
		fmt.Println(err)
	}

	report, err := audit.Verify(ctx, []string{log.Path()}, audit.VerifyOptions{})
	fmt.Println(report.OK, report.Records, err)
	_ = audit.Scan(ctx, []string{log.Path()}, func(l audit.Line) error {
		fmt.Println(l.Number, l.Head.Phase, l.Head.CallID)
		return nil
	})
	// Output:
	// true 2 <nil>
	// 1 open call-1
	// 2 close call-1
}
