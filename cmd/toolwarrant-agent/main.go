// The toolwarrant-agent command is process 1 of a sandbox, and of a virtual
// machine that holds one. It is not called by people: toolwarrant starts it
// where it stands in the same folder, and is its own, slower agent where it
// does not.
package main

import (
	"os"

	"github.com/toolwarrant/toolwarrant/executor/sandbox/agent"
	"github.com/toolwarrant/toolwarrant/executor/sandbox/guest"
)

func main() {
	if len(os.Args) > 0 && os.Args[0] == guest.Program {
		guest.Main()
	}
	agent.Main()
}
