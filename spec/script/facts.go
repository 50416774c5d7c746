// Package script reads the JavaScript of a tool without running it: whether
// it parses, which helper groups it uses, whether it refers to Java.
package script

// Facts is what the code says about itself.
type Facts struct {
	Helpers     []string // sorted, namespaced spelling: "safety.http/v1", ...
	JavaInterop bool
}
