package cluster

import (
	"fmt"
	"slices"
	"strings"
	"testing"

	"github.com/troupe-api/troupe/test/client"
)

type endpointSlice struct {
	Metadata struct {
		Name                string
		Labels, Annotations map[string]string
		OwnerReferences     []struct{ Kind, Name string }
	}
	AddressType string
	Endpoints   []endpoint
	Ports       []struct {
		Name, Protocol string
		Port           int
	}
}

type endpoint struct {
	Addresses  []string
	Conditions struct{ Ready, Serving, Terminating bool }
	TargetRef  struct{ Name string }
	NodeName   string
	Zone       string
	Hostname   string
	Hints      struct {
		ForZones, ForNodes []struct{ Name string }
	}
}

func (e endpoint) String() string {
	text := fmt.Sprintf("%s@%s/%s", strings.Join(e.Addresses, ","), e.NodeName, e.Zone)
	for name, is := range map[string]bool{"ready": e.Conditions.Ready} {
		if is {
			text += " " + name
		}
	}
	if e.Conditions.Serving {
		text += " serving"
	}
	if e.Conditions.Terminating {
		text += " terminating"
	}
	if e.Hostname != "" {
		text += " " + e.Hostname
	}
	for _, z := range e.Hints.ForZones {
		text += " for zone " + z.Name
	}
	for _, n := range e.Hints.ForNodes {
		text += " for node " + n.Name
	}
	return text
}

func (c *networkCluster) slices(namespace, service string) ([]endpointSlice, error) {
	var list struct{ Items []endpointSlice }
	err := c.get(discovery+"namespaces/"+namespace+"/endpointslices?labelSelector=kubernetes.io/service-name%3D"+service, &list)
	return list.Items, err
}

// wantSlices waits until a Service has exactly the given EndpointSlices, one per line.
func (c *networkCluster) wantSlices(namespace, service string, lines ...string) {
	c.T.Helper()
	c.soon(func() error {
		all, err := c.slices(namespace, service)
		if err != nil {
			return err
		}
		var got []string
		for _, s := range all {
			var endpoints []string
			for _, e := range s.Endpoints {
				endpoints = append(endpoints, e.String())
			}
			slices.Sort(endpoints)
			got = append(got, fmt.Sprintf("%s %v: %s", s.AddressType, s.Ports, strings.Join(endpoints, "; ")))
		}
		slices.Sort(got)
		return want(strings.Join(got, "\n"), strings.Join(lines, "\n"))
	})
}

// wantEndpoints waits until the Endpoints of a Service have the given subsets.
func (c *networkCluster) wantEndpoints(ns, service, expected string) {
	c.T.Helper()
	c.soon(func() error {
		var e struct {
			Subsets []struct {
				Addresses, NotReadyAddresses []struct{ IP string }
				Ports                        []struct {
					Name string
					Port int
				}
			}
		}
		if err := c.get(ns+"endpoints/"+service, &e); err != nil {
			return err
		}
		return want(e.Subsets, expected)
	})
}

const v4 = `{"ip":"10.9.0.%d"}`

