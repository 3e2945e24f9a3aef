package storage

import (
	"encoding/json"
	"fmt"
	"strings"
	"sync"
	"sync/atomic"
	"testing"

	"github.com/troupe-api/troupe/cmd/troupe/daemon"
	"github.com/troupe-api/troupe/internal/must"
	"github.com/troupe-api/troupe/test/client"
)

// A namespace is a session with its own test namespace.
type namespace struct {
	client.Session
	name string
}

func open(t *testing.T) namespace { return openAs(t, nil) }

// openAs starts a server with a changed configuration and creates a namespace. Token Secrets for
// service accounts are disabled, because quotas count Secrets.
func openAs(t *testing.T, change func(*daemon.Config)) namespace {
	t.Helper()
	n := namespace{client.Open(t, func(c *daemon.Config) {
		c.Controllers += ",-serviceaccount-token-secret-controller"
		if change != nil {
			change(c)
		}
	}), "n"}
	n.Send(201, "POST", "/api/v1/namespaces", client.JSON, `{"metadata":{"name":"n"}}`)
	return n
}

// path returns the path of a resource in the namespace, such as "pods" or "apps/v1/deployments".
func (n namespace) path(resource string) string {
	if group, rest, ok := strings.Cut(resource, "/"); ok {
		return "/apis/" + group + "/" + rest[:strings.LastIndex(rest, "/")] + "/namespaces/" + n.name + rest[strings.LastIndex(rest, "/"):]
	}
	return "/api/v1/namespaces/" + n.name + "/" + resource
}

// quota creates a ResourceQuota. spec is a JSON object without its outer braces.
func (n namespace) quota(name, spec string) {
	n.T.Helper()
	n.Send(201, "POST", n.path("resourcequotas"), client.JSON, `{"metadata":{"name":"`+name+`"},"spec":{`+spec+`}}`)
}

// try creates an object. It returns the quota's reason for a rejection, such as "exceeded quota:
// …", or "" on success. Any goroutine may call it.
func (n namespace) try(resource, object string) string {
	a, err := n.Do(n.Ctx, "POST", n.path(resource), client.JSON, []byte(object))
	return n.refusal(a, err)
}

func (n namespace) refusal(a client.Answer, err error) string {
	switch {
	case err != nil:
		n.T.Errorf("no answer: %v", err)
	case a.Code == 200 || a.Code == 201:
		return ""
	case a.Code == 403:
		message, _ := a.Object()["message"].(string)
		if _, reason, ok := strings.Cut(message, " is forbidden: "); ok {
			return reason
		}
		n.T.Errorf("refused as %s", a)
	default:
		n.T.Errorf("answered %s", a)
	}
	return "?"
}

// used waits until a quota reports a usage such as "cpu=1,pods=2".
func (n namespace) used(name, want string) {
	n.T.Helper()
	client.Eventually(n.T, func() error {
		a, err := n.Get(n.Ctx, n.path("resourcequotas")+"/"+name)
		if err != nil {
			return err
		}
		var quota struct {
			Spec, Status struct{ Hard, Used map[string]string }
		}
		if err := json.Unmarshal(a.Body, &quota); err != nil {
			return err
		}
		for _, part := range strings.Split(want, ",") {
			name, amount, _ := strings.Cut(part, "=")
			if quota.Status.Used[name] != amount {
				return fmt.Errorf("used is %v, want %s", quota.Status.Used, want)
			}
		}
		if len(quota.Status.Used) != len(quota.Spec.Hard) || fmt.Sprint(quota.Status.Hard) != fmt.Sprint(quota.Spec.Hard) {
			return fmt.Errorf("the status is %v for %v", quota.Status, quota.Spec)
		}
		return nil
	})
}

func (n namespace) count(resource string) int {
	n.T.Helper()
	list := must.Get(n.List(n.Ctx, n.path(resource), nil))(n.T)
	return len(list.Items)
}

// each calls do once in each of several concurrent workers. It returns the number of calls that
// returned true.
func each(workers int, do func(i int) bool) int {
	var wait sync.WaitGroup
	var passed atomic.Int64
	for i := range workers {
		wait.Go(func() {
			if do(i) {
				passed.Add(1)
			}
		})
	}
	wait.Wait()
	return int(passed.Load())
}

// meanwhile starts workers that call do with increasing k until end is called. end waits for calls
// in progress and may be called twice.
func meanwhile(workers int, do func(i, k int)) (end func()) {
	var stop atomic.Bool
	done := make(chan struct{})
	go func() {
		defer close(done)
		each(workers, func(i int) bool {
			for k := 0; !stop.Load(); k++ {
				do(i, k)
			}
			return true
		})
	}()
	return func() {
		stop.Store(true)
		<-done
	}
}

func podQuota(name, resources string) string {
	if resources == "" {
		resources = "{}"
	}
	return `{"metadata":{"name":"` + name + `"},"spec":{"containers":[{"name":"c","image":"i","resources":` + resources + `}]}}`
}
