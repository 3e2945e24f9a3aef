package cluster

import (
	"fmt"
	"strings"
	"sync"
	"testing"

	"github.com/troupe-api/troupe/cmd/troupe/daemon"
	"github.com/troupe-api/troupe/test/client"
)

type ipAddress struct {
	Metadata struct {
		Name, ResourceVersion string
		Labels                map[string]string
	}
	Spec struct {
		ParentRef struct{ Group, Resource, Namespace, Name string }
	}
}

// addresses returns the parent of each IPAddress, keyed by name.
func (c *networkCluster) addresses() (map[string]string, error) {
	var list struct{ Items []ipAddress }
	err := c.get(netv1+"ipaddresses", &list)
	all := map[string]string{}
	for _, a := range list.Items {
		p := a.Spec.ParentRef
		all[a.Metadata.Name] = p.Resource + "/" + p.Namespace + "/" + p.Name
	}
	return all, err
}

func (c *networkCluster) mustAddresses() map[string]string {
	c.T.Helper()
	all, err := c.addresses()
	if err != nil {
		c.T.Fatal(err)
	}
	return all
}

func service(name, spec string) string {
	return fmt.Sprintf(`{"metadata":{"name":%q},"spec":{%s"ports":[{"port":80}]}}`, name, spec)
}

// TestIPAddresses checks that creating or deleting a Service synchronously creates or deletes its
// IPAddress. Each address has one owner, and dry runs allocate none.
func TestIPAddresses(t *testing.T) {
	t.Parallel()
	c := openNetwork(t, nil)
	ns := c.namespace("ips")
	if got := c.mustAddresses()["10.0.0.1"]; got != "services/default/kubernetes" {
		t.Errorf("the address of the API is %q", got)
	}
	t.Run("of a Service", func(t *testing.T) {
		c.create(ns+"services", service("a", `"clusterIP":"10.0.0.20",`))
		var a ipAddress
		if err := c.get(netv1+"ipaddresses/10.0.0.20", &a); err != nil {
			t.Fatal(err)
		}
		labels := fmt.Sprint(a.Metadata.Labels)
		if labels != "map[ipaddress.kubernetes.io/ip-family:IPv4 ipaddress.kubernetes.io/managed-by:ipallocator.k8s.io]" || a.Spec.ParentRef.Name != "a" {
			t.Errorf("%+v", a)
		}
		refused := c.Send(403, "DELETE", netv1+"ipaddresses/10.0.0.20", client.JSON, "").Object()
		if text := fmt.Sprint(refused["message"]); !strings.Contains(text, "used by the Service ips/a") {
			t.Error(text)
		}
		c.Send(200, "DELETE", ns+"services/a", client.JSON, "")
		c.Send(404, "GET", netv1+"ipaddresses/10.0.0.20", "", "")
	})
	t.Run("two families", func(t *testing.T) {
		c.create(ns+"services", service("dual", `"ipFamilyPolicy":"RequireDualStack","clusterIP":"10.0.0.21","clusterIPs":["10.0.0.21","fd00::21"],`))
		if all := c.mustAddresses(); all["10.0.0.21"] == "" || all["fd00::21"] != "services/ips/dual" {
			t.Error(all)
		}
		c.patch(ns+"services/dual", `{"spec":{"ipFamilyPolicy":"SingleStack","ipFamilies":["IPv4"],"clusterIPs":["10.0.0.21"]}}`)
		if all := c.mustAddresses(); all["10.0.0.21"] == "" || all["fd00::21"] != "" {
			t.Error(all)
		}
		c.patch(ns+"services/dual", `{"spec":{"type":"ExternalName","externalName":"example.com","clusterIP":null,"clusterIPs":null,"ipFamilies":null,"ipFamilyPolicy":null,"ports":null}}`)
		if all := c.mustAddresses(); all["10.0.0.21"] != "" {
			t.Error(all)
		}
	})
	t.Run("of users are taken", func(t *testing.T) {
		c.create(netv1+"ipaddresses", `{"metadata":{"name":"10.0.0.30"},"spec":{"parentRef":{"resource":"things","name":"x"}}}`)
		refused := c.Send(422, "POST", ns+"services", client.JSON, service("b", `"clusterIP":"10.0.0.30",`))
		if !strings.Contains(refused.String(), "failed to allocate IP 10.0.0.30: provided IP is already allocated") {
			t.Error(refused)
		}
		c.Send(200, "DELETE", netv1+"ipaddresses/10.0.0.30", client.JSON, "")
		c.create(ns+"services", service("b", `"clusterIP":"10.0.0.30",`))
		c.Send(409, "POST", netv1+"ipaddresses", client.JSON, `{"metadata":{"name":"10.0.0.30"},"spec":{"parentRef":{"resource":"things","name":"x"}}}`)
	})
	t.Run("with finalizers stay taken", func(t *testing.T) {
		c.create(ns+"services", service("c", `"clusterIP":"10.0.0.40",`))
		c.patch(netv1+"ipaddresses/10.0.0.40", `{"metadata":{"finalizers":["example.com/mine"]}}`)
		c.Send(200, "DELETE", ns+"services/c", client.JSON, "")
		c.Send(422, "POST", ns+"services", client.JSON, service("c", `"clusterIP":"10.0.0.40",`))
		c.patch(netv1+"ipaddresses/10.0.0.40", `{"metadata":{"finalizers":null}}`)
		c.create(ns+"services", service("c", `"clusterIP":"10.0.0.40",`))
	})
	t.Run("dry runs take none", func(t *testing.T) {
		c.Send(201, "POST", ns+"services?dryRun=All", client.JSON, service("d", `"clusterIP":"10.0.0.50",`))
		if all := c.mustAddresses(); all["10.0.0.50"] != "" {
			t.Error(all)
		}
		c.create(ns+"services", service("d", `"clusterIP":"10.0.0.50",`))
	})
	t.Run("races have one winner", func(t *testing.T) {
		for i := range 20 {
			address := fmt.Sprintf("10.0.0.%d", 100+i)
			var wait sync.WaitGroup
			codes := make([]int, 6)
			for n := range codes {
				wait.Go(func() {
					path, body := ns+"services", service(fmt.Sprintf("race-%d-%d", i, n), `"clusterIP":"`+address+`",`)
					if n%2 == 1 {
						path, body = netv1+"ipaddresses", `{"metadata":{"name":"`+address+`"},"spec":{"parentRef":{"resource":"things","name":"x"}}}`
					}
					answer, err := c.Do(c.Ctx, "POST", path, client.JSON, []byte(body))
					if err != nil {
						t.Error(err)
					}
					codes[n] = answer.Code
				})
			}
			wait.Wait()
			won := 0
			for _, code := range codes {
				if code == 201 {
					won++
				} else if code != 409 && code != 422 {
					t.Errorf("%s: %v", address, codes)
				}
			}
			if won != 1 {
				t.Errorf("%s: %v", address, codes)
			}
		}
	})
}

