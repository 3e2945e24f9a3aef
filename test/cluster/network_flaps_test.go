package cluster

import (
	"fmt"
	"net/netip"
	"os"
	"strings"
	"sync"
	"sync/atomic"
	"testing"

	"github.com/troupe-api/troupe/cmd/troupe/daemon"
	"github.com/troupe-api/troupe/test/client"
)

// serviceIPs maps cluster IPs to Service names. It fails the test if two Services share an address.
func (c *networkCluster) serviceIPs() map[string]string {
	c.T.Helper()
	var list struct {
		Items []struct {
			Metadata struct{ Namespace, Name string }
			Spec     struct{ ClusterIP string }
		}
	}
	if err := c.get(core+"services", &list); err != nil {
		c.T.Fatal(err)
	}
	all := map[string]string{}
	for _, s := range list.Items {
		if other := all[s.Spec.ClusterIP]; other != "" {
			c.T.Errorf("%s is the address of %s and of %s", s.Spec.ClusterIP, other, s.Metadata.Name)
		}
		all[s.Spec.ClusterIP] = "services/" + s.Metadata.Namespace + "/" + s.Metadata.Name
	}
	return all
}

// checkAddresses checks that Services and IPAddresses match, and that each address is in a
// ServiceCIDR.
func (c *networkCluster) checkAddresses() {
	c.T.Helper()
	var list struct{ Items []serviceCIDR }
	if err := c.get(netv1+"servicecidrs", &list); err != nil {
		c.T.Fatal(err)
	}
	services, addresses := c.serviceIPs(), c.mustAddresses()
	for ip, name := range services {
		if addresses[ip] != name {
			c.T.Errorf("%s of %s has the IPAddress of %q", ip, name, addresses[ip])
		}
		inside := false
		for _, s := range list.Items {
			for _, text := range s.Spec.CIDRs {
				inside = inside || netip.MustParsePrefix(text).Contains(netip.MustParseAddr(ip))
			}
		}
		if !inside {
			c.T.Errorf("%s of %s is in no ServiceCIDR of %v", ip, name, list.Items)
		}
	}
	for ip, name := range addresses {
		if services[ip] != name {
			c.T.Errorf("IPAddress %s refers to %s, which does not have it", ip, name)
		}
	}
}

