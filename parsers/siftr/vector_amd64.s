#include "textflag.h"

#define FILL(name, bytes) \
	DATA name<>+0(SB)/8, $bytes; \
	DATA name<>+8(SB)/8, $bytes; \
	DATA name<>+16(SB)/8, $bytes; \
	DATA name<>+24(SB)/8, $bytes; \
	GLOBL name<>(SB), RODATA|NOPTR, $32

FILL(char0, 0x3030303030303030)
FILL(char9, 0x3939393939393939)
FILL(charA, 0x6161616161616161) // small
FILL(comma, 0x2c2c2c2c2c2c2c2c)
FILL(five, 0x0505050505050505)
FILL(nine, 0x0909090909090909)
FILL(nibble, 0x0f0f0f0f0f0f0f0f)
FILL(place, 0x0110011001100110) // 16 and 1, the weights of two digits

// The bytes of each four in the other order.
DATA swapped<>+0(SB)/8, $0x0405060700010203
DATA swapped<>+8(SB)/8, $0x0c0d0e0f08090a0b
DATA swapped<>+16(SB)/8, $0x0405060700010203
DATA swapped<>+24(SB)/8, $0x0c0d0e0f08090a0b
GLOBL swapped<>(SB), RODATA|NOPTR, $32

// LOOK sets a bit for each digit and a bit for each comma among 32 bytes.
#define LOOK(at, digits, commas) \
	VMOVDQU at(DI), Y0; \
	VPSUBB char0<>(SB), Y0, Y1; \
	VPMINUB nine<>(SB), Y1, Y2; \
	VPCMPEQB Y1, Y2, Y1; \
	VPSUBB charA<>(SB), Y0, Y2; \
	VPMINUB five<>(SB), Y2, Y3; \
	VPCMPEQB Y2, Y3, Y2; \
	VPOR Y1, Y2, Y1; \
	VPCMPEQB comma<>(SB), Y0, Y0; \
	VPMOVMSKB Y1, digits; \
	VPMOVMSKB Y0, commas

// FIELD takes the field behind the separator at last: its own separator is the first
// bit of R8, which goes. Its digits are left in DX, the last one in the top byte, with
// zeros below. R12 gathers 8 minus the number of digits.
#define FIELD(last, next) \
	TZCNTQ R8, next; \
	BLSRQ R8, R8; \
	LEAQ 9(last), CX; \
	SUBQ next, CX; \
	ORQ CX, R12; \
	SHLQ $3, CX; \
	SHLXQ CX, 1(DI)(last*1), DX

// EIGHT reads the eight fields behind the separator at R9 into to(SI). R9 is then the
// last separator, and R11 is not zero if there were that many.
#define EIGHT(to) \
	FIELD(R9, R10); VMOVQ DX, X0; \
	FIELD(R10, R9); VPINSRQ $1, DX, X0, X0; \
	FIELD(R9, R10); VMOVQ DX, X1; \
	FIELD(R10, R9); VPINSRQ $1, DX, X1, X1; \
	FIELD(R9, R10); VMOVQ DX, X2; \
	FIELD(R10, R9); VPINSRQ $1, DX, X2, X2; \
	FIELD(R9, R10); VMOVQ DX, X3; \
	MOVQ R8, R11; \
	FIELD(R10, R9); VPINSRQ $1, DX, X3, X3; \
	VINSERTI128 $1, X2, Y0, Y0; \ // fields 0 1 4 5
	VINSERTI128 $1, X3, Y1, Y1; \ // fields 2 3 6 7
	VPCMPGTB char9<>(SB), Y0, Y2; \
	VPCMPGTB char9<>(SB), Y1, Y3; \
	VPAND nine<>(SB), Y2, Y2; \ // 'a' is 0x61
	VPAND nine<>(SB), Y3, Y3; \
	VPAND nibble<>(SB), Y0, Y0; \
	VPAND nibble<>(SB), Y1, Y1; \
	VPADDB Y2, Y0, Y0; \
	VPADDB Y3, Y1, Y1; \
	VPMADDUBSW place<>(SB), Y0, Y0; \
	VPMADDUBSW place<>(SB), Y1, Y1; \
	VPACKUSWB Y1, Y0, Y0; \ // four bytes a field, in their order
	VPSHUFB swapped<>(SB), Y0, Y0; \
	VMOVDQU Y0, to(SI)

// func vectorHex(line *[lineWindow]byte, v *[hexNumbers]uint32) int
TEXT ·vectorHex(SB), NOSPLIT, $0-24
	MOVQ line+0(FP), DI
	MOVQ v+8(FP), SI
	ADDQ $11, DI // hexHead

	// R13:R8 are the separators among 128 bytes, R15:BX those that are no commas.
	LOOK(0, R8, BX)
	LOOK(32, AX, DX)
	SHLQ $32, AX
	SHLQ $32, DX
	ORQ AX, R8
	ORQ DX, BX
	LOOK(64, R13, R15)
	LOOK(96, AX, DX)
	SHLQ $32, AX
	SHLQ $32, DX
	ORQ AX, R13
	ORQ DX, R15
	NOTQ R8
	NOTQ R13
	XORQ R8, BX
	XORQ R13, R15

	XORL R12, R12
	MOVQ $-1, R9
	EIGHT(0)
	TESTQ R11, R11
	JEQ wrong
	LEAQ 1(R9), R10
	BZHIQ R10, BX, CX
	TESTQ CX, CX
	JNE wrong

	// The byte behind the eighth separator becomes the first.
	ADDQ R10, DI
	MOVQ $63, CX
	SUBQ R9, CX
	SHRXQ R9, R8, R8
	SHRQ $1, R8
	SHLXQ CX, R13, R13
	ORQ R13, R8
	SHRXQ R9, BX, BX
	SHRQ $1, BX
	SHLXQ CX, R15, R15
	ORQ R15, BX

	MOVQ R10, R13
	MOVQ $-1, R9
	EIGHT(32)
	TZCNTQ BX, BX // the one that is no comma is the last
	CMPQ BX, R9
	JNE wrong
	CMPB (DI)(R9*1), $10
	JNE wrong
	TESTQ $-8, R12
	JNE wrong
	LEAQ 12(R13)(R9*1), AX // hexHead + 1
	VZEROUPPER
	MOVQ AX, ret+16(FP)
	RET

wrong:
	VZEROUPPER
	MOVQ $0, ret+16(FP)
	RET
