package nodes

import (
	"fmt"
	"strings"
	"testing"
	"time"

	"github.com/troupe-api/troupe/test/client"
	"github.com/troupe-api/troupe/test/realnode"
)

// containers returns the UIDs, restarts and start times of a namespace's running containers.
func containers(t *testing.T, namespace string) string {
	t.Helper()
	return kubectl(t, "-n", namespace, "get", "pods", "-o",
		`jsonpath={range .items[*]}{.metadata.name} {.metadata.uid} {.status.containerStatuses[*].restartCount} {.status.containerStatuses[*].state.running.startedAt}{"\n"}{end}`)
}

func startWeb(t *testing.T, namespace string) {
	t.Helper()
	if _, err := cluster.RunWith(web(), "-n", namespace, "apply", "-f", "-"); err != nil {
		t.Fatal(err)
	}
	kubectl(t, "-n", namespace, "rollout", "status", "deployment/web", "--timeout=5m")
}

// TestServerKilled checks that rollouts continue, and other containers keep running, while the API
// server is killed repeatedly.
func TestServerKilled(t *testing.T) {
	ns := namespace(t)
	startWeb(t, ns)
	kubectl(t, "-n", ns, "create", "deployment", "bystander", "--image="+agnhost, "--", "/agnhost", "pause")
	kubectl(t, "-n", ns, "rollout", "status", "deployment/bystander", "--timeout=5m")
	before := containers(t, "kube-system")
	for range 5 {
		kubectl(t, "-n", ns, "rollout", "restart", "deployment/web")
		if err := cluster.Server.Process.Process.Kill(); err != nil {
			t.Fatal(err)
		}
		if err := cluster.StartServer(t.Context()); err != nil {
			t.Fatal(err)
		}
		kubectl(t, "-n", ns, "rollout", "status", "deployment/web", "--timeout=5m")
	}
	if after := containers(t, "kube-system"); after != before {
		t.Errorf("containers of kube-system before\n%s\nafter\n%s", before, after)
	}
	for line := range strings.Lines(containers(t, ns)) {
		if f := strings.Fields(line); len(f) > 2 && f[2] != "0" {
			t.Errorf("restarted: %s", line)
		}
	}
	if out := kubectl(t, "-n", ns, "exec", "deploy/bystander", "--", "echo", "alive"); out != "alive\n" {
		t.Errorf("exec after the restarts: %q", out)
	}
}

// TestPartition checks that a node's containers survive a partition from the API server, and that
// the node rejoins.
func TestPartition(t *testing.T) {
	ns := namespace(t)
	startWeb(t, ns)
	before := containers(t, ns)
	m := cluster.Machines[1]
	if err := m.Disconnect(true); err != nil {
		t.Fatal(err)
	}
	eventually(t, "Unknown", "get", "node", m.Name, "-o", `jsonpath={.status.conditions[?(@.type=="Ready")].status}`)
	eventually(t, "unreachable", "get", "node", m.Name, "-o", "jsonpath={.spec.taints[*].key}")
	if err := m.Disconnect(false); err != nil {
		t.Fatal(err)
	}
	kubectl(t, "wait", "--for=condition=Ready", "node/"+m.Name, "--timeout=5m")
	kubectl(t, "-n", ns, "rollout", "status", "deployment/web", "--timeout=5m")
	if after := containers(t, ns); after != before {
		t.Errorf("before the partition\n%s\nafter\n%s", before, after)
	}
}

// TestDeadNode checks that a node can join with a file, and that its Pods are replaced when it
// dies.
func TestDeadNode(t *testing.T) {
	ns := namespace(t)
	if err := cluster.Join(t.Context(), "node-3", "172.30.0.4", realnode.ByFile); err != nil {
		t.Fatal(err)
	}
	kubectl(t, "wait", "--for=condition=Ready", "node/node-3", "--timeout=5m")
	kubectl(t, "cordon", "node-1", "node-2")
	apply(t, fmt.Sprintf(`
apiVersion: apps/v1
kind: Deployment
metadata: {name: mobile, namespace: %s}
spec:
  selector: {matchLabels: {app: mobile}}
  template:
    metadata: {labels: {app: mobile}}
    spec:
      tolerations:
      - {key: node.kubernetes.io/unreachable, operator: Exists, effect: NoExecute, tolerationSeconds: 1}
      containers: [{name: mobile, image: %s, args: [pause]}]
`, ns, agnhost))
	kubectl(t, "-n", ns, "rollout", "status", "deployment/mobile", "--timeout=5m")
	if node := kubectl(t, "-n", ns, "get", "pods", "-o", "jsonpath={.items[*].spec.nodeName}"); node != "node-3" {
		t.Fatalf("the Pod is on %q", node)
	}
	kubectl(t, "uncordon", "node-1", "node-2")
	cluster.Machines[2].Kill()
	cluster.Machines = cluster.Machines[:2]
	died := time.Now()
	eventually(t, "node-", "-n", ns, "get", "pods", "--field-selector=spec.nodeName!=node-3,status.phase=Running", "-o", "jsonpath={.items[*].spec.nodeName}")
	t.Logf("the Pod was replaced after %s", time.Since(died).Round(time.Second))
	kubectl(t, "delete", "node", "node-3")
	client.Eventually(t, func() error { // the Pod garbage collector removes the Pod
		out, err := cluster.Run("-n", ns, "get", "pods", "--field-selector=spec.nodeName=node-3", "-o", "name")
		if err == nil && out != "" {
			err = fmt.Errorf("still on the deleted node: %s", out)
		}
		return err
	})
}
