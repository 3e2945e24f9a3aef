// Command troupe serves a cluster API from one binary, and is a client of such servers.
package main

import (
	"errors"
	"fmt"
	"os"

	"github.com/troupe-api/troupe/cmd/troupe/internal/client"
	"github.com/troupe-api/troupe/cmd/troupe/internal/envtest"
)

func main() {
	c := envtest.Program(os.Args[0], run)
	if c == nil {
		c = root()
	}
	c.SetFlagErrorFunc(flagError)
	err := c.Execute()
	if err == nil {
		return
	}
	code := 1
	var ended *client.Error
	switch {
	case !errors.As(err, &ended):
		fmt.Fprintf(os.Stderr, "%s: %v\n", c.Name(), err)
	default:
		if ended.Text != "" {
			fmt.Fprintln(os.Stderr, ended.Text)
		}
		if ended.Code != 0 {
			code = ended.Code
		}
	}
	os.Exit(code)
}
