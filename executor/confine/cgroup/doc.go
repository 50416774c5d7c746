// Package cgroup puts processes into control groups of their own, of the
// first and of the second version, for those limits that no process can leave:
// memory, processes, processors.
//
// Groups are made below the group of this process, or below the nearest one
// above it that may have children, so that whatever bounds this process bounds
// what it starts. Their names tell whose they are: a group whose owner is gone
// is removed by the next that looks (Tree.Sweep).
package cgroup

import "time"

// Limits of a group; 0 is no limit.
type Limits struct {
	Memory    int64   // bytes, swap included
	Processes int64   // processes and threads
	CPU       float64 // processors
}

// Usage is what a group used since it was made. What is not known is -1.
type Usage struct {
	CPU         time.Duration
	PeakMemory  int64 // bytes
	OutOfMemory int64 // times that a process was killed for memory
	Refused     int64 // times that a process could not be made
}

// A Place is a group, as it is told to another process of this machine that is
// to start one in it.
type Place struct {
	// Unified is the folder of the second version.
	Unified string `json:"unified,omitempty"`
	// Into are the folders of the first version, and Back where the process that
	// starts is itself.
	Into []string `json:"into,omitempty"`
	Back []string `json:"back,omitempty"`
}
