// Package regex compiles regular expressions of users with bounded memory. Repetitions in a few
// bytes may expand to a program of megabytes. Matching takes time proportional to program and
// input, so the bound also limits time.
package regex
