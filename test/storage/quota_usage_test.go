package storage

import (
	"testing"

	"github.com/troupe-api/troupe/cmd/troupe/daemon"
	"github.com/troupe-api/troupe/test/client"
	"github.com/troupe-api/troupe/test/transcript"
)

// TestQuotas replays transcripts about the usage and limits of each kind.
func TestQuotas(t *testing.T) {
	t.Parallel()
	transcript.RunServer(t, "testdata/quota", func(c *daemon.Config) {
		c.Controllers += ",-serviceaccount-token-secret-controller" // quotas count Secrets
	}, transcript.Options{})
}

// TestCustomKinds checks that a quota created before a CRD counts its custom resources, even after
// the CRD is deleted and recreated.
func TestCustomKinds(t *testing.T) {
	t.Parallel()
	n := open(t)
	n.quota("q", `"hard":{"count/things.example.com":"2"}`)
	const definition = `{"metadata":{"name":"things.example.com"},"spec":{"group":"example.com","scope":"Namespaced","names":{"plural":"things","kind":"Thing"},
		"versions":[{"name":"v1","served":true,"storage":true,"schema":{"openAPIV3Schema":{"type":"object","x-platform-preserve-unknown-fields":true}}}]}}`
	const definitions = "/apis/apiextensions.platform.io/v1/customresourcedefinitions"
	for range 2 {
		n.Send(201, "POST", definitions, client.JSON, definition)
		client.Eventually(t, func() error {
			a, err := n.Get(n.Ctx, n.path("example.com/v1/things"))
			if err == nil && a.Code != 200 {
				return &a
			}
			return err
		})
		thing := func(name string) string {
			return `{"apiVersion":"example.com/v1","kind":"Thing","metadata":{"name":"` + name + `"}}`
		}
		created := each(creators, func(i int) bool {
			return n.try("example.com/v1/things", thing(string(rune('a'+i%26))+"-"+string(rune('a'+i/26)))) == ""
		})
		if created != 2 {
			t.Errorf("%d are created, want 2", created)
		}
		n.used("q", "count/things.example.com=2")
		n.Send(200, "DELETE", definitions+"/things.example.com", client.JSON, "")
		n.used("q", "count/things.example.com=0")
		client.Eventually(t, func() error {
			a, err := n.Get(n.Ctx, definitions+"/things.example.com")
			if err == nil && a.Code != 404 {
				return &a
			}
			return err
		})
	}
}

// TestSwitchedOff checks that quotas are reported but not enforced if the plugin is disabled.
func TestSwitchedOff(t *testing.T) {
	t.Parallel()
	n := openAs(t, func(c *daemon.Config) { c.Admission.Disable = []string{"ResourceQuota"} })
	n.quota("q", `"hard":{"configmaps":"1"}`)
	for _, name := range []string{"a", "b"} {
		if why := n.try("configmaps", configMap(name)); why != "" {
			t.Error(why)
		}
	}
	n.used("q", "configmaps=2")
}