// TestFlappingServiceCIDRs checks address allocation while ServiceCIDRs and Services are created
// and deleted concurrently. Addresses must not leak or be allocated twice, and a ServiceCIDR must
// not be deleted while an address in it is used.
func TestFlappingServiceCIDRs(t *testing.T) {
	t.Parallel()
	rounds := 25
	if os.Getenv("TROUPE_SOAK") != "" {
		rounds = 1000
	}
	dir := t.TempDir()
	small := func(d *daemon.Config) { d.Services.ClusterIPRange = "10.0.0.0/29" }
	c := openIn(t, dir, small)
	ns := c.namespace("flaps")
	var made atomic.Int64
	do := func(method, path, body string, codes ...int) int {
		answer, err := c.Do(c.Ctx, method, path, client.JSON, []byte(body))
		if err != nil {
			t.Error(err)
			return 0
		}
		for _, code := range codes {
			if answer.Code == code {
				return code
			}
		}
		t.Errorf("%s %s: %v", method, path, answer)
		return 0
	}
	ranges := func(t *testing.T, i int) {
		name := fmt.Sprintf("range-%d", i)
		for k := range rounds {
			do("POST", netv1+"servicecidrs", fmt.Sprintf(`{"metadata":{"name":%q},"spec":{"cidrs":["10.1.%d.0/28"]}}`, name, i%2), 201, 409)
			// Half of the ServiceCIDRs are deleted before they are ready, and the others during an
			// address allocation.
			if k%2 == 1 {
				do("DELETE", netv1+"servicecidrs/"+name, "", 200, 404)
				continue
			}
			client.Eventually(t, func() error {
				got, err := c.cidr(name)
				if err == nil && !strings.Contains(got, "Ready=") {
					return fmt.Errorf("no condition Ready: %s", got)
				}
				return nil // the previous range may be deleted with a delay
			})
			owner := fmt.Sprintf("owner-%d-%d", i, k)
			do("POST", ns+"services", service(owner, fmt.Sprintf(`"clusterIP":"10.1.%d.%d",`, i%2, 1+k%14)), 201, 422)
			do("DELETE", netv1+"servicecidrs/"+name, "", 200, 404)
			if k < rounds-3 {
				do("DELETE", ns+"services/"+owner, "", 200, 404)
			}
		}
	}
	services := func(i int) {
		for k := range rounds {
			if do("POST", ns+"services", service(fmt.Sprintf("s-%d-%d", i, k%4), ""), 201, 409, 422) == 201 {
				made.Add(1)
			}
			if k%3 > 0 {
				do("DELETE", fmt.Sprintf("%sservices/s-%d-%d", ns, i, (k+1)%4), "", 200, 404)
			}
		}
	}
	t.Run("flap", func(t *testing.T) { // returns when all parallel subtests have ended
		for i := range 3 {
			t.Run(fmt.Sprint("range ", i), func(t *testing.T) { t.Parallel(); ranges(t, i) })
		}
		for i := range 4 {
			t.Run(fmt.Sprint("services ", i), func(t *testing.T) { t.Parallel(); services(i) })
		}
	})
	if made.Load() == 0 {
		t.Error("no Service was made")
	}
	c.checkAddresses()
	c.Stop(t)
	c = openIn(t, dir, small)
	c.checkAddresses()
	for i := range 3 {
		do("DELETE", fmt.Sprintf("%sservicecidrs/range-%d", netv1, i), "", 200, 404)
	}
	c.Send(200, "DELETE", ns+"services", client.JSON, "")
	for i := range 3 {
		c.soon(func() error { return c.gone(fmt.Sprintf("%sservicecidrs/range-%d", netv1, i)) })
	}
	for i := range 5 { // the remaining addresses of the default range
		c.create(ns+"services", service(fmt.Sprintf("last-%d", i), ""))
	}
	c.Send(422, "POST", ns+"services", client.JSON, service("full", ""))
	c.checkAddresses()
}

// TestManyAddresses allocates every address of a range, with a restart halfway, and then releases
// them. The range has 254 addresses, or 65,534 with TROUPE_SOAK.
func TestManyAddresses(t *testing.T) {
	t.Parallel()
	cidr, total := "10.4.0.0/24", 254
	if os.Getenv("TROUPE_SOAK") != "" {
		cidr, total = "10.4.0.0/16", 65534
	}
	wide := func(d *daemon.Config) { d.Services.ClusterIPRange = cidr }
	dir := t.TempDir()
	c := openIn(t, dir, wide)
	ns := c.namespace("many")
	fill := func(from, to int) {
		t.Helper()
		var next atomic.Int64
		var workers sync.WaitGroup
		next.Store(int64(from))
		for range 16 {
			workers.Go(func() {
				for i := next.Add(1) - 1; i < int64(to); i = next.Add(1) - 1 {
					answer, err := c.Do(c.Ctx, "POST", ns+"services", client.JSON, []byte(service(fmt.Sprintf("s-%d", i), "")))
					if err != nil || answer.Code != 201 {
						t.Errorf("Service %d: %v %v", i, answer, err)
						return
					}
				}
			})
		}
		workers.Wait()
	}
	fill(1, total/2) // the API has one address
	c.Stop(t)
	c = openIn(t, dir, wide)
	fill(total/2, total)
	full := c.Send(422, "POST", ns+"services", client.JSON, service("full", ""))
	if !strings.Contains(full.String(), "range is full") {
		t.Error(full)
	}
	if got := len(c.serviceIPs()); got != total {
		t.Errorf("%d Services have addresses, of %d", got, total)
	}
	c.checkAddresses()
	c.Send(200, "DELETE", ns+"services", client.JSON, "")
	c.soon(func() error { return want(len(c.mustAddresses()), 1) })
	c.create(ns+"services", service("again", `"clusterIP":"`+strings.TrimSuffix(cidr[:strings.IndexByte(cidr, '/')], "0")+`77",`))
}
