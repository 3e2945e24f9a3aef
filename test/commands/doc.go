// Package commands runs troupe as its users do: at a terminal, with an editor, with files from elsewhere, broken off by Ctrl-C, in the shells
// whose completion it has (TestShells, with the build tag shells), against servers that know less than ours.
//
// A terminal is a real one of the operating system; what is on it is drawn by screen.
package commands
