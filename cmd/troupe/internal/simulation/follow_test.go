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
	"github.com/troupe-api/troupe/kinds/meta"
	"github.com/troupe-api/troupe/policy/kubeconfig"
)

// TestNoInitialEvents checks the fallback to lists for servers without initial events, such as a
// kube-apiserver with etcd 3.4.
func TestNoInitialEvents(t *testing.T) {
	t.Parallel()
	d := serve(t)
	config, err := kubeconfig.Load(d.Kubeconfig())
	if err != nil {
		t.Fatal(err)
	}
	target, err := url.Parse(d.URL())
	if err != nil {
		t.Fatal(err)
	}
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
	address, err := url.Parse(front.URL)
	if err != nil {
		t.Fatal(err)
	}
	user := clientOf(t, d, "")
	nodes := rest.New(&kubeconfig.Config{Server: address, Credential: &kubeconfig.Credential{}}, rest.Options{Agent: "test", Warnings: io.Discard})
	c, err := simulation.New(simulation.Options{Client: nodes, Naming: meta.Kubernetes, Nodes: 1, Log: slog.New(slog.DiscardHandler)})
	if err != nil {
		t.Fatal(err)
	}
	create := func(name string) {
		body := `{"metadata":{"name":"` + name + `"},"spec":{"nodeName":"node-0","containers":[{"name":"c","image":"i"}]}}`
		if _, err := user.Do(t.Context(), rest.Request{Method: http.MethodPost, Path: pods, Body: []byte(body)}); err != nil {
			t.Fatal(err)
		}
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
		if _, err := user.Do(t.Context(), rest.Request{Method: http.MethodDelete, Path: pods + "/" + name}); err != nil {
			t.Fatal(err)
		}
	}
	awaitNoPods(t, user)
}

// awaitPhases waits until the phases of the Pods are want, in the order of the list.
func awaitPhases(t *testing.T, c *rest.Client, want string) {
	t.Helper()
	var got string
	if !poll(func() bool {
		answer, err := c.Do(t.Context(), rest.Request{Method: http.MethodGet, Path: pods})
		if err != nil {
			t.Fatal(err)
		}
		var list struct {
			Items []struct {
				Status struct {
					Phase string `json:"phase"`
				} `json:"status"`
			} `json:"items"`
		}
		if err := json.Unmarshal(answer.Body, &list); err != nil {
			t.Fatal(err)
		}
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
