package scenario

import (
	"context"
	"fmt"
	"net/http"
	"slices"
	"strings"
	"sync"
	"time"

	"google.golang.org/protobuf/encoding/protowire"

	"github.com/troupe-api/troupe/bench/internal/measure"
	"github.com/troupe-api/troupe/bench/internal/server"
)

// What the simulated cluster is made of.
const (
	clusterNodes     = 1_000
	clusterPods      = 30_000 // that are there while others come and go
	clusterChurn     = 100    // Pods that come and as many that go, a second; a larger cluster has no more
	clusterHeartbeat = 10     // seconds between two renewals of a node, and between two of its status
	clusterInformers = 20     // half of them follow the Pods, and a quarter each the nodes and their Leases
	leastClusterRate = 100    // operations a second of a small run, or it would mostly wait
)

// A clusterRun is the cluster that one run simulates: nodes that say that they live, and Pods that come, run and go. All
// clients speak Protobuf, as the parts of a cluster do; the status of Pods and nodes is patched, in JSON.
type clusterRun struct {
	*fixture
	leaseGroup string
	leases     string // collection
	all        []lease
	verbs      *verbSamples
	rate       int           // operations a second,
	churn      int           // of which so many are of Pods, and the others of nodes
	interval   time.Duration // between the beginnings of two operations
	begin      time.Time
}

// simulateCluster: every operation is a renewal of a node's Lease, a new status of a node, or the way of a Pod until it runs, with the
// end of an older one, mixed and at the rates of a cluster. The first row has the cost of all of it, and how many
// processors that keeps busy; a row for each verb has its latencies, and as figure the 99th percentile, to be held against the
// service levels of Kubernetes.
func simulateCluster(ctx context.Context, s *Session) ([]Result, error) {
	group, err := s.group("coordination")
	if err != nil {
		return nil, err
	}
	typed, target := *s, *s.Target
	target.Accept = s.protobuf()
	typed.Target = &target
	f, err := typed.prepare(ctx, 0)
	if err != nil {
		return nil, err
	}
	defer f.remove()
	r := &clusterRun{
		fixture: f, leaseGroup: group, leases: fmt.Sprintf("/apis/%s/v1/namespaces/%s/leases", group, f.namespace),
		all: make([]lease, s.scaledSize("cluster: nodes", clusterNodes)), verbs: &verbSamples{},
	}
	f.total = max(4*s.Concurrency, s.scaledSize("cluster: Pods", clusterPods)) // a Pod is old when its end comes
	f.otherCollections = append(f.otherCollections, f.pods(), r.leases)
	defer r.removeNodes()
	if err := r.populate(ctx); err != nil {
		return nil, err
	}
	informers, err := r.follow(ctx)
	defer func() {
		for _, i := range informers {
			i.close()
		}
	}()
	if err != nil {
		return nil, err
	}
	r.churn = min(clusterChurn, s.scaledSize("cluster: Pods a second", clusterChurn))
	r.rate = 2*max(1, len(r.all)/clusterHeartbeat) + r.churn
	r.interval, r.verbs, r.begin = time.Second/time.Duration(max(leastClusterRate, r.rate)), &verbSamples{}, time.Now()
	load := typed.load()
	sample, err := load.Drive(ctx, typed.Target, r.step)
	if err != nil {
		return nil, err
	}
	sample.Latencies = r.verbs.latencies() // an operation waits for its time
	busy := &measure.Figure{Value: sample.CPU.Seconds() / sample.Elapsed.Seconds(), Unit: "processors busy"}
	return append([]Result{{Name: "cluster", Sample: sample, Figure: busy}}, r.verbs.results("cluster", sample.Elapsed)...), nil
}

// populate makes the nodes with their Leases, and the Pods that are there from the start.
func (r *clusterRun) populate(ctx context.Context) error {
	nodes := func(c *server.Conn, n int) (int, error) {
		if err := r.send(c, "create", http.MethodPost, "/api/v1/nodes", envelope("v1", "Node", r.nodeMessage(n))); err != nil {
			return 0, err
		}
		return 0, r.renew(c, n, http.MethodPost)
	}
	if err := r.fill(ctx, len(r.all), nodes); err != nil {
		return err
	}
	return r.fill(ctx, r.total, func(c *server.Conn, n int) (int, error) { return 0, r.startPod(c, n) })
}

