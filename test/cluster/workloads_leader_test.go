package cluster

import (
	"context"
	"testing"
	"time"

	"github.com/troupe-api/troupe/cmd/troupe/daemon"
	"github.com/troupe-api/troupe/test/client"
)

// TestLeader checks that the controllers pause while kube-controller-manager holds its lease, and
// then resume.
func TestLeader(t *testing.T) {
	t.Parallel()
	const leases = "/apis/coordination.k8s.io/v1/namespaces/kube-system/leases"
	dir := t.TempDir()
	ctx, cancel := context.WithTimeout(t.Context(), client.Watchdog)
	defer cancel()
	before := client.Session{Ctx: ctx, T: t, Server: client.Serve(t, dir, func(c *daemon.Config) { c.Naming = "kubernetes" })}
	for _, name := range []string{"kube-controller-manager", "other"} {
		before.Send(201, "POST", leases, client.JSON, `{"metadata":{"name":"`+name+`"},"spec":{"holderIdentity":"m_1","leaseDurationSeconds":3600}}`)
	}
	set := `{"metadata":{"name":"a"},"spec":{"replicas":2,"selector":{"matchLabels":{"app":"a"}},"template":` + template("a", "one", "") + `}}`
	before.Send(201, "POST", replicaSets, client.JSON, set)
	before.Stop(t)

	c := serve(t, dir)
	for range 50 { // leaves time for Pods to be created
		c.patch("/api/v1/namespaces/default", `{"metadata":{"annotations":{"at":"`+time.Now().String()+`"}}}`)
	}
	if n := len(c.list(pods, "app=a")); n > 0 {
		t.Errorf("%d Pods while kube-controller-manager holds the lease", n)
	}
	c.Send(200, "DELETE", leases+"/kube-controller-manager", "", "")
	c.wait(replicaSets+"/a", map[string]any{"status.replicas": 2})
}
