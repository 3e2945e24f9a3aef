package clients

import "testing"

// usageAPI defines the metrics API as custom resources, with some objects.
const usageAPI = `apiVersion: apiextensions.k8s.io/v1
kind: CustomResourceDefinition
metadata: {name: pods.metrics.k8s.io, annotations: {api-approved.kubernetes.io: "unapproved, for a test"}}
spec:
  group: metrics.k8s.io
  scope: Namespaced
  names: {plural: pods, kind: PodMetrics}
  versions: [{name: v1beta1, served: true, storage: true, schema: {openAPIV3Schema: {type: object, x-kubernetes-preserve-unknown-fields: true}}}]
---
apiVersion: apiextensions.k8s.io/v1
kind: CustomResourceDefinition
metadata: {name: nodes.metrics.k8s.io, annotations: {api-approved.kubernetes.io: "unapproved, for a test"}}
spec:
  group: metrics.k8s.io
  scope: Cluster
  names: {plural: nodes, kind: NodeMetrics}
  versions: [{name: v1beta1, served: true, storage: true, schema: {openAPIV3Schema: {type: object, x-kubernetes-preserve-unknown-fields: true}}}]
---
apiVersion: metrics.k8s.io/v1beta1
kind: PodMetrics
metadata: {name: web, labels: {app: web}}
containers:
- {name: main, usage: {cpu: 250500001n, memory: 20Mi}}
- {name: side, usage: {cpu: 1m, memory: 1536Ki}}
---
apiVersion: metrics.k8s.io/v1beta1
kind: PodMetrics
metadata: {name: db}
containers: [{name: main, usage: {cpu: "2", memory: 1Gi}}]
---
apiVersion: metrics.k8s.io/v1beta1
kind: NodeMetrics
metadata: {name: a}
usage: {cpu: 500m, memory: 1Gi}
---
apiVersion: metrics.k8s.io/v1beta1
kind: NodeMetrics
metadata: {name: gone}
usage: {cpu: "1", memory: 1Mi}
---
apiVersion: v1
kind: Node
metadata: {name: a}
`

func TestTopUsage(t *testing.T) {
	t.Parallel()
	p := newPlace(t, "kubernetes")
	p.expect(1, "error: Metrics API not available\n", "top", "pods")
	p.expect(1, "error: Metrics API not available\n", "top", "nodes")
	p.write("usage.yaml", usageAPI)
	if out, code := p.run("apply", "-f", "usage.yaml"); code != 0 {
		t.Fatal(out)
	}
	if out, code := p.run("patch", "node", "a", "--subresource=status", "--type=merge", "-p", `{"status":{"allocatable":{"cpu":"2","memory":"4Gi"}}}`); code != 0 {
		t.Fatal(out)
	}
	p.expect(0, "NAME   CPU(cores)   MEMORY(bytes)\ndb     2000m        1024Mi\nweb    252m         21Mi\n", "top", "pods")
	p.expect(0, "NAME   CPU(cores)   MEMORY(bytes)\nweb    252m         21Mi\n", "top", "pod", "-l", "app=web")
	p.expect(0, "web   252m   21Mi\n", "top", "pod", "web", "--no-headers")
	p.expect(0, "NAMESPACE   POD   NAME   CPU(cores)   MEMORY(bytes)\ndefault     db    main   2000m        1024Mi\ndefault     web   main   251m         20Mi\ndefault     web   side   1m           1Mi\n",
		"top", "pods", "-A", "--containers", "--sort-by=memory")
	p.expect(0, "NAME   CPU(cores)   MEMORY(bytes)\ndb     2000m        1024Mi\nweb    252m         21Mi\n       ________     ________\n       2252m        1045Mi\n", "top", "pods", "--sum")
	p.expect(0, "NAME   CPU(cores)   CPU(%)      MEMORY(bytes)   MEMORY(%)\na      500m         25%         1024Mi          25%\ngone   1000m        <unknown>   1Mi             <unknown>\n", "top", "nodes")
	p.expect(0, "No resources found in empty namespace.\n", "top", "pods", "-n", "empty")
	p.expect(1, "error: --sort-by accepts only cpu or memory\n", "top", "pods", "--sort-by=name")
	p.expect(1, "Error from server (NotFound): pods.metrics.k8s.io \"absent\" not found\n", "top", "pods", "absent")
}
