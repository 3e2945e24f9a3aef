// Package regex compiles user-provided regular expressions with bounded memory. A few bytes with
// repetitions may expand to a program of megabytes. Matching takes time proportional to the sizes
// of program and input, so the bound also limits time.
package regex
