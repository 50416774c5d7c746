// The toolwarrant-agent command is process 1 of a sandbox. It is not called by
// people: toolwarrant starts it where it stands in the same folder, and is its
// own, slower agent where it does not.
package main

import "github.com/toolwarrant/toolwarrant/executor/sandbox/agent"

func main() { agent.Main() }