type serviceCIDR struct {
	Metadata struct{ Finalizers []string }
	Spec     struct{ CIDRs []string }
	Status   struct {
		Conditions []struct{ Type, Status, Reason, Message string }
	}
}

func (c *networkCluster) cidr(name string) (string, error) {
	var s serviceCIDR
	if err := c.get(netv1+"servicecidrs/"+name, &s); err != nil {
		return "", err
	}
	text := fmt.Sprint(s.Spec.CIDRs, s.Metadata.Finalizers)
	for _, cond := range s.Status.Conditions {
		text += fmt.Sprintf(" %s=%s %s: %s", cond.Type, cond.Status, cond.Reason, cond.Message)
	}
	return text, nil
}

const cidrFinalizer = "networking.k8s.io/service-cidr-finalizer"

// TestServiceCIDRs checks that Services get addresses from additional ServiceCIDRs. A ServiceCIDR
// is deleted only after its addresses are released or another ServiceCIDR contains them.
func TestServiceCIDRs(t *testing.T) {
	t.Parallel()
	c := openNetwork(t, func(d *daemon.Config) { d.Services.ClusterIPRange = "10.0.0.0/29" })
	ns := c.namespace("cidrs")
	c.soon(func() error {
		got, err := c.cidr("kubernetes")
		if err != nil {
			return err
		}
		return want(got, "[10.0.0.0/29] ["+cidrFinalizer+"] Ready=True : Kubernetes default Service CIDR is ready")
	})
	for i := range 5 {
		c.create(ns+"services", service(fmt.Sprintf("s%d", i), ""))
	}
	full := c.Send(422, "POST", ns+"services", client.JSON, service("full", ""))
	if !strings.Contains(full.String(), "failed to allocate a serviceIP: range is full") {
		t.Error(full)
	}
	c.Send(422, "POST", ns+"services", client.JSON, service("far", `"clusterIP":"10.1.0.7",`))
	c.create(netv1+"servicecidrs", `{"metadata":{"name":"more"},"spec":{"cidrs":["10.1.0.0/28"]}}`)
	ready := func(name, cidrs string) {
		t.Helper()
		c.soon(func() error {
			got, err := c.cidr(name)
			if err != nil {
				return err
			}
			return want(got, "["+cidrs+"] ["+cidrFinalizer+"] Ready=True : Kubernetes Service CIDR is ready")
		})
	}
	ready("more", "10.1.0.0/28")
	c.create(ns+"services", service("far", `"clusterIP":"10.1.0.7",`))
	c.create(ns+"services", service("any", ""))
	c.Send(422, "PATCH", netv1+"servicecidrs/more", "application/merge-patch+json", `{"spec":{"cidrs":["10.2.0.0/28"]}}`)

	c.Send(200, "DELETE", netv1+"servicecidrs/more", client.JSON, "")
	c.soon(func() error {
		got, err := c.cidr("more")
		if err != nil {
			return err
		}
		return want(got, "[10.1.0.0/28] ["+cidrFinalizer+"] Ready=False Terminating: There are still IPAddresses referencing the ServiceCIDR, please remove them or create a new ServiceCIDR")
	})
	c.Send(422, "POST", ns+"services", client.JSON, service("late", ""))
	// The ServiceCIDR is deleted once another ServiceCIDR contains its addresses.
	c.create(netv1+"servicecidrs", `{"metadata":{"name":"wide"},"spec":{"cidrs":["10.1.0.0/24"]}}`)
	c.soon(func() error { return c.gone(netv1 + "servicecidrs/more") })
	ready("wide", "10.1.0.0/24")
	// It is also deleted once no Service uses its addresses.
	c.Send(200, "DELETE", netv1+"servicecidrs/wide", client.JSON, "")
	c.Send(200, "DELETE", ns+"services/far", client.JSON, "")
	c.Send(200, "DELETE", ns+"services/any", client.JSON, "")
	c.soon(func() error { return c.gone(netv1 + "servicecidrs/wide") })
	c.Send(200, "DELETE", netv1+"servicecidrs/kubernetes", client.JSON, "")
	c.soon(func() error {
		got, err := c.cidr("kubernetes")
		if err == nil && !strings.Contains(got, "Ready=False Terminating") {
			err = fmt.Errorf("the default range, whose first address is the API's: %s", got)
		}
		return err
	})
}

