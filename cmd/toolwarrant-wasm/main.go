// Command toolwarrant-wasm runs WebAssembly modules inside sandboxes of
// toolwarrant. It is started by them only. Beside toolwarrant it makes their
// start faster; without it toolwarrant itself is started in its place.
package main

import "github.com/toolwarrant/toolwarrant/executor/sandbox/wasm/runner"

func main() { runner.Main() }
