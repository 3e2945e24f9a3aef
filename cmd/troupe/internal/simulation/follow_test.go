package simulation_test

import (
	"context"
	"encoding/json"
	"io"
	"log/slog"
	"net/http"
	"net/http/httptest"
	"net/http/httputil"
	"net/url"
	"strings"
	"sync"
	"testing"

	"github.com/troupe-api/troupe/cmd/troupe/internal/client/rest"
	"github.com/troupe-api/troupe/cmd/troupe/internal/simulation"
	"github.com/troupe-api/troupe/internal/must"
	"github.com/troupe-api/troupe/kinds/meta"
	"github.com/troupe-api/troupe/policy/kubeconfig"
)

// TestNoInitialEvents checks the fallback to lists for servers without initial events, such as
// kube-apiserver with etcd 3.4.
func TestNoInitialEvents(t *testing.T) {
	t.Parallel()
	d := serve(t)
	config := must.Get(kubeconfig.Load(d.Kubeconfig()))(t)
	target := must.Get(url.Parse(d.URL()))(t)
	handOn := httputil.NewSingleHostReverseProxy(target)
	handOn.FlushInterval = -1 // forward each event immediately
	handOn.Transport = config.Transport(func() *http.Transport { return &http.Transport{} })
	handOn.ErrorLog = slog.NewLogLogger(slog.DiscardHandler, slog.LevelError)
	front := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		if r.URL.Query().Has("sendInitialEvents") {
			_, _ = io.WriteString(w, `{"type":"ERROR","object":{"kind":"Status","apiVersion":"v1","status":"Failure","message":"no initial events","code":500}}`+"\n")
			return
		}
		handOn.ServeHTTP(w, r)
	}))
	t.Cleanup(front.Close)
	address := must.Get(url.Parse(front.URL))(t)
	user := clientOf(t, d, "")
	nodes := rest.New(&kubeconfig.Config{Server: address, Credential: &kubeconfig.Credential{}}, rest.Options{Agent: "test", Warnings: io.Discard})
	c := must.Get(simulation.New(simulation.Options{Client: nodes, Naming: meta.Kubernetes, Nodes: 1, Log: slog.New(slog.DiscardHandler)}))(t)
	create := func(name string) {
		body := `{"metadata":{"name":"` + name + `"},"spec":{"nodeName":"node-0","containers":[{"name":"c","image":"i"}]}}`
		must.Get(user.Do(t.Context(), rest.Request{Method: http.MethodPost, Path: pods, Body: []byte(body)}))(t)
	}
	create("before")
	ctx, stop := context.WithCancel(t.Context())
	var running sync.WaitGroup
	running.Go(func() {
		if err := c.Run(ctx); err != nil && ctx.Err() == nil {
			t.Error(err)
		}
	})
	t.Cleanup(func() { stop(); running.Wait(); nodes.Close() })
	awaitPhases(t, user, "Running")
	create("later")
	awaitPhases(t, user, "Running Running")
	for _, name := range []string{"before", "later"} {
		must.Get(user.Do(t.Context(), rest.Request{Method: http.MethodDelete, Path: pods + "/" + name}))(t)
	}
	awaitNoPods(t, user)
}

// awaitPhases blocks until the Pods in a list have the phases in want, in this order.
func awaitPhases(t *testing.T, c *rest.Client, want string) {
	t.Helper()
	var got string
	if !poll(func() bool {
		answer := must.Get(c.Do(t.Context(), rest.Request{Method: http.MethodGet, Path: pods}))(t)
		var list struct {
			Items []struct {
				Status struct {
					Phase string `json:"phase"`
				} `json:"status"`
			} `json:"items"`
		}
		must.Succeed(t, json.Unmarshal(answer.Body, &list))
		phases := make([]string, len(list.Items))
		for i := range list.Items {
			phases[i] = list.Items[i].Status.Phase
		}
		got = strings.Join(phases, " ")
		return got == want
	}) {
		t.Fatalf("the Pods are %s, want %s", got, want)
	}
}
