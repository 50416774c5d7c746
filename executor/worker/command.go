package worker

// OpProcessRun runs one command in the sandbox of the call. Its arguments are
// one Command, its result one CommandResult.
const OpProcessRun Op = "process.run"

// Command is what code asks to be run. Where and behind which limits is not
// its business: the decision says that.
type Command struct {
	Argv          []string    `json:"argv"`
	Env           [][2]string `json:"env"`       // name and value
	Dir           string      `json:"dir"`       // in the sandbox, absolute or below the work folder; "" = the work folder
	Input         string      `json:"input"`     // standard input
	TimeoutMillis int64       `json:"timeoutMs"` // 0 = what the call has left; never more than it
	MergeOutput   bool        `json:"mergeOutput"`
}

// CommandResult is how a command ended. A command that fails, that is killed
// or that meets a limit has one.
type CommandResult struct {
	ExitCode  int    `json:"exitCode"` // as a shell reports it
	Stdout    string `json:"stdout"`
	Stderr    string `json:"stderr"`
	TimedOut  bool   `json:"timedOut"`
	Truncated bool   `json:"truncated"` // there was more output than is kept
	LimitHit  string `json:"limitHit"`  // the limit that it is known to have met, or ""
}
