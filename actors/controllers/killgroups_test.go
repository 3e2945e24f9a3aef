package controllers

import (
	"context"
	"crypto/ed25519"
	"crypto/rand"
	"crypto/x509"
	"crypto/x509/pkix"
	"encoding/json"
	"encoding/pem"
	"fmt"
	"slices"
	"strings"
	"sync"
	"time"

	"github.com/troupe-api/troupe/actors/allocation"
	"github.com/troupe-api/troupe/actors/controllers/addresses"
	"github.com/troupe-api/troupe/actors/controllers/certificates"
	"github.com/troupe-api/troupe/actors/controllers/disruption"
	"github.com/troupe-api/troupe/actors/controllers/endpoints"
	"github.com/troupe-api/troupe/actors/controllers/flowcontrol"
	"github.com/troupe-api/troupe/actors/controllers/nodes"
	volumecontrollers "github.com/troupe-api/troupe/actors/controllers/volumes"
	"github.com/troupe-api/troupe/actors/controllers/workloads"
	"github.com/troupe-api/troupe/kinds/codec"
	"github.com/troupe-api/troupe/kinds/meta"
	"github.com/troupe-api/troupe/kinds/request"
	"github.com/troupe-api/troupe/kinds/schema"
	"github.com/troupe-api/troupe/kinds/tree"
	"github.com/troupe-api/troupe/policy/authz"
)

// kindOf returns the kind of a name such as "v1/Pod" or "apps/v1/Deployment".
func (w *testStore) kindOf(name string) *schema.Kind {
	parts := strings.Split(name, "/")
	gvk := meta.GroupVersionKind{Version: parts[len(parts)-2], Kind: parts[len(parts)-1]}
	if len(parts) == 3 {
		gvk.Group = parts[0]
	}
	return w.kinds.ByGVK(gvk)
}

// make creates an object from JSON, in namespace default if its kind is namespaced, and writes its
// status.
func (w *testStore) make(kind, text string) {
	w.t.Helper()
	k := w.kindOf(kind)
	object, _, err := codec.DecodeJSON(k.Message(), []byte(text))
	if err != nil {
		w.t.Fatal(err)
	}
	key := meta.Key{GroupResource: k.Storage, Name: object.Object("metadata").String("name")}
	if k.Namespaced {
		key.Namespace = "default"
	}
	if _, err := w.Mutate(context.Background(), request.Mutation{Kind: k, Key: key, Change: request.Create{Object: object}}); err != nil {
		w.t.Fatalf("%s: %v", text, err)
	}
	if !object.Has("status") {
		return
	}
	body, err := json.Marshal(tree.Tree{"status": object["status"]})
	if err != nil {
		w.t.Fatal(err)
	}
	m := request.Mutation{Kind: k, Key: key, Subresource: "status", Change: request.Patch{Type: request.MergePatch, Body: body}}
	if _, err := w.Mutate(context.Background(), m); err != nil {
		w.t.Fatalf("%s: %v", text, err)
	}
}

// each creates n objects from a template that contains their number.
func (w *testStore) each(n int, kind, text string) {
	w.t.Helper()
	for i := range n {
		w.make(kind, strings.ReplaceAll(text, "$", fmt.Sprint(i)))
	}
}

// all returns the objects of a kind in all namespaces.
func (w *testStore) all(kind string) (all []tree.Tree) {
	w.t.Helper()
	k := w.kindOf(kind)
	list, err := w.List(context.Background(), request.List{Kind: k})
	if err != nil {
		w.t.Fatal(err)
	}
	for _, o := range list.Items {
		t, err := codec.DecodeStored(k.Message(), o.JSON)
		if err != nil {
			w.t.Fatal(err)
		}
		all = append(all, t)
	}
	return all
}

// count returns the number of matching objects. More than most is an error: something was done
// twice.
func (w *testStore) count(kind string, most int, fits func(t tree.Tree) bool) int {
	w.t.Helper()
	n := 0
	for _, t := range w.all(kind) {
		if fits(t) {
			n++
		}
	}
	if n > most {
		w.t.Errorf("%d of %s, and not %d", n, kind, most)
	}
	return n
}

