package extension

import (
	"testing"

	"github.com/troupe-api/troupe/cmd/troupe/daemon"
	"github.com/troupe-api/troupe/test/client"
)

// TestNegativeZero checks that numbers such as -0.0 and underflows are stored in decoded form, so
// that a restart does not change objects.
func TestNegativeZero(t *testing.T) {
	t.Parallel()
	dir := t.TempDir()
	serve := func() *client.Server {
		return client.Serve(t, dir, func(c *daemon.Config) { c.Naming = "kubernetes" })
	}
	server := serve()
	s := client.Session{Server: server, Ctx: t.Context(), T: t}
	s.Send(201, "POST", "/apis/apiextensions.k8s.io/v1/customresourcedefinitions", client.JSON, `{"apiVersion":"apiextensions.k8s.io/v1","kind":"CustomResourceDefinition",
		"metadata":{"name":"zeros.example.com"},"spec":{"group":"example.com","scope":"Cluster","names":{"plural":"zeros","kind":"Zero"},"versions":[{"name":"v1","served":true,"storage":true,
		"schema":{"openAPIV3Schema":{"type":"object","x-kubernetes-preserve-unknown-fields":true,"properties":{"n":{"type":"number"}}}}}]}}`)
	const zeros = "/apis/example.com/v1/zeros"
	before := map[string]string{}
	for name, body := range map[string]struct{ contentType, numbers string }{
		"json": {client.JSON, `-0.0,"o":{"x":-0},"l":[-0e5,0.0,-1e-400]`},
		"yaml": {"application/yaml", `-0.0,"o":{"x":-0},"l":[-0.0,0.0]`},
	} {
		s.Send(201, "POST", zeros, body.contentType, `{"apiVersion":"example.com/v1","kind":"Zero","metadata":{"name":"`+name+`"},"n":`+body.numbers+`}`)
		before[name] = string(s.Send(200, "GET", zeros+"/"+name, "", "").Body)
	}
	server.Stop(t)
	s.Server = serve()
	for name, was := range before {
		if is := string(s.Send(200, "GET", zeros+"/"+name, "", "").Body); is != was {
			t.Errorf("%s was\n%s\nand after a restart is\n%s", name, was, is)
		}
	}
}
