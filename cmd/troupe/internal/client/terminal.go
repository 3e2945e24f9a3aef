package client

import (
	"os"

	"golang.org/x/term"
)

// isTerminal tells whether people look at what is written there, or type what is read.
func isTerminal(stream any) bool {
	f, ok := stream.(*os.File)
	return ok && term.IsTerminal(int(f.Fd()))
}
