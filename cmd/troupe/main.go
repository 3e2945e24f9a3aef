// Command troupe runs a Kubernetes-compatible API server, and is a client of such servers.
package main

import (
	"os"

	"github.com/troupe-api/troupe/cmd/troupe/command"
)

func main() { os.Exit(command.Main(os.Args)) }
