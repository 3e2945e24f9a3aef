package cluster

import (
	"context"
	"errors"
	"fmt"
	"net/url"
	"testing"

	"github.com/troupe-api/troupe/cmd/troupe/daemon"
	"github.com/troupe-api/troupe/test/client"
	"github.com/troupe-api/troupe/test/kubelet"
)

const withWorkloads = client.WithoutRoots + ",workloads"

// A workloadCluster is a daemon with the workload controllers and a simulated kubelet.
type workloadCluster struct {
	client.Session
	kubelet *kubelet.Kubelet
}

func openWorkloads(t *testing.T) *workloadCluster {
	t.Helper()
	return serve(t, t.TempDir())
}

// serve starts a daemon with all workload controllers except those in without, and a simulated
// kubelet.
func serve(t *testing.T, dir string, without ...string) *workloadCluster {
	t.Helper()
	ctx, cancel := context.WithTimeout(t.Context(), client.Watchdog)
	t.Cleanup(cancel)
	s := client.Serve(t, dir, func(c *daemon.Config) {
		c.Naming, c.Controllers = "kubernetes", withWorkloads
		for _, name := range without {
			c.Controllers += daemon.Controllers(",-" + name)
		}
	})
	c := &workloadCluster{Session: client.Session{Server: s, Ctx: ctx, T: t}}
	c.kubelet = kubelet.Start(ctx, s.Client)
	t.Cleanup(c.kubelet.Stop)
	return c
}

func (c *workloadCluster) create(path, body string) client.Object {
	c.T.Helper()
	return c.Send(201, "POST", path, client.JSON, body).Object()
}

func (c *workloadCluster) patch(path, body string) client.Object {
	c.T.Helper()
	return c.Send(200, "PATCH", path, client.MergePatch, body).Object()
}

func (c *workloadCluster) get(path string) client.Object {
	c.T.Helper()
	return c.Send(200, "GET", path, "", "").Object()
}

func (c *workloadCluster) list(path, labels string) []client.Object {
	c.T.Helper()
	l, err := c.List(c.Ctx, path, url.Values{"labelSelector": {labels}})
	if err != nil {
		c.T.Fatal(err)
	}
	return l.Items
}

// wait waits until the object at path has the given field values, and returns the object. The keys
// of want are field paths. Values are compared as formatted text.
func (c *workloadCluster) wait(path string, want map[string]any) client.Object {
	c.T.Helper()
	var o client.Object
	client.Eventually(c.T, func() error {
		o = c.get(path)
		var faults []error
		for field, value := range want {
			if got := fmt.Sprint(o.At(field)); got != fmt.Sprint(value) {
				faults = append(faults, fmt.Errorf("%s: %s, want %v", field, got, value))
			}
		}
		if len(faults) > 0 {
			return fmt.Errorf("%w in %s", errors.Join(faults...), o)
		}
		return nil
	})
	return o
}

// condition formats a condition as "status reason: message". It returns "" if the object lacks the
// condition.
func condition(o client.Object, kind string) string {
	all, _ := o.At("status.conditions").([]any)
	for _, v := range all {
		if c, _ := v.(map[string]any); c["type"] == kind {
			return fmt.Sprintf("%v %v: %v", c["status"], c["reason"], c["message"])
		}
	}
	return ""
}

// waitCondition waits until a condition of the object at path equals want, in the format of the
// function condition. kind is the condition type.
func (c *workloadCluster) waitCondition(path, kind, want string) client.Object {
	c.T.Helper()
	var o client.Object
	client.Eventually(c.T, func() error {
		o = c.get(path)
		if got := condition(o, kind); got != want {
			return fmt.Errorf("%s: %q, want %q in %s", kind, got, want, o)
		}
		return nil
	})
	return o
}

// events formats the Events about an object as "component reason: message".
func (c *workloadCluster) events(namespace, name string) (lines []string) {
	c.T.Helper()
	for _, e := range c.list("/api/v1/namespaces/"+namespace+"/events", "") {
		if e.At("involvedObject.name") == name {
			lines = append(lines, fmt.Sprintf("%v %v: %v", e.At("source.component"), e["reason"], e["message"]))
		}
	}
	return lines
}
