package cluster

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"testing"

	"github.com/troupe-api/troupe/cmd/troupe/daemon"
	"github.com/troupe-api/troupe/test/client"
)

// A networkCluster is a daemon with the kubernetes naming profile.
type networkCluster struct{ client.Session }

func openNetwork(t *testing.T, change func(*daemon.Config)) *networkCluster {
	t.Helper()
	return openIn(t, t.TempDir(), change)
}

func openIn(t *testing.T, dir string, change func(*daemon.Config)) *networkCluster {
	t.Helper()
	ctx, cancel := context.WithTimeout(t.Context(), client.Watchdog)
	t.Cleanup(cancel)
	server := client.Serve(t, dir, func(c *daemon.Config) {
		c.Naming = "kubernetes"
		c.Services.ClusterIPRange = "10.0.0.0/24,fd00::/112"
		c.Serving.AdvertiseAddress = "192.0.2.7"
		if change != nil {
			change(c)
		}
	})
	return &networkCluster{client.Session{Server: server, Ctx: ctx, T: t}}
}

const (
	core      = "/api/v1/"
	discovery = "/apis/discovery.k8s.io/v1/"
	netv1     = "/apis/networking.k8s.io/v1/"
	policy    = "/apis/policy/v1/"
)

// namespace creates a namespace and returns the path prefix of its core resources.
func (c *networkCluster) namespace(name string) string {
	c.T.Helper()
	c.Send(201, "POST", core+"namespaces", client.JSON, fmt.Sprintf(`{"metadata":{"name":%q}}`, name))
	return core + "namespaces/" + name + "/"
}

func (c *networkCluster) create(path, body string) client.Object {
	c.T.Helper()
	return c.Send(201, "POST", path, client.JSON, body).Object()
}

func (c *networkCluster) patch(path, body string) {
	c.T.Helper()
	c.Send(200, "PATCH", path, "application/merge-patch+json", body)
}

// get sends a GET request and decodes the response. It returns an error for any status code other
// than 200.
func (c *networkCluster) get(path string, into any) error {
	answer, err := c.Get(c.Ctx, path)
	if err != nil {
		return err
	}
	if answer.Code != 200 {
		return fmt.Errorf("%s: %v", path, answer)
	}
	return json.Unmarshal(answer.Body, into)
}

func (c *networkCluster) soon(check func() error) {
	c.T.Helper()
	client.Eventually(c.T, check)
}

func want(got, expected any) error {
	if g, e := fmt.Sprint(got), fmt.Sprint(expected); g != e {
		return fmt.Errorf("got  %s\nwant %s", g, e)
	}
	return nil
}

func (c *networkCluster) node(name, zone string) {
	c.T.Helper()
	c.create(core+"nodes", fmt.Sprintf(`{"metadata":{"name":%q,"labels":{"topology.kubernetes.io/zone":%q}}}`, name, zone))
}

func (c *networkCluster) pod(ns, name, labels, node, ips, ready string) {
	c.T.Helper()
	c.create(ns+"pods", fmt.Sprintf(`{"metadata":{"name":%q,"labels":%s},"spec":{"nodeName":%q,"terminationGracePeriodSeconds":30,"containers":[{"name":"c","image":"i","ports":[{"name":"web","containerPort":8080}]}]}}`, name, labels, node))
	c.podStatus(ns, name, ips, ready)
}

func (c *networkCluster) podStatus(ns, name, ips, ready string) {
	c.T.Helper()
	c.patch(ns+"pods/"+name+"/status", fmt.Sprintf(`{"status":{"phase":"Running","podIP":%q,"podIPs":[%s],"conditions":[{"type":"Ready","status":%q,"lastTransitionTime":"2026-01-02T03:04:05Z"}]}}`,
		firstIP(ips), ips, ready))
}

func firstIP(ips string) string {
	var list []struct{ IP string }
	if err := json.Unmarshal([]byte("["+ips+"]"), &list); err != nil || len(list) == 0 {
		panic(errors.Join(err, errors.New("no address")))
	}
	return list[0].IP
}
