// Command kubectl is kubectl at the version pinned by the test module, so that tests need no
// installed one. As a worker of package client it runs several commands.
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
