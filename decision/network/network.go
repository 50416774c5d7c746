// Package network is the part of a decision that is about the network. It
// stands by itself so that what enforces it (the gate of requests, the
// allow-list of a sandbox) needs nothing else of the vocabulary, nor of what
// reads tools.
package network

// Policy is the egress part of an effective policy. It is a plain value.
type Policy struct {
	Mode      string   `json:"mode"` // blocked, allowlist, strict, open
	Hosts     []string `json:"hosts"`
	HostsDeny []string `json:"hostsDeny"`
	Ports     []int    `json:"ports"` // empty = any
	// PrivateHosts are host:port pairs with a non-public address that the
	// operator, never an author, opened.
	PrivateHosts []string `json:"privateHosts"`
}
