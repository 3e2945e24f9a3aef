package nodes

import (
	"fmt"
	"path/filepath"
	"strings"
	"testing"

	"github.com/troupe-api/troupe/test/client"
	addons "github.com/troupe-api/troupe/test/cluster"
)

var addonPrograms = []string{"addons/metrics-server", "addons/local-path-provisioner"}

// addonDir returns the directory of a module that pins requires, which contains manifests.
func addonDir(t *testing.T, pins, module string) string {
	t.Helper()
	dir, err := addons.ModuleDir(filepath.Join("../cluster", pins), module)
	if err != nil {
		t.Fatal(err)
	}
	return dir
}

// TestMetricsServer checks that metrics-server works with its own manifests, and that a
// HorizontalPodAutoscaler scales by its metrics.
func TestMetricsServer(t *testing.T) {
	t.Parallel()
	ns := namespace(t)
	kubectl(t, "apply", "-k", filepath.Join(addonDir(t, "addons", "sigs.k8s.io/metrics-server"), "manifests/base"))
	kubectl(t, "-n", "kube-system", "rollout", "status", "deployment/metrics-server", "--timeout=5m")
	apply(t, fmt.Sprintf(`
apiVersion: apps/v1
kind: Deployment
metadata: {name: busy, namespace: %s}
spec:
  selector: {matchLabels: {app: busy}}
  template:
    metadata: {labels: {app: busy}}
    spec:
      terminationGracePeriodSeconds: 1
      containers:
      - name: busy
        image: %s
        command: [sh, -c, "while true; do :; done"]
        resources: {requests: {cpu: 20m}, limits: {cpu: 50m}}
`, ns, agnhost))
	kubectl(t, "-n", ns, "autoscale", "deployment", "busy", "--cpu=50%", "--min=1", "--max=2")
	eventually(t, "busy-", "-n", ns, "top", "pods")
	for _, m := range cluster.Machines {
		eventually(t, m.Name, "top", "nodes")
	}
	eventually(t, "2", "-n", ns, "get", "deployment", "busy", "-o", "jsonpath={.status.readyReplicas}")
}

// TestLocalPathProvisioner checks that volumes are provisioned, keep their content and are removed.
func TestLocalPathProvisioner(t *testing.T) {
	t.Parallel()
	ns := namespace(t)
	kubectl(t, "apply", "-f", filepath.Join(addonDir(t, "addons", "github.com/rancher/local-path-provisioner"), "deploy/local-path-storage.yaml"))
	pod := func(name, command string) string {
		return fmt.Sprintf(`
apiVersion: v1
kind: Pod
metadata: {name: %s, namespace: %s}
spec:
  restartPolicy: Never
  containers:
  - {name: c, image: %q, command: [sh, -c, %q], volumeMounts: [{name: v, mountPath: /data}]}
  volumes: [{name: v, persistentVolumeClaim: {claimName: data}}]
`, name, ns, agnhost, command)
	}
	apply(t, fmt.Sprintf(`
apiVersion: v1
kind: PersistentVolumeClaim
metadata: {name: data, namespace: %s}
spec: {accessModes: [ReadWriteOnce], storageClassName: local-path, resources: {requests: {storage: 1Mi}}}
---`, ns)+pod("writer", "echo kept >/data/file"))
	eventually(t, "Succeeded", "-n", ns, "get", "pod", "writer", "-o", "jsonpath={.status.phase}")
	kubectl(t, "-n", ns, "delete", "pod", "writer")
	apply(t, pod("reader", "cat /data/file"))
	eventually(t, "Succeeded", "-n", ns, "get", "pod", "reader", "-o", "jsonpath={.status.phase}")
	if out := kubectl(t, "-n", ns, "logs", "reader"); out != "kept\n" {
		t.Errorf("read %q", out)
	}
	volume := kubectl(t, "-n", ns, "get", "pvc", "data", "-o", "jsonpath={.spec.volumeName}")
	kubectl(t, "-n", ns, "delete", "pod/reader", "pvc/data")
	client.Eventually(t, func() error {
		if out, err := cluster.Run("get", "pv", volume); err == nil || !strings.Contains(out, "NotFound") {
			return fmt.Errorf("the volume of the deleted claim: %v %s", err, out)
		}
		return nil
	})
}
