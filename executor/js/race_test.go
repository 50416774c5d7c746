//go:build race

package js

// raceDetector says that the detector of data races is on, which looks at how
// the code runs together and not at what it answers: long tables are thinned.
const raceDetector = true
