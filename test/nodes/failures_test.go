package nodes

import (
	"bufio"
	"fmt"
	"os/exec"
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

// killServer kills an API server and starts it again.
func killServer(t *testing.T) {
	t.Helper()
	if err := cluster.KillServer(t.Context()); err != nil {
		t.Fatal(err)
	}
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
		killServer(t)
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

// TestServerKilledDuringPull checks that a Pod starts although the API server is killed while the
// node pulls its image.
func TestServerKilledDuringPull(t *testing.T) {
	ns := namespace(t)
	release := cluster.HoldPulls()
	apply(t, fmt.Sprintf(`
apiVersion: v1
kind: Pod
metadata: {name: pulled, namespace: %s}
spec:
  restartPolicy: Never
  containers: [{name: pulled, image: "registry.k8s.io/e2e-test-images/nonroot:1.5", imagePullPolicy: Always}]
`, ns))
	eventually(t, "Pulling", "-n", ns, "get", "events", "-o", "jsonpath={.items[*].reason}")
	killServer(t)
	release()
	eventually(t, "Succeeded", "-n", ns, "get", "pod", "pulled", "-o", "jsonpath={.status.phase}")
	if out := kubectl(t, "-n", ns, "logs", "pulled"); !strings.HasPrefix(out, "uid=1234") {
		t.Errorf("logs: %q", out)
	}
}

// TestServerKilledDuringExec checks that kubectl exec fails when the API server is killed, and that
// the container survives.
func TestServerKilledDuringExec(t *testing.T) {
	ns := namespace(t)
	startWeb(t, ns)
	before := containers(t, ns)
	session := exec.Command(cluster.Kubectl, "--kubeconfig", cluster.Kubeconfig, "-n", ns, "exec", "deploy/web", "--", "sh", "-c", "echo started; sleep 1000")
	out, err := session.StdoutPipe()
	if err != nil {
		t.Fatal(err)
	}
	if err := session.Start(); err != nil {
		t.Fatal(err)
	}
	if line, err := bufio.NewReader(out).ReadString('\n'); line != "started\n" {
		t.Fatalf("exec printed %q: %v", line, err)
	}
	killServer(t)
	if err := session.Wait(); err == nil {
		t.Error("exec succeeded, although its connection ended")
	}
	if out := kubectl(t, "-n", ns, "exec", "deploy/web", "--", "echo", "alive"); out != "alive\n" {
		t.Errorf("exec after the restart: %q", out)
	}
	if after := containers(t, ns); after != before {
		t.Errorf("before\n%s\nafter\n%s", before, after)
	}
}

// TestServerKilledDuringDrain checks that kubectl drain succeeds, perhaps when it is repeated,
// although the API server is killed meanwhile.
func TestServerKilledDuringDrain(t *testing.T) {
	ns := namespace(t)
	startWeb(t, ns)
	t.Cleanup(func() { kubectl(t, "uncordon", "node-2") })
	drain := exec.Command(cluster.Kubectl, "--kubeconfig", cluster.Kubeconfig, "drain", "node-2", "--ignore-daemonsets", "--delete-emptydir-data", "--force", "--timeout=5m")
	if err := drain.Start(); err != nil {
		t.Fatal(err)
	}
	eventually(t, "true", "get", "node", "node-2", "-o", "jsonpath={.spec.unschedulable}")
	killServer(t)
	if err := drain.Wait(); err != nil { // the connection failed
		kubectl(t, "drain", "node-2", "--ignore-daemonsets", "--delete-emptydir-data", "--force", "--timeout=5m")
	}
	client.Eventually(t, func() error {
		out, err := cluster.Run("-n", ns, "get", "pods", "--field-selector=spec.nodeName=node-2", "-o", "name")
		if err == nil && out != "" {
			err = fmt.Errorf("still on the drained node: %s", out)
		}
		return err
	})
}

// TestCertificateRotation checks that kubelets renew their client and serving certificates, and
// that containers survive.
func TestCertificateRotation(t *testing.T) {
	t.Parallel()
	ns := namespace(t)
	startWeb(t, ns)
	before := containers(t, ns)
	for _, m := range cluster.Machines {
		for _, kind := range []string{"client", "server"} {
			current := "/var/lib/kubelet/pki/kubelet-" + kind + "-current.pem"
			client.Eventually(t, func() error { // both the first certificate and its successor have a date in their names
				return m.Run("sh", "-c", fmt.Sprintf("test $(ls /var/lib/kubelet/pki/kubelet-%s-2*.pem | wc -l) -ge 2 && openssl x509 -in %s -noout -checkend 1", kind, current))
			})
		}
	}
	kubectl(t, "wait", "--for=condition=Ready", "node", "--all", "--timeout=5m")
	if out := kubectl(t, "-n", ns, "exec", "deploy/web", "--", "echo", "alive"); out != "alive\n" {
		t.Errorf("exec with the new serving certificate: %q", out)
	}
	if after := containers(t, ns); after != before {
		t.Errorf("before\n%s\nafter\n%s", before, after)
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
