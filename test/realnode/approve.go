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
func (c *Cluster) approveServing(ctx context.Context) error {
	watch := exec.CommandContext(ctx, c.Kubectl, "--kubeconfig", c.Kubeconfig, "get", "csr", "--watch",
		"-o", `jsonpath={.metadata.name} {.spec.signerName} {.status.conditions[*].type}{"\n"}`)
	out, err := watch.StdoutPipe()
	if err != nil {
		return err
	}
	if err := watch.Start(); err != nil {
		return err
	}
	go func() {
		for lines := bufio.NewScanner(out); lines.Scan(); {
			if f := strings.Fields(lines.Text()); len(f) == 2 && f[1] == "kubernetes.io/kubelet-serving" {
				if err := c.kubectl("certificate", "approve", f[0]); err != nil {
					fmt.Println(err) // the request stays, and the test that needs it fails
				}
			}
		}
		_ = watch.Wait() // it ends with ctx
	}()
	return nil
}
