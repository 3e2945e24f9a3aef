// Command kubectl is the reference client, built from its own module at the
// version the test module pins, so that a machine without one can run the
// table. In a worker of package client it runs one command after the other.
package main

import (
	"os"

	"k8s.io/kubectl/pkg/cmd"
)

func main() {
	if os.Getenv("TROUPE_KUBECTL_WORKER") != "" {
		work()
		return
	}
	if err := cmd.NewDefaultKubectlCommand().Execute(); err != nil {
		os.Exit(1)
	}
}