// follow opens the informers.
func (r *clusterRun) follow(ctx context.Context) (informers []*watcherPool, err error) {
	for _, of := range []struct {
		collection string
		share      int
	}{{r.pods(), 2}, {"/api/v1/nodes", 4}, {r.leases, 4}} {
		path, err := r.watchFrom(of.collection)
		if err != nil {
			return informers, err
		}
		pool, err := openWatcherPool(ctx, r.session.Target, path, clusterInformers/of.share, countOnly)
		if err != nil {
			return informers, err
		}
		informers = append(informers, pool)
	}
	return informers, nil
}

// step is the n-th operation, which begins when its time has come. Now and then somebody looks at a Pod, at all Pods of
// the namespace and at all nodes.
func (r *clusterRun) step(c *server.Conn, n int) (int, error) {
	time.Sleep(time.Until(r.begin.Add(time.Duration(n) * r.interval)))
	turn := n * r.churn / r.rate // of a Pod
	beat := n - turn             // of a node
	var err error
	switch node := beat / 2 % len(r.all); {
	case (n+1)*r.churn/r.rate > turn:
		if err = r.startPod(c, r.total+turn); err == nil {
			err = r.send(c, "delete", http.MethodDelete, r.podPath(turn)+"?gracePeriodSeconds=0", nil)
		}
	case beat%2 == 0:
		err = r.renew(c, node, http.MethodPut)
	default:
		err = r.send(c, "patch", http.MethodPatch, "/api/v1/nodes/"+r.node(node)+"/status", nodeStatus())
	}
	for _, look := range []struct {
		every      int
		verb, path string
	}{{10, "get", r.podPath(r.total + turn - 2*r.session.Concurrency)}, {100, "list, a namespace", r.pods()}, {300, "list, all", "/api/v1/pods"}} {
		if err == nil && n%look.every == 0 && turn > 3*r.session.Concurrency {
			err = r.send(c, look.verb, http.MethodGet, look.path, nil)
		}
	}
	return 0, err
}

// startPod is the way of a Pod until it runs.
func (r *clusterRun) startPod(c *server.Conn, n int) error {
	binding := appendMessage(appendMessage(nil, 1, appendText(nil, 1, name(n))), 2, appendText(appendText(nil, 1, "Node"), 3, r.node(n%len(r.all))))
	for _, write := range []struct {
		verb, method, path string
		body               []byte
	}{
		{"create", http.MethodPost, r.pods(), envelope("v1", "Pod", podMessage(n))},
		{"create", http.MethodPost, r.podPath(n) + "/binding", envelope("v1", "Binding", binding)},
		{"patch", http.MethodPatch, r.podPath(n) + "/status", podStatus("Running", "True")},
	} {
		if err := r.send(c, write.verb, write.method, write.path, write.body); err != nil {
			return err
		}
	}
	return nil
}

// renew writes the Lease of the n-th node with the version that it saw last.
func (r *clusterRun) renew(c *server.Conn, n int, method string) error {
	l := &r.all[n]
	l.mu.Lock()
	defer l.mu.Unlock()
	path, verb := r.leases, "create"
	if method == http.MethodPut {
		path, verb = path+"/"+r.node(n), "update"
	}
	if err := r.send(c, verb, method, path, leaseInProtobuf(r.leaseGroup, r.node(n), l.version)); err != nil {
		return err
	}
	l.version = versionInProtobuf(c.Response.Body())
	return nil
}

// send makes one request and notes how long it took.
func (r *clusterRun) send(c *server.Conn, verb, method, path string, body []byte) error {
	contentType := r.session.Target.Accept
	if method == http.MethodPatch {
		contentType = server.TypeMergePatch
	}
	began := time.Now()
	status, answer, err := c.Do(method, path, contentType, body)
	took := time.Since(began)
	if err == nil && status >= http.StatusMultipleChoices {
		err = fmt.Errorf("%s %s: status %d: %q", method, path, status, server.Excerpt(answer))
	}
	r.verbs.add(verb, took, err)
	return err
}

