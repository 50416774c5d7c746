package process

import "os"

// killed is never known here.
func killed(*os.ProcessState) bool { return false }

// resident and peak are not looked at here.
func resident(int) int64 { return 0 }

func peak(*os.ProcessState) int64 { return 0 }
