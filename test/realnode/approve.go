package realnode

import (
	"bufio"
	"context"
	"fmt"
	"os/exec"
	"strings"
)

// approveServing approves CSRs for kubelet serving certificates until ctx ends. Kubernetes leaves
// this to the administrator.
func (c *Cluster) approveServing(ctx context.Context) {
	ready := func() bool { return c.kubectl("get", "--raw", "/readyz") == nil }
	for c.processes.Await(ctx, "the API server", ready) == nil { // it may have been killed
		watch := exec.CommandContext(ctx, c.Kubectl, "--kubeconfig", c.Kubeconfig, "get", "csr", "--watch",
			"-o", `jsonpath={.metadata.name} {.spec.signerName} {.status.conditions[*].type}{"\n"}`)
		out, err := watch.StdoutPipe()
		if err == nil {
			err = watch.Start()
		}
		if err != nil {
			fmt.Println("approve certificates:", err) // the tests that need them fail
			return
		}
		for lines := bufio.NewScanner(out); lines.Scan(); {
			if f := strings.Fields(lines.Text()); len(f) == 2 && f[1] == "kubernetes.io/kubelet-serving" {
				if err := c.kubectl("certificate", "approve", f[0]); err != nil {
					fmt.Println(err) // the request stays until the next watch
				}
			}
		}
		_ = watch.Wait() // it ends with ctx, or with the API server
	}
}