// node is the name of the n-th node. Nodes are in no namespace, so their names have that of the run.
func (r *clusterRun) node(n int) string { return r.namespace + "-" + nodeName(n) }

// removeNodes deletes what is not in the namespace.
func (r *clusterRun) removeNodes() {
	c := r.session.Target.Conn()
	defer c.Close()
	for n := range r.all {
		if _, _, err := c.Do(http.MethodDelete, "/api/v1/nodes/"+r.node(n), "", nil); err != nil {
			r.session.Note("clean-up of nodes: %v", err)
			return
		}
	}
}

// nodeMessage is the n-th node.
func (r *clusterRun) nodeMessage(n int) []byte {
	return appendMessage(nil, 1, appendText(nil, 1, r.node(n)))
}

// nodeStatus is what a node says of itself now.
func nodeStatus() []byte {
	now := time.Now().UTC().Format(time.RFC3339)
	return fmt.Appendf(nil, `{"status":{"capacity":{"cpu":"4","memory":"16Gi","pods":"110"},"conditions":[{"type":"Ready","status":"True","reason":"KubeletReady","lastHeartbeatTime":%q}],`+
		`"addresses":[{"type":"InternalIP","address":"10.0.0.9"}],"nodeInfo":{"kubeletVersion":"v1.35.0","machineID":%q}}}`, now, fmt.Sprint(time.Since(epoch)))
}

// podMessage is the n-th Pod, with as much in it as the one in JSON.
func podMessage(n int) []byte {
	metadata := appendText(nil, 1, name(n))
	metadata = appendMessage(metadata, 11, appendText(appendText(nil, 1, "app"), 2, "web"))
	var spec []byte
	for _, container := range []string{"one", "two"} {
		one := appendText(appendText(nil, 1, container), 2, "example.com/web:1")
		one = appendText(appendText(one, 4, "--config"), 4, "/etc/web/server.conf")
		one = appendMessage(one, 7, appendText(appendText(nil, 1, "MODE"), 2, "fast"))
		spec = appendMessage(spec, 2, one)
	}
	spec = protowire.AppendVarint(protowire.AppendTag(spec, 4, protowire.VarintType), 0) // it ends at once when it is deleted
	return appendMessage(appendMessage(nil, 1, metadata), 2, spec)
}

// verbSamples are the latencies of requests by verb.
type verbSamples struct {
	mu     sync.Mutex
	byVerb map[string]*measure.Sample
}

func (v *verbSamples) add(verb string, took time.Duration, err error) {
	v.mu.Lock()
	defer v.mu.Unlock()
	if v.byVerb == nil {
		v.byVerb = map[string]*measure.Sample{}
	}
	sample := v.byVerb[verb]
	if sample == nil {
		sample = &measure.Sample{}
		v.byVerb[verb] = sample
	}
	if err != nil {
		sample.Fail(err)
		return
	}
	sample.Operations++
	sample.Latencies = append(sample.Latencies, took)
}

// latencies are those of all requests, ascending.
func (v *verbSamples) latencies() (all []time.Duration) {
	v.mu.Lock()
	defer v.mu.Unlock()
	for _, sample := range v.byVerb {
		all = append(all, sample.Latencies...)
	}
	slices.Sort(all)
	return all
}

// results are a row for each verb, in the order of their names.
func (v *verbSamples) results(workload string, elapsed time.Duration) (rows []Result) {
	v.mu.Lock()
	defer v.mu.Unlock()
	for verb, sample := range v.byVerb {
		slices.Sort(sample.Latencies)
		sample.Elapsed = elapsed
		rows = append(rows, Result{Name: workload + ", " + verb, Sample: sample, Figure: &measure.Figure{Value: measure.Milliseconds(sample.Percentile(99)), Unit: "ms p99"}})
	}
	slices.SortFunc(rows, func(a, b Result) int { return strings.Compare(a.Name, b.Name) })
	return rows
}
