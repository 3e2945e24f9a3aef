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

// A probedComponent is a part of the control plane whose health a ComponentStatus tells.
type probedComponent struct {
	name string
	// probe asks it; err is why it could not be asked.
	probe func(ctx context.Context) (message string, healthy bool, err error)
}

// componentProbeTimeout is how long a component may take to answer.
const componentProbeTimeout = 20 * time.Second

// components are those that ComponentStatus knows, by name: a scheduler and a controller manager on this machine, at their
// usual ports, and what stands for the first etcd here, the store. Theirs are certificates that nobody else knows, so none is
// verified, and nothing secret is sent.
func (s *storage) components() []probedComponent {
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

// probe reports whether the store works, and otherwise why not.
func (s *storage) probe(context.Context) (message string, healthy bool, err error) {
	if err = s.store.Healthy(); err == nil {
		err = s.state.healthy()
	}
	if err != nil {
		return "", false, err
	}
	return "ok", true, nil
}

// maxProbeAnswer bounds what is read of a probe's answer.
const maxProbeAnswer = 10 << 10

// httpProbe asks a URL. A refusal's body is not told, as anything may listen there, and that nothing listens is an answer too.
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

// readComponents probes one component, or for "" all at a time.
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
		// Clients know this name of the resource in this one place.
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

// status probes the component.
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