// TestEndpoints checks that EndpointSlices and Endpoints reflect the Pods of a Service and their
// conditions.
func TestEndpoints(t *testing.T) {
	t.Parallel()
	c := openNetwork(t, nil)
	c.node("n1", "z1")
	c.node("n2", "z2")

	t.Run("life of a Pod", func(t *testing.T) {
		ns := c.namespace("life")
		c.create(ns+"services", `{"metadata":{"name":"s","labels":{"mine":"1"}},"spec":{"selector":{"app":"a"},"ports":[{"name":"http","port":80,"targetPort":"web"},{"name":"raw","port":81,"targetPort":9000},{"name":"none","port":82,"targetPort":"nobody"}]}}`)
		c.wantSlices("life", "s", "IPv4 []: ")
		c.pod(ns, "p1", `{"app":"a"}`, "n1", `{"ip":"10.9.0.1"}`, "False")
		const ports = "[{http TCP 8080} {raw TCP 9000}]"
		c.wantSlices("life", "s", "IPv4 "+ports+": 10.9.0.1@n1/z1")
		c.wantEndpoints(ns, "s", "[{[] [{10.9.0.1}] [{http 8080} {raw 9000}]}]")
		c.podStatus(ns, "p1", `{"ip":"10.9.0.1"}`, "True")
		c.pod(ns, "p2", `{"app":"a"}`, "n2", `{"ip":"10.9.0.2"}`, "True")
		c.pod(ns, "lost", `{"app":"a"}`, "nowhere", `{"ip":"10.9.0.3"}`, "True")
		c.pod(ns, "other", `{"app":"b"}`, "n2", `{"ip":"10.9.0.4"}`, "True")
		c.wantSlices("life", "s", "IPv4 "+ports+": 10.9.0.1@n1/z1 ready serving; 10.9.0.2@n2/z2 ready serving")
		all, err := c.slices("life", "s")
		if err != nil || len(all) != 1 {
			t.Fatal(all, err)
		}
		m := all[0].Metadata
		if m.Labels["endpointslice.kubernetes.io/managed-by"] != "endpointslice-controller.k8s.io" || m.Labels["mine"] != "1" ||
			m.Annotations["endpoints.kubernetes.io/last-change-trigger-time"] != "2026-01-02T03:04:05Z" || fmt.Sprint(m.OwnerReferences) != "[{Service s}]" || !strings.HasPrefix(m.Name, "s-") {
			t.Errorf("%+v", m)
		}
		c.wantEndpoints(ns, "s", "[{[{10.9.0.1} {10.9.0.2} {10.9.0.3}] [] [{http 8080} {raw 9000}]}]")
		c.Send(200, "DELETE", ns+"pods/p2", client.JSON, "") // its grace period keeps it
		c.wantSlices("life", "s", "IPv4 "+ports+": 10.9.0.1@n1/z1 ready serving; 10.9.0.2@n2/z2 serving terminating")
		c.wantEndpoints(ns, "s", "[{[{10.9.0.1} {10.9.0.3}] [] [{http 8080} {raw 9000}]}]")
		c.patch(ns+"pods/p1/status", `{"status":{"phase":"Succeeded"}}`)
		c.wantSlices("life", "s", "IPv4 "+ports+": 10.9.0.2@n2/z2 serving terminating")
		c.node("nowhere", "z3")
		c.wantSlices("life", "s", "IPv4 "+ports+": 10.9.0.2@n2/z2 serving terminating; 10.9.0.3@nowhere/z3 ready serving")
		c.patch(ns+"pods/other", `{"metadata":{"labels":{"app":"a"}}}`)
		c.patch(ns+"pods/lost", `{"metadata":{"labels":{"app":"b"}}}`)
		c.wantSlices("life", "s", "IPv4 "+ports+": 10.9.0.2@n2/z2 serving terminating; 10.9.0.4@n2/z2 ready serving")
		c.patch(ns+"services/s", `{"spec":{"selector":{"app":"b"}}}`)
		c.wantSlices("life", "s", "IPv4 "+ports+": 10.9.0.3@nowhere/z3 ready serving")
		// The controllers revert updates and deletions by clients.
		c.patch(discovery+"namespaces/life/endpointslices/"+m.Name, `{"endpoints":[]}`)
		c.wantSlices("life", "s", "IPv4 "+ports+": 10.9.0.3@nowhere/z3 ready serving")
		c.Send(200, "DELETE", ns+"endpoints/s", client.JSON, "")
		c.wantEndpoints(ns, "s", "[{[{10.9.0.3}] [] [{http 8080} {raw 9000}]}]")
		c.Send(200, "DELETE", ns+"services/s", client.JSON, "")
		c.wantSlices("life", "s")
		c.soon(func() error { return c.gone(ns + "endpoints/s") })
	})

	t.Run("not ready, headless, two families", func(t *testing.T) {
		ns := c.namespace("dual")
		c.create(ns+"services", `{"metadata":{"name":"s"},"spec":{"clusterIP":"None","publishNotReadyAddresses":true,"ipFamilyPolicy":"RequireDualStack","selector":{"app":"a"}}}`)
		c.create(ns+"pods", `{"metadata":{"name":"p1","labels":{"app":"a"}},"spec":{"nodeName":"n1","hostname":"first","subdomain":"s","containers":[{"name":"c","image":"i"}]}}`)
		c.podStatus(ns, "p1", `{"ip":"10.9.1.1"},{"ip":"fd01::1"}`, "False")
		c.wantSlices("dual", "s", "IPv4 []: 10.9.1.1@n1/z1 ready first", "IPv6 []: fd01::1@n1/z1 ready first")
		c.wantEndpoints(ns, "s", "[{[{10.9.1.1}] [] []}]")
		all, _ := c.slices("dual", "s")
		if _, headless := all[0].Metadata.Labels["service.kubernetes.io/headless"]; !headless {
			t.Error(all[0].Metadata.Labels)
		}
	})

	t.Run("near", func(t *testing.T) {
		ns := c.namespace("near")
		c.create(ns+"services", `{"metadata":{"name":"s"},"spec":{"trafficDistribution":"PreferClose","selector":{"app":"a"},"ports":[{"port":80}]}}`)
		c.pod(ns, "p1", `{"app":"a"}`, "n1", `{"ip":"10.9.2.1"}`, "True")
		c.wantSlices("near", "s", "IPv4 [{ TCP 80}]: 10.9.2.1@n1/z1 ready serving for zone z1")
		c.patch(ns+"services/s", `{"spec":{"trafficDistribution":"PreferSameNode"}}`)
		c.wantSlices("near", "s", "IPv4 [{ TCP 80}]: 10.9.2.1@n1/z1 ready serving for zone z1 for node n1")
		c.patch(ns+"services/s", `{"spec":{"trafficDistribution":null}}`)
		c.wantSlices("near", "s", "IPv4 [{ TCP 80}]: 10.9.2.1@n1/z1 ready serving")
	})

	t.Run("mirrored", func(t *testing.T) {
		ns := c.namespace("mirror")
		c.create(ns+"services", service("s", ""))
		c.create(ns+"endpoints", `{"metadata":{"name":"s","labels":{"l":"1"}},"subsets":[{"addresses":[{"ip":"192.0.2.1"},{"ip":"2001:db8::1"}],"notReadyAddresses":[{"ip":"192.0.2.2"}],"ports":[{"port":80}]}]}`)
		c.wantSlices("mirror", "s", "IPv4 [{ TCP 80}]: 192.0.2.1@/ ready; 192.0.2.2@/", "IPv6 [{ TCP 80}]: 2001:db8::1@/ ready")
		all, _ := c.slices("mirror", "s")
		if m := all[0].Metadata; m.Labels["endpointslice.kubernetes.io/managed-by"] != "endpointslicemirroring-controller.k8s.io" || m.Labels["l"] != "1" {
			t.Errorf("%+v", m)
		}
		c.patch(ns+"endpoints/s", `{"subsets":[{"addresses":[{"ip":"192.0.2.3"}],"ports":[{"port":81}]}]}`)
		c.wantSlices("mirror", "s", "IPv4 [{ TCP 81}]: 192.0.2.3@/ ready")
		c.patch(ns+"endpoints/s", `{"metadata":{"labels":{"endpointslice.kubernetes.io/skip-mirror":"true"}}}`)
		c.wantSlices("mirror", "s")
		c.patch(ns+"endpoints/s", `{"metadata":{"labels":{"endpointslice.kubernetes.io/skip-mirror":null}}}`)
		c.wantSlices("mirror", "s", "IPv4 [{ TCP 81}]: 192.0.2.3@/ ready")
		c.Send(200, "DELETE", ns+"endpoints/s", client.JSON, "")
		c.wantSlices("mirror", "s")
	})
}
