// Command kubectl is the reference client, built from its own module at the
// version the test module pins, so that a machine without one can run the
// table. In a worker of package client it runs one command after the other.
package main

import (
	"fmt"
	"os"
	"strings"

	"k8s.io/kubectl/pkg/cmd"
	"k8s.io/kubectl/pkg/cmd/util"

	"github.com/troupe-api/troupe/test/tools/worker"
)

func main() {
	if os.Getenv("TROUPE_WORKER") == "" {
		os.Exit(run())
	}
	util.BehaviorOnFatal(func(message string, code int) {
		if message != "" {
			fmt.Fprintln(os.Stderr, strings.TrimSuffix(message, "\n"))
		}
		worker.Exit(code)
	})
	worker.Serve("kubectl", run)
}

func run() int {
	if cmd.NewDefaultKubectlCommand().Execute() != nil {
		return 1
	}
	return 0
}
