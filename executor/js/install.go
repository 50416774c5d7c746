package js

// install builds the world of the program. It runs inside the virtual machine
// before any of the program's code.
func (s *session) install() {
	s.prelude()
	s.installConsole()
	s.installTimers()
}
