package command

import (
	"errors"
	"fmt"
	"os"

	"github.com/troupe-api/troupe/cmd/troupe/internal/client"
	"github.com/troupe-api/troupe/cmd/troupe/internal/envtest"
)

// Main runs a command line, including the program name, and returns the exit code.
func Main(args []string) int {
	c := envtest.Program(args, run)
	if c == nil {
		c = root(args[1:]...)
		c.SetArgs(args[1:])
	}
	c.SetFlagErrorFunc(flagError)
	err := c.Execute()
	var ended *client.Error
	switch {
	case err == nil:
		return 0
	case !errors.As(err, &ended):
		fmt.Fprintf(os.Stderr, "%s: %v\n", c.Name(), err)
	case ended.Text != "":
		fmt.Fprintln(os.Stderr, ended.Text)
	}
	if ended != nil && ended.Code != 0 {
		return ended.Code
	}
	return 1
}
