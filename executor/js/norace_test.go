//go:build !race

package js

const raceDetector = false