func (c *networkCluster) gone(path string) error {
	answer, err := c.Get(c.Ctx, path)
	if err == nil && answer.Code != 404 {
		err = fmt.Errorf("%s is still there: %d", path, answer.Code)
	}
	return err
}

// TestOwnObjects checks that the API server's own Service, Endpoints and EndpointSlice exist, and
// are restored after clients change or delete them.
func TestOwnObjects(t *testing.T) {
	t.Parallel()
	c := openNetwork(t, nil)
	const objects = core + "namespaces/default/"
	check := func() {
		t.Helper()
		c.soon(func() error {
			var s struct {
				Spec struct {
					ClusterIP string
					Ports     []struct {
						Name string
						Port int
					}
				}
			}
			if err := c.get(objects+"services/kubernetes", &s); err != nil {
				return err
			}
			var e struct {
				Subsets []struct{ Addresses []struct{ IP string } }
			}
			if err := c.get(objects+"endpoints/kubernetes", &e); err != nil {
				return err
			}
			var x struct {
				AddressType string
				Endpoints   []struct{ Addresses []string }
			}
			if err := c.get(discovery+"namespaces/default/endpointslices/kubernetes", &x); err != nil {
				return err
			}
			return want(fmt.Sprint(s, e, x), "{{10.0.0.1 [{https 443}]}} {[{[{192.0.2.7}]}]} {IPv4 [{[192.0.2.7]}]}")
		})
	}
	check()
	c.patch(objects+"endpoints/kubernetes", `{"subsets":[{"addresses":[{"ip":"192.0.2.66"}],"ports":[{"port":1}]}]}`)
	check()
	c.Send(200, "DELETE", discovery+"namespaces/default/endpointslices/kubernetes", client.JSON, "")
	check()
	c.patch(objects+"services/kubernetes", `{"spec":{"ports":[{"name":"https","port":444}]}}`)
	check()
	c.Send(200, "DELETE", objects+"services/kubernetes", client.JSON, "")
	check()
}
