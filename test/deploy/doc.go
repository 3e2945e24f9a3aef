// Package deploy holds the files of docs/deploy against the program: the flags that they pass exist, the metrics that they ask for are
// written, their expressions parse, and their objects are accepted.
package deploy
