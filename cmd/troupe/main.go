// Command troupe is a Kubernetes-compatible API server, and a client for such servers.
package main

import (
	"os"

	cmap "github.com/orcaman/concurrent-map"

	"github.com/troupe-api/troupe/cmd/troupe/command"
)

func main() {
	// The registry of the actor system consists of 1,024 concurrent maps. Creating them with 32
	// shards each would take a twentieth of the startup time.
	cmap.SHARD_COUNT = 1
	os.Exit(command.Main(os.Args))
}