// holds returns a predicate for objects whose JSON contains all texts.
func holds(texts ...string) func(t tree.Tree) bool {
	return func(t tree.Tree) bool {
		text, err := json.Marshal(t)
		return err == nil && !slices.ContainsFunc(texts, func(s string) bool { return !strings.Contains(string(text), s) })
	}
}

// conditionTrue returns a predicate for objects with a true condition.
func conditionTrue(kind string) func(t tree.Tree) bool {
	return func(t tree.Tree) bool {
		return slices.ContainsFunc(t.Object("status").Objects("conditions"), func(c tree.Tree) bool {
			return c.String("type") == kind && c.String("status") == "True"
		})
	}
}

func anything(tree.Tree) bool { return true }

// nodeRequest returns a node's request for a client certificate.
func nodeRequest(w *testStore) string {
	w.t.Helper()
	_, key, err := ed25519.GenerateKey(rand.Reader)
	if err != nil {
		w.t.Fatal(err)
	}
	der, err := x509.CreateCertificateRequest(rand.Reader, &x509.CertificateRequest{
		Subject: pkix.Name{CommonName: "system:node:n", Organization: []string{"system:nodes"}},
	}, key)
	if err != nil {
		w.t.Fatal(err)
	}
	request := base64Text(pem.EncodeToMemory(&pem.Block{Type: "CERTIFICATE REQUEST", Bytes: der}))
	return `{"metadata":{"name":"r$"},"spec":{"signerName":"platform.io/apiserver-client-node","username":"system:node:n","groups":["system:nodes"],
		"usages":["client auth","digital signature"],"request":"` + request + `"}}`
}

// leads is a leader without rivals.
type leads struct{}

func (leads) Holder(context.Context) (string, <-chan struct{}) { return "", nil }

// together runs several controllers as one.
type together []interface{ Run(context.Context) }

func (all together) Run(ctx context.Context) {
	var running sync.WaitGroup
	defer running.Wait()
	for _, c := range all {
		running.Go(func() { c.Run(ctx) })
	}
}

// Fragments of manifests.
const (
	runningPod  = `{"metadata":{"name":"pod$","labels":{"app":"a"}},"spec":{"nodeName":"n0","containers":[{"name":"c","image":"i"}]},"status":{"phase":"Running","podIP":"10.0.0.1$","podIPs":[{"ip":"10.0.0.1$"}],"conditions":[{"type":"Ready","status":"True"}]}}`
	podTemplate = `"selector":{"matchLabels":{"app":"a"}},"template":{"metadata":{"labels":{"app":"a"}},"spec":{"containers":[{"name":"c","image":"i"}]}}`
	goodNode    = `{"metadata":{"name":"n$"},"status":{"conditions":[{"type":"Ready","status":"True"}]}}`
)

// workload returns a constructor for controllers of a group.
func workload(of ...func(*workloads.Group) workloads.Controller) func(w *testStore, store *mortalStore) interface{ Run(context.Context) } {
	return func(w *testStore, store *mortalStore) interface{ Run(context.Context) } {
		g := workloads.NewGroup(NewEnv(store, w.kinds, discardLogger), leads{})
		var all together
		for _, f := range of {
			all = append(all, f(g))
		}
		return all
	}
}

// backed creates Services without addresses, the Pods behind all of them and their node, because
// slices omit Pods of missing nodes.
func backed(w *testStore) {
	w.each(1, "v1/Node", goodNode)
	w.each(4, "v1/Service", `{"metadata":{"name":"s$"},"spec":{"type":"ClusterIP","clusterIP":"None","clusterIPs":["None"],"ipFamilies":["IPv4"],
		"ipFamilyPolicy":"SingleStack","sessionAffinity":"None","selector":{"app":"a"},"ports":[{"port":80,"protocol":"TCP","targetPort":80}]}}`)
	w.each(3, "v1/Pod", runningPod)
}

