// Package regex compiles regular expressions of users with bounded memory: repetitions in a few
// bytes may expand to a program of megabytes. Go matches in time proportional to program and text,
// so the bound also limits time.
package regex
