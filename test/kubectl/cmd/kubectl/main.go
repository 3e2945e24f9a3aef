// Command kubectl is the reference client, built from its own module at the
// version the test module pins, so that a machine without one can run the
// table.
package main

import (
	"os"

	"k8s.io/kubectl/pkg/cmd"
)

func main() {
	if err := cmd.NewDefaultKubectlCommand().Execute(); err != nil {
		os.Exit(1)
	}
}
