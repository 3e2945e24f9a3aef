// Command troupe runs troupe commands as a worker of package client.
package main

import (
	"os"

	"github.com/troupe-api/troupe/cmd/troupe/command"
	"github.com/troupe-api/troupe/test/tools/worker"
)

func main() { worker.Serve("troupe", func() int { return command.Main(os.Args) }) }
