package nodes

import (
	"fmt"
	"os"
	"path/filepath"
	"regexp"
	"strings"
	"testing"

	"github.com/troupe-api/troupe/test/client"
)

const agnhost = "registry.k8s.io/e2e-test-images/agnhost:2.66.1"

// web returns a Deployment and a Service of type NodePort. The Deployment has one Pod per node,
// except with the built-in scheduler, which rejects the constraint.
func web() string {
	if *builtIn {
		return regexp.MustCompile(`(?m)^ *topologySpreadConstraints:\n.*\n`).ReplaceAllString(webManifest, "")
	}
	return webManifest
}

const webManifest = `
apiVersion: apps/v1
kind: Deployment
metadata: {name: web}
spec:
  replicas: 2
  selector: {matchLabels: {app: web}}
  template:
    metadata: {labels: {app: web}}
    spec:
      terminationGracePeriodSeconds: 1
      topologySpreadConstraints:
      - {maxSkew: 1, topologyKey: kubernetes.io/hostname, whenUnsatisfiable: DoNotSchedule, labelSelector: {matchLabels: {app: web}}}
      containers:
      - name: web
        image: ` + agnhost + `
        args: [netexec, --http-port=8080]
        ports: [{containerPort: 8080}]
        readinessProbe: {httpGet: {path: /healthz, port: 8080}, periodSeconds: 1}
---
apiVersion: v1
kind: Service
metadata: {name: web}
spec:
  type: NodePort
  selector: {app: web}
  ports: [{port: 80, targetPort: 8080}]
`

// TestContainers checks kubectl with running containers: logs, exec, cp and debug.
func TestContainers(t *testing.T) {
	t.Parallel()
	ns := namespace(t)
	apply(t, "apiVersion: v1\nkind: ConfigMap\nmetadata: {name: settings, namespace: "+ns+"}\ndata: {color: green}\n")
	apply(t, fmt.Sprintf(`
apiVersion: v1
kind: Pod
metadata: {name: tool, namespace: %s}
spec:
  terminationGracePeriodSeconds: 1
  containers:
  - name: tool
    image: %s
    command: [sh, -c, "echo started $COLOR; cat; sleep 1000"]
    stdin: true
    env: [{name: COLOR, valueFrom: {configMapKeyRef: {name: settings, key: color}}}]
    volumeMounts: [{name: settings, mountPath: /settings}]
  volumes: [{name: settings, configMap: {name: settings}}]
`, ns, agnhost))
	kubectl(t, "-n", ns, "wait", "--for=condition=Ready", "pod/tool", "--timeout=5m")
	if out := kubectl(t, "-n", ns, "logs", "tool"); out != "started green\n" {
		t.Errorf("logs: %q", out)
	}
	if out := kubectl(t, "-n", ns, "exec", "tool", "--", "cat", "/settings/color"); out != "green" {
		t.Errorf("exec: %q", out)
	}
	if out, err := cluster.Run("-n", ns, "exec", "tool", "--", "sh", "-c", "exit 7"); err == nil || !strings.Contains(out, "exit code 7") {
		t.Errorf("exec of a failing command: %v\n%s", err, out)
	}
	if out, err := cluster.RunWith("to standard input\n", "-n", ns, "exec", "-i", "tool", "--", "cat"); err != nil || out != "to standard input\n" {
		t.Errorf("exec with standard input: %v %q", err, out)
	}
	file := filepath.Join(t.TempDir(), "file")
	if err := os.WriteFile(file, []byte(strings.Repeat("content\n", 100_000)), 0o600); err != nil {
		t.Fatal(err)
	}
	kubectl(t, "-n", ns, "cp", file, "tool:/tmp/copied")
	kubectl(t, "-n", ns, "cp", "tool:/tmp/copied", file+"2")
	if out := client.ReadFile(t, file+"2"); len(out) != 800_000 {
		t.Errorf("cp: %d bytes came back", len(out))
	}
	kubectl(t, "-n", ns, "debug", "tool", "--image="+agnhost, "--container=debugger", "--profile=general", "--", "sh", "-c", "echo debugged; sleep 1000")
	eventually(t, "debugged", "-n", ns, "logs", "tool", "-c", "debugger")
	kubectl(t, "-n", ns, "patch", "configmap", "settings", "--type=merge", "-p", `{"data":{"color":"blue"}}`)
	eventually(t, "blue", "-n", ns, "exec", "tool", "-c", "tool", "--", "cat", "/settings/color")
}

// TestNetwork checks that each node can reach Pods, Services, node ports and names.
func TestNetwork(t *testing.T) {
	t.Parallel()
	ns := namespace(t)
	if _, err := cluster.RunWith(web(), "-n", ns, "apply", "-f", "-"); err != nil {
		t.Fatal(err)
	}
	kubectl(t, "-n", ns, "rollout", "status", "deployment/web", "--timeout=5m")
	port := kubectl(t, "-n", ns, "get", "service", "web", "-o", "jsonpath={.spec.ports[0].nodePort}")
	pods := strings.Fields(kubectl(t, "-n", ns, "get", "pods", "-o", "jsonpath={.items[*].metadata.name}"))
	addresses := strings.Fields(kubectl(t, "-n", ns, "get", "pods", "-o", "jsonpath={.items[*].status.podIP}"))
	if nodes := strings.Fields(kubectl(t, "-n", ns, "get", "pods", "-o", "jsonpath={.items[*].spec.nodeName}")); !*builtIn && (len(nodes) != 2 || nodes[0] == nodes[1]) {
		t.Errorf("the Pods are on %q, want one on each node", nodes)
	}
	targets := []string{"http://web/hostname", "http://web." + ns + ".svc.cluster.local/hostname"}
	for _, a := range addresses {
		targets = append(targets, "http://"+a+":8080/hostname")
	}
	for _, m := range cluster.Machines {
		targets = append(targets, "http://"+m.Address+":"+port+"/hostname")
	}
	for _, pod := range pods {
		for _, target := range targets {
			client.Eventually(t, func() error { // kube-proxy lags behind
				out, err := cluster.Run("-n", ns, "exec", pod, "--", "curl", "-sS", "--max-time", "5", target)
				if err == nil && !strings.HasPrefix(out, "web-") {
					err = fmt.Errorf("%s from %s: %q", target, pod, out)
				}
				return err
			})
		}
		// Reach the API server with the Pod's service account.
		out := kubectl(t, "-n", ns, "exec", pod, "--", "sh", "-c", `cd /var/run/secrets/kubernetes.io/serviceaccount
			curl -sS --cacert ca.crt -H "Authorization: Bearer $(cat token)" https://kubernetes.default/apis/authentication.k8s.io/v1/selfsubjectreviews -H 'Content-Type: application/json' -d '{"apiVersion":"authentication.k8s.io/v1","kind":"SelfSubjectReview"}'`)
		if !strings.Contains(out, "system:serviceaccount:"+ns+":default") {
			t.Errorf("the API server sees %s as %s", pod, out)
		}
	}
}
