// Command troupe is a Kubernetes-compatible API server, and a client for such servers.
package main

import (
	"os"

	"github.com/troupe-api/troupe/cmd/troupe/command"
)

func main() {
	os.Exit(command.Main(os.Args))
}
