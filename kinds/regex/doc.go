// Package regex compiles user-provided regular expressions with bounded memory. A short pattern
// with repetitions may expand to a program of megabytes. Matching time is proportional to program
// and input size, so the bound also limits time.
package regex
