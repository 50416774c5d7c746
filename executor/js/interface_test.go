package js_test

import (
	"github.com/toolwarrant/toolwarrant/executor"
	"github.com/toolwarrant/toolwarrant/executor/js"
)

var _ executor.Runtime = (*js.Runtime)(nil)
