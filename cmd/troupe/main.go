// Command troupe is a Kubernetes-compatible API server, and a client for such servers.
package main

import (
	"os"

	cmap "github.com/orcaman/concurrent-map"

	"github.com/troupe-api/troupe/cmd/troupe/command"
)

func main() {
	// The actor system's registry consists of 1,024 concurrent maps. With the default of 32
	// shards each, creating them would take a twentieth of the startup time.
	cmap.SHARD_COUNT = 1
	os.Exit(command.Main(os.Args))
}
