package client

import (
	"os"

	"golang.org/x/term"
)

// isTerminal reports whether a stream is connected to a terminal.
func isTerminal(stream any) bool {
	f, ok := stream.(*os.File)
	return ok && term.IsTerminal(int(f.Fd()))
}