var killedGroups = []killedController{
	{"endpoints", backed, func(w *testStore, store *mortalStore) interface{ Run(context.Context) } {
		return endpoints.NewEndpoints(endpoints.NewBackends(NewEnv(store, w.kinds, discardLogger)))
	}, func(w *testStore) bool {
		return w.count("v1/Endpoints", 4, holds("10.0.0.10", "10.0.0.11", "10.0.0.12")) == 4
	}},
	{"endpointslice", backed, func(w *testStore, store *mortalStore) interface{ Run(context.Context) } {
		return endpoints.NewSlices(endpoints.NewBackends(NewEnv(store, w.kinds, discardLogger)))
	}, func(w *testStore) bool {
		return w.count("discovery.platform.io/v1/EndpointSlice", 4, anything) == 4 &&
			w.count("discovery.platform.io/v1/EndpointSlice", 4, holds("10.0.0.10", "10.0.0.11", "10.0.0.12")) == 4
	}},
	{"endpointslicemirroring", func(w *testStore) {
		w.each(4, "v1/Service", `{"metadata":{"name":"s$"},"spec":{"clusterIP":"None","ports":[{"port":80}]}}`)
		w.each(4, "v1/Endpoints", `{"metadata":{"name":"s$"},"subsets":[{"addresses":[{"ip":"10.0.0.1$"}],"ports":[{"port":80}]}]}`)
	}, func(w *testStore, store *mortalStore) interface{ Run(context.Context) } {
		return endpoints.NewMirror(NewEnv(store, w.kinds, discardLogger))
	}, func(w *testStore) bool {
		return w.count("discovery.platform.io/v1/EndpointSlice", 4, anything) == 4
	}},
	{"disruption", func(w *testStore) {
		w.each(1, "apps/v1/ReplicaSet", `{"metadata":{"name":"rs"},"spec":{"replicas":3,`+podTemplate+`}}`)
		owner := w.all("apps/v1/ReplicaSet")[0].Object("metadata").String("uid")
		w.each(3, "v1/Pod", strings.Replace(runningPod, `"labels"`, `"ownerReferences":[{"apiVersion":"apps/v1","kind":"ReplicaSet","name":"rs","uid":"`+owner+`","controller":true}],"labels"`, 1))
		w.each(4, "policy/v1/PodDisruptionBudget", `{"metadata":{"name":"b$"},"spec":{"maxUnavailable":1,"selector":{"matchLabels":{"app":"a"}}}}`)
	}, func(w *testStore, store *mortalStore) interface{ Run(context.Context) } {
		return disruption.NewBudgets(NewEnv(store, w.kinds, discardLogger))
	}, func(w *testStore) bool {
		return w.count("policy/v1/PodDisruptionBudget", 4, holds(`"currentHealthy":3`, `"disruptionsAllowed":1`, `"observedGeneration":1`)) == 4
	}},
	{"podgc", func(w *testStore) {
		w.each(2, "v1/Node", goodNode)
		w.each(5, "v1/Pod", `{"metadata":{"name":"lost$"},"spec":{"nodeName":"gone","containers":[{"name":"c","image":"i"}]}}`)
	}, func(w *testStore, store *mortalStore) interface{ Run(context.Context) } {
		return nodes.NewPodGC(NewEnv(store, w.kinds, discardLogger), nodes.PodGCOptions{Period: time.Millisecond, Quarantine: time.Millisecond})
	}, func(w *testStore) bool { return w.none(paths(5, "pods/default/lost")...) }},
	{"nodelifecycle", func(w *testStore) { w.each(3, "v1/Node", goodNode) }, func(w *testStore, store *mortalStore) interface{ Run(context.Context) } {
		const soon = 5 * time.Millisecond
		return nodes.NewLifecycle(NewEnv(store, w.kinds, discardLogger), nodes.LifecycleOptions{Period: soon, Grace: soon, StartupGrace: soon})
	}, func(w *testStore) bool {
		return w.count("v1/Node", 3, holds(`"status":"Unknown","type":"Ready"`, "node.platform.io/unreachable")) == 3
	}},
	{"taint-eviction", func(w *testStore) {
		w.each(1, "v1/Node", `{"metadata":{"name":"n$"},"spec":{"taints":[{"key":"k","effect":"NoExecute"}]}}`)
		w.each(4, "v1/Pod", runningPod)
	}, func(w *testStore, store *mortalStore) interface{ Run(context.Context) } {
		return nodes.NewTaintEviction(NewEnv(store, w.kinds, discardLogger))
	}, func(w *testStore) bool {
		return w.count("v1/Pod", 4, holds("deletionTimestamp")) == len(w.all("v1/Pod"))
	}},
	{"persistentvolume-binder", func(w *testStore) {
		w.each(4, "v1/PersistentVolume", `{"metadata":{"name":"v$"},"spec":{"capacity":{"storage":"1Gi"},"accessModes":["ReadWriteOnce"],"storageClassName":"x","hostPath":{"path":"/x"}}}`)
		w.each(4, "v1/PersistentVolumeClaim", `{"metadata":{"name":"c$"},"spec":{"accessModes":["ReadWriteOnce"],"storageClassName":"x","resources":{"requests":{"storage":"1Gi"}}}}`)
	}, func(w *testStore, store *mortalStore) interface{ Run(context.Context) } {
		return volumecontrollers.NewBinder(NewEnv(store, w.kinds, discardLogger))
	}, func(w *testStore) bool {
		held := map[string]bool{}
		for _, v := range w.all("v1/PersistentVolume") {
			held[v.Object("spec", "claimRef").String("uid")] = v.Object("status").String("phase") == "Bound"
		}
		return len(held) == 4 && w.count("v1/PersistentVolumeClaim", 4, func(t tree.Tree) bool {
			return t.Object("status").String("phase") == "Bound" && held[t.Object("metadata").String("uid")]
		}) == 4
	}},
	{"ephemeral-volume", func(w *testStore) {
		w.each(4, "v1/Pod", `{"metadata":{"name":"p$"},"spec":{"containers":[{"name":"c","image":"i"}],"volumes":[{"name":"v","ephemeral":{"volumeClaimTemplate":{"spec":{"accessModes":["ReadWriteOnce"],"resources":{"requests":{"storage":"1Gi"}}}}}}]}}`)
	}, func(w *testStore, store *mortalStore) interface{ Run(context.Context) } {
		return volumecontrollers.NewEphemeral(NewEnv(store, w.kinds, discardLogger))
	}, func(w *testStore) bool {
		return w.count("v1/PersistentVolumeClaim", 4, holds(`"controller":true`, `"kind":"Pod"`)) == 4
	}},
	{"ttl-after-finished", func(w *testStore) {
		w.each(4, "batch/v1/Job", `{"metadata":{"name":"j$"},"spec":{"ttlSecondsAfterFinished":0,"template":{"spec":{"restartPolicy":"Never","containers":[{"name":"c","image":"i"}]}}},
			"status":{"succeeded":1,"startTime":"2026-01-01T00:00:00Z","completionTime":"2026-01-01T00:01:00Z","conditions":[
				{"type":"SuccessCriteriaMet","status":"True","lastTransitionTime":"2026-01-01T00:01:00Z"},{"type":"Complete","status":"True","lastTransitionTime":"2026-01-01T00:01:00Z"}]}}`)
	}, func(w *testStore, store *mortalStore) interface{ Run(context.Context) } {
		return NewTTLAfterFinished(NewEnv(store, w.kinds, discardLogger))
	}, func(w *testStore) bool {
		return w.count("batch/v1/Job", 4, holds("deletionTimestamp")) == len(w.all("batch/v1/Job"))
	}},
	{"deployment, replicaset", func(w *testStore) {
		w.each(2, "apps/v1/Deployment", strings.ReplaceAll(`{"metadata":{"name":"d$"},"spec":{"replicas":3,`+podTemplate+`}}`, `"app":"a"`, `"app":"a$"`))
	}, workload((*workloads.Group).Deployments, (*workloads.Group).ReplicaSets), func(w *testStore) bool {
		return w.count("apps/v1/ReplicaSet", 2, anything) == 2 && w.count("v1/Pod", 6, anything) == 6 &&
			w.count("apps/v1/Deployment", 2, holds(`"observedGeneration":1`, `"updatedReplicas":3`)) == 2
	}},
	{"replicationcontroller", func(w *testStore) {
		w.make("v1/ReplicationController", `{"metadata":{"name":"rc"},"spec":{"replicas":5,"selector":{"app":"a"},"template":{"metadata":{"labels":{"app":"a"}},"spec":{"containers":[{"name":"c","image":"i"}]}}}}`)
	}, workload((*workloads.Group).ReplicationControllers), func(w *testStore) bool {
		return w.count("v1/Pod", 5, anything) == 5 && w.count("v1/ReplicationController", 1, holds(`"replicas":5,`)) == 1
	}},
	{"statefulset", func(w *testStore) {
		w.make("apps/v1/StatefulSet", `{"metadata":{"name":"s"},"spec":{"replicas":3,"serviceName":"s","podManagementPolicy":"Parallel",`+podTemplate+`,
			"volumeClaimTemplates":[{"metadata":{"name":"v"},"spec":{"accessModes":["ReadWriteOnce"],"resources":{"requests":{"storage":"1Gi"}}}}]}}`)
	}, workload((*workloads.Group).StatefulSets), func(w *testStore) bool {
		return w.count("v1/Pod", 3, anything) == 3 && w.count("v1/PersistentVolumeClaim", 3, anything) == 3 &&
			w.count("apps/v1/ControllerRevision", 1, anything) == 1 && w.count("apps/v1/StatefulSet", 1, holds(`"observedGeneration":1`, `"updatedReplicas":3`)) == 1
	}},
	{"daemonset", func(w *testStore) {
		w.each(4, "v1/Node", goodNode)
		w.make("apps/v1/DaemonSet", `{"metadata":{"name":"d"},"spec":{`+podTemplate+`}}`)
	}, workload((*workloads.Group).DaemonSets), func(w *testStore) bool {
		return w.count("v1/Pod", 4, anything) == 4 && w.count("apps/v1/ControllerRevision", 1, anything) == 1 &&
			w.count("apps/v1/DaemonSet", 1, holds(`"desiredNumberScheduled":4`)) == 1
	}},
	{"job", func(w *testStore) {
		w.make("batch/v1/Job", `{"metadata":{"name":"j"},"spec":{"parallelism":4,"completions":4,"completionMode":"Indexed","template":{"spec":{"restartPolicy":"Never","containers":[{"name":"c","image":"i"}]}}}}`)
	}, workload((*workloads.Group).Jobs), func(w *testStore) bool {
		return w.count("v1/Pod", 4, anything) == 4 && w.count("batch/v1/Job", 1, holds(`"active":4`)) == 1
	}},
	{"cronjob", func(w *testStore) {
		w.make("batch/v1/CronJob", `{"metadata":{"name":"c"},"spec":{"schedule":"0 0 1 1 *","successfulJobsHistoryLimit":1,"jobTemplate":{"spec":{"template":{"spec":{"restartPolicy":"Never","containers":[{"name":"c","image":"i"}]}}}}}}`)
		owner := w.all("batch/v1/CronJob")[0].Object("metadata").String("uid")
		w.each(4, "batch/v1/Job", `{"metadata":{"name":"j$","ownerReferences":[{"apiVersion":"batch/v1","kind":"CronJob","name":"c","uid":"`+owner+`","controller":true}]},
			"spec":{"template":{"spec":{"restartPolicy":"Never","containers":[{"name":"c","image":"i"}]}}},
			"status":{"succeeded":1,"startTime":"2026-01-1$T00:00:00Z","completionTime":"2026-01-1$T00:01:00Z","conditions":[
				{"type":"SuccessCriteriaMet","status":"True","lastTransitionTime":"2026-01-01T00:01:00Z"},{"type":"Complete","status":"True","lastTransitionTime":"2026-01-01T00:01:00Z"}]}}`)
	}, workload((*workloads.Group).CronJobs), func(w *testStore) bool {
		return w.count("batch/v1/Job", 4, func(t tree.Tree) bool { return !t.Object("metadata").Has("deletionTimestamp") }) == 1
	}},
	{"service-cidr", func(w *testStore) {
		w.each(4, "networking.platform.io/v1/ServiceCIDR", `{"metadata":{"name":"r$"},"spec":{"cidrs":["10.$.0.0/16"]}}`)
	}, func(w *testStore, store *mortalStore) interface{ Run(context.Context) } {
		ranges, err := allocation.ParseRanges("10.96.0.0/16")
		if err != nil {
			w.t.Fatal(err)
		}
		ports, err := allocation.ParsePortRange("30000-30009")
		if err != nil {
			w.t.Fatal(err)
		}
		allocator := allocation.NewServiceAllocator(ranges, ports, meta.Key{}, meta.Platform)
		return addresses.NewServiceCIDRs(NewEnv(store, w.kinds, discardLogger), allocator)
	}, func(w *testStore) bool {
		return w.count("networking.platform.io/v1/ServiceCIDR", 5, func(t tree.Tree) bool {
			return conditionTrue("Ready")(t) && holds("service-cidr-finalizer")(t)
		}) >= 4
	}},
	{"priority-and-fairness", func(*testStore) {}, func(w *testStore, store *mortalStore) interface{ Run(context.Context) } {
		return flowcontrol.NewConfiguration(NewEnv(store, w.kinds, discardLogger))
	}, func(w *testStore) bool {
		return w.count("flowcontrol.apiserver.platform.io/v1/FlowSchema", 11, anything) == 11 && w.count("flowcontrol.apiserver.platform.io/v1/PriorityLevelConfiguration", 8, anything) == 8
	}},
	{"root-ca", func(w *testStore) {
		for _, path := range paths(6, "namespaces/n") {
			w.create(path)
		}
	}, func(w *testStore, store *mortalStore) interface{ Run(context.Context) } {
		return certificates.NewRootCAPublisher(NewEnv(store, w.kinds, discardLogger), func() []byte { return []byte("roots") })
	}, func(w *testStore) bool {
		return w.count("v1/ConfigMap", 10, holds("platform-root-ca.crt", "roots")) == 10
	}},
	{"csrapproving", func(w *testStore) {
		w.each(4, "certificates.platform.io/v1/CertificateSigningRequest", nodeRequest(w))
	}, func(w *testStore, store *mortalStore) interface{ Run(context.Context) } {
		return certificates.NewApprover(NewEnv(store, w.kinds, discardLogger), authz.AlwaysAllow{})
	}, func(w *testStore) bool {
		return w.count("certificates.platform.io/v1/CertificateSigningRequest", 4, conditionTrue("Approved")) == 4
	}},
	{"cluster-info", func(*testStore) {}, func(w *testStore, store *mortalStore) interface{ Run(context.Context) } {
		return NewClusterInfo(NewEnv(store, w.kinds, discardLogger), func() []byte { return []byte("here") })
	}, func(w *testStore) bool {
		return w.dataOf("configmaps/platform-public/cluster-info", "kubeconfig") == "here"
	}},
	{"legacy token tracking", func(w *testStore) {
		w.create("serviceaccounts/default/robot")
		for _, path := range paths(4, "secrets/default/s") {
			w.tokenSecret(path, "robot")
		}
	}, func(w *testStore, store *mortalStore) interface{ Run(context.Context) } {
		t := NewLegacyTokenTracking(NewEnv(store, w.kinds, discardLogger))
		for _, name := range paths(4, "s") { // clients with a token use it again
			t.Used("default", name)
		}
		return t
	}, func(w *testStore) bool {
		return w.count("v1/Secret", 4, holds("legacy-token-last-used")) == 4 && w.dataOf("configmaps/platform-system/"+legacyTokenTracking, "since") != ""
	}},
}
