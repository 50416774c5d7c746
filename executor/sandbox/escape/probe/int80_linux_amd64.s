#include "textflag.h"

// func int80(nr uint32) int32
TEXT ·int80(SB), NOSPLIT, $0-12
	MOVL nr+0(FP), AX
	MOVL $0, BX
	INT  $0x80
	MOVL AX, ret+8(FP)
	RET
