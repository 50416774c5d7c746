// Package command runs the commands of one call, and is the only way from the
// code of a tool to a process. It owns how a decision becomes the specification
// of a sandbox, which sandbox is taken, and what is kept of each command for
// the record.
//
// Threat model: the code that asks is hostile. It says which command, with
// which arguments, input and variables; where that runs and behind which limits
// is taken from the decision alone. What cannot be enforced, or has no sandbox
// here, starts nothing. A value that the call has to keep secret enters the
// environment of a command only where the policy names it. Output is bounded,
// and masked before the code sees it. No failure that the code is given names a
// path, an address or an error text of this machine.
package command
