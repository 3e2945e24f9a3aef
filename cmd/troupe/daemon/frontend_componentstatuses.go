package daemon

import (
	"context"
	"crypto/tls"
	"fmt"
	"io"
	"net/http"
	"sync"
	"time"

	"github.com/troupe-api/troupe/kinds/meta"
	"github.com/troupe-api/troupe/kinds/tree"
)

// A probedComponent is a control plane component that has a ComponentStatus.
type probedComponent struct {
	name string
	// probe checks the component. It returns an error only if the check itself failed.
	probe func(ctx context.Context) (message string, healthy bool, err error)
}

const componentProbeTimeout = 20 * time.Second

// probedComponents returns the components that have a ComponentStatus, sorted by name: the
// scheduler and the controller manager on their default local ports, and the store, which is named
// etcd-0. Self-signed certificates are accepted, because the probes send no secrets.
func (s *storage) probedComponents() []probedComponent {
	client := &http.Client{
		Timeout:   componentProbeTimeout,
		Transport: &http.Transport{TLSClientConfig: &tls.Config{InsecureSkipVerify: true}, DisableKeepAlives: true},
	}
	return []probedComponent{
		{"controller-manager", httpProbe(client, "https://127.0.0.1:10257/healthz")},
		{"etcd-0", s.probe},
		{"scheduler", httpProbe(client, "https://127.0.0.1:10259/healthz")},
	}
}

func (s *storage) probe(context.Context) (message string, healthy bool, err error) {
	if err = s.store.Healthy(); err == nil {
		err = s.state.healthy()
	}
	if err != nil {
		return "", false, err
	}
	return "ok", true, nil
}

const maxProbeAnswer = 10 << 10

// httpProbe returns a probe of a URL. It hides the body of an error response, because an unrelated
// process may be listening on the port. If the connection fails, it returns an unhealthy component
// instead of an error.
func httpProbe(client *http.Client, url string) func(ctx context.Context) (string, bool, error) {
	return func(ctx context.Context) (string, bool, error) {
		r, err := http.NewRequestWithContext(ctx, http.MethodGet, url, nil)
		if err != nil {
			return "", false, err
		}
		answer, err := client.Do(r)
		if err != nil {
			return err.Error(), false, nil
		}
		defer answer.Body.Close()
		if answer.StatusCode >= http.StatusBadRequest {
			return fmt.Sprintf("HTTP probe failed with statuscode: %d", answer.StatusCode), false, nil
		}
		body, err := io.ReadAll(io.LimitReader(answer.Body, maxProbeAnswer))
		return string(body), err == nil, err
	}
}

// readComponents returns a function that probes the named component, or if name is empty, all
// components concurrently.
func readComponents(components []probedComponent) func(ctx context.Context, name string) ([]tree.Tree, error) {
	return func(ctx context.Context, name string) ([]tree.Tree, error) {
		if name == "" {
			return probeAll(ctx, components), nil
		}
		for _, c := range components {
			if c.name == name {
				return []tree.Tree{c.status(ctx)}, nil
			}
		}
		// kube-apiserver uses this singular resource name only here.
		return nil, meta.NewNotFound(meta.GroupResource{Resource: "componentstatus"}, name)
	}
}

func probeAll(ctx context.Context, components []probedComponent) []tree.Tree {
	statuses := make([]tree.Tree, len(components))
	var probes sync.WaitGroup
	for i, c := range components {
		probes.Go(func() { statuses[i] = c.status(ctx) })
	}
	probes.Wait()
	return statuses
}

func (c *probedComponent) status(ctx context.Context) tree.Tree {
	message, healthy, err := c.probe(ctx)
	condition := tree.Tree{"type": "Healthy", "status": "False", "message": message}
	if healthy {
		condition["status"] = "True"
	}
	if err != nil {
		condition["error"] = err.Error()
	}
	return tree.Tree{"metadata": tree.Tree{"name": c.name}, "conditions": []any{condition}}
}
