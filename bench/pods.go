package main

import (
	"context"
	"fmt"
	"net/http"
	"strings"
)

func (f *fixture) pods() string { return f.path("/pods") }

func (f *fixture) pod(n int) string { return f.pods() + "/" + name(n) }

// podJSON returns the n-th Pod. annotation is empty or a comma followed by another annotation. The
// grace period is 0, because no kubelet would complete the deletion.
func (f *fixture) podJSON(n int, annotation string) []byte {
	var containers []string
	for _, name := range []string{"one", "two"} {
		containers = append(containers, fmt.Sprintf(`{"name":%q,"image":"example.com/web:1","args":["--config","/etc/web/server.conf"],"ports":[{"containerPort":80}],`+
			`"env":[{"name":"MODE","value":"fast"},{"name":"LEVEL","value":"3"}],"resources":{"requests":{"cpu":"100m","memory":"64Mi"}},`+
			`"readinessProbe":{"tcpSocket":{"port":80},"periodSeconds":5},"volumeMounts":[{"name":"work","mountPath":"/work"}]}`, name))
	}
	return fmt.Appendf(nil, `{"apiVersion":"v1","kind":"Pod","metadata":{"name":%q,"labels":{"app":"web"},"annotations":{"example.com/bench":"on"%s}},`+
		`"spec":{"terminationGracePeriodSeconds":0,"containers":[%s],"volumes":[{"name":"work","emptyDir":{}}]}}`, name(n), annotation, strings.Join(containers, ","))
}

func (f *fixture) createPod(n int) Request {
	if f.Target.Accept == "" {
		return Request{Method: http.MethodPost, Path: f.pods(), Type: typeJSON, Body: f.podJSON(n, "")}
	}
	spec := wire(4, int64(0)) // see podJSON
	for _, container := range []string{"one", "two"} {
		spec = append(spec, wire(2, wire(1, container, 2, "example.com/web:1", 4, "--config", 4, "/etc/web/server.conf", 7, wire(1, "MODE", 2, "fast")))...)
	}
	return postTyped(f.pods(), f.Target.Accept, "v1", "Pod", wire(1, wire(1, name(n), 11, wire(1, "app", 2, "web")), 2, spec))
}

func (f *fixture) bindPod(n int, node string) Request {
	path := f.pod(n) + "/binding"
	if f.Target.Accept == "" {
		return post(path, `{"apiVersion":"v1","kind":"Binding","metadata":{"name":%q},"target":{"kind":"Node","name":%q}}`, name(n), node)
	}
	return postTyped(path, f.Target.Accept, "v1", "Binding", wire(1, wire(1, name(n)), 2, wire(1, "Node", 3, node)))
}

func (f *fixture) podStatus(n int, phase, ready string) Request {
	return patch(f.pod(n)+"/status", typeMergePatch, fmt.Appendf(nil,
		`{"status":{"phase":%q,"hostIP":"10.0.0.9","podIP":"10.0.1.7","conditions":[{"type":"Ready","status":%q}]}}`, phase, ready))
}

func (f *fixture) deletePod(n int) Request { return remove(f.pod(n) + "?gracePeriodSeconds=0") }

const (
	podWatchers = 10 // of the Pods of pod-life, like controllers and kubelets
	podEvents   = 6  // per Pod: added, bound, three statuses, deleted
)

// podLife measures the six writes of a Pod's lifecycle. Watchers must receive all events.
func podLife(ctx context.Context, f *fixture) ([]Result, error) {
	f.others = append(f.others, f.pods())
	watchers, err := f.openWatchers(ctx, f.pods(), podWatchers)
	if err != nil {
		return nil, err
	}
	sample, err := f.load().drive(ctx, f.Target, func(c *Conn, n int) (int, error) {
		return calls(c, f.createPod(n), f.bindPod(n, "node-1"), f.podStatus(n, "Pending", "False"),
			f.podStatus(n, "Running", "True"), f.podStatus(n, "Succeeded", "False"), f.deletePod(n))
	})
	if err == nil {
		err = watchers.await(ctx, int64(sample.Operations*podEvents*podWatchers))
	}
	seen := watchers.close()
	if err != nil {
		return nil, err
	}
	sample.add(&Sample{Errors: seen.Errors, FirstError: seen.FirstError})
	return []Result{{Sample: sample}}, nil
}
