// Package regex compiles regular expressions of users within a bound of memory: in an expression of a few bytes,
// repetitions may ask for a program of many megabytes. Go's regular expressions take time in proportion to the program
// and the text, so a bound of the program bounds both.
package regex
