package policy_test

import (
	"context"
	"slices"
	"strings"
	"testing"

	"github.com/troupe-api/troupe/kinds/meta"
	"github.com/troupe-api/troupe/kinds/tree"
	"github.com/troupe-api/troupe/policy"
	"github.com/troupe-api/troupe/policy/services"
)

// serviceCluster implements policy.Objects with Services and the follower of slices.
type serviceCluster struct {
	t        *testing.T
	services map[string]string // spec by name
	follower func(policy.Change)
	follows  int
}

func (c *serviceCluster) Get(_ meta.GroupResource, _, name string) *policy.Object {
	spec, ok := c.services[name]
	if !ok {
		return nil
	}
	return &policy.Object{Tree: tree.Tree{"spec": parseTree(c.t, spec)}}
}

func (c *serviceCluster) Inform(_ context.Context, _ meta.GroupResource, onChange func(policy.Change)) error {
	c.follower = onChange
	c.follows++
	return nil
}

// slice delivers an EndpointSlice of a Service; text "" deletes it.
func (c *serviceCluster) slice(name, service, text string) {
	o := &policy.Object{Key: meta.Key{Namespace: "n", Name: name}}
	if text == "" {
		c.follower(policy.Change{Object: o, Deleted: true})
		return
	}
	o.Tree, o.Meta.Labels = parseTree(c.t, text), meta.NewLabels(map[string]string{"platform.io/service-name": service})
	c.follower(policy.Change{Object: o})
}

func TestResolve(t *testing.T) {
	c := &serviceCluster{t: t, services: map[string]string{
		"s":        `{"clusterIP":"10.0.0.1","ports":[{"name":"w","port":443},{"name":"x","port":80}]}`,
		"headless": `{"clusterIP":"None","ports":[{"port":443}]}`,
		"external": `{"type":"ExternalName","externalName":"hook.example.com"}`,
	}}
	r := services.NewResolver(t.Context(), c, meta.Platform, map[string]string{"given.n": "192.0.2.1:1"})
	want := func(name string, port int64, want string) {
		t.Helper()
		got, err := r.Resolve("n", name, port)
		slices.Sort(got)
		text := strings.Join(got, " ")
		if err != nil {
			text = err.Error()
		}
		if text != want {
			t.Errorf("%s:%d is %q, want %q", name, port, text, want)
		}
	}
	want("given", 443, "192.0.2.1:1")
	want("absent", 443, `service "absent" not found`)
	want("external", 443, "hook.example.com:443")
	want("s", 444, `no service port 444 found for service "s"`)
	if c.follows != 0 {
		t.Error("slices are followed before anybody needs them")
	}
	want("s", 443, "10.0.0.1:443")
	want("headless", 443, `no endpoints available for service "headless"`)
	const endpoints = `"endpoints":[{"addresses":["10.1.0.1"]},{"addresses":["10.1.0.2"],"conditions":{"ready":true}},{"addresses":["10.1.0.3"],"conditions":{"ready":false}}]`
	c.slice("a", "s", `{"ports":[{"name":"w","port":8443},{"name":"x","port":8080}],`+endpoints+`}`)
	want("s", 443, "10.1.0.1:8443 10.1.0.2:8443")
	want("s", 80, "10.1.0.1:8080 10.1.0.2:8080")
	c.slice("b", "s", `{"ports":[{"name":"w","port":9443}],"endpoints":[{"addresses":["10.1.0.9"]}]}`)
	want("s", 443, "10.1.0.1:8443 10.1.0.2:8443 10.1.0.9:9443")
	c.slice("a", "s", "")
	want("s", 443, "10.1.0.9:9443")
	c.slice("b", "headless", `{"ports":[{"port":1}],"endpoints":[{"addresses":["fd00::1"]}]}`)
	want("s", 443, "10.0.0.1:443")
	want("headless", 443, "[fd00::1]:1")
	c.slice("b", "headless", `{"ports":[{"port":1}],"endpoints":[{"addresses":["10.1.0.9"],"conditions":{"ready":false}}]}`)
	want("headless", 443, `no endpoints available for service "headless"`)
	if c.follows != 1 {
		t.Errorf("slices are followed %d times", c.follows)
	}
}
