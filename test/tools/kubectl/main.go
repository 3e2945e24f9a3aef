// Command kubectl runs kubectl at the version pinned by the test module, so that tests do not
// depend on an installed kubectl. It can also run as a worker of package client, which runs several
// commands in one process.
package main

import (
	"fmt"
	"os"
	"slices"
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
		if streams() {
			os.Exit(code)
		}
		worker.Exit(code)
	})
	worker.Serve("kubectl", func() int {
		code := run()
		if streams() {
			os.Exit(code)
		}
		return code
	})
}

// streams reports whether the command may leave connections open, which may later log errors. A
// worker exits after such a command.
func streams() bool {
	return slices.ContainsFunc(os.Args, func(arg string) bool {
		return slices.Contains([]string{"attach", "cp", "debug", "exec", "port-forward", "run"}, arg)
	})
}

func run() int {
	if cmd.NewDefaultKubectlCommand().Execute() != nil {
		return 1
	}
	return 0
}
