package daemon

import (
	"context"
	"encoding/json"
	"fmt"
	"io"
	"maps"
	"math/rand/v2"
	"net/http"
	"path/filepath"
	"slices"
	"strings"
	"sync"
	"testing"

	"github.com/troupe-api/troupe/internal/must"
)

// allocationCluster is a daemon with small Service ranges and an administrator's client.
type allocationCluster struct {
	*Daemon
	t     *testing.T
	admin *http.Client
}

func openAllocationCluster(t *testing.T, dir, naming string) *allocationCluster {
	t.Helper()
	c := Default()
	c.DataDir, c.Naming, c.Serving.SecurePort, c.Journal.Sync = dir, naming, 0, "none"
	c.Services = Services{ClusterIPRange: "10.0.0.0/28,fd00::/124", NodePortRange: "30000-30011"}
	c.Serving.AdvertiseAddress = "192.0.2.7"
	d := must.Get(New(c, nil))(t)
	must.Succeed(t, d.Start())
	t.Cleanup(func() { _ = d.Stop(context.Background()) })
	return &allocationCluster{d, t, client(t, dir, "admin")}
}

func (m *allocationCluster) do(method, path, body string) (int, []byte) {
	r, err := http.NewRequest(method, m.URL()+path, strings.NewReader(body))
	if err != nil {
		m.t.Error(err)
		return 0, nil
	}
	r.Header.Set("Content-Type", "application/json")
	if method == "PATCH" {
		r.Header.Set("Content-Type", "application/merge-patch+json")
	}
	answer, err := m.admin.Do(r)
	if err != nil {
		m.t.Error(err)
		return 0, nil
	}
	defer answer.Body.Close()
	text, err := io.ReadAll(answer.Body)
	if err != nil {
		m.t.Error(err)
	}
	return answer.StatusCode, text
}

type item struct {
	Metadata struct{ Namespace, Name string }
	Spec     struct {
		ClusterIPs          []string
		HealthCheckNodePort int
		Ports               []struct{ NodePort int }
	}
}

// storedAllocations returns the names of stored Services, keyed by address and port.
func (m *allocationCluster) storedAllocations() map[string][]string {
	code, text := m.do("GET", "/api/v1/services", "")
	var list struct{ Items []item }
	if err := json.Unmarshal(text, &list); err != nil || code != 200 {
		m.t.Fatal(code, err)
	}
	has := map[string][]string{}
	for _, i := range list.Items {
		mine := map[string]bool{}
		for _, ip := range i.Spec.ClusterIPs {
			mine[ip] = ip != "None"
		}
		for _, p := range i.Spec.Ports {
			mine[fmt.Sprint(p.NodePort)] = p.NodePort != 0
		}
		mine[fmt.Sprint(i.Spec.HealthCheckNodePort)] = i.Spec.HealthCheckNodePort != 0
		for label, is := range mine {
			if is {
				has[label] = append(has[label], i.Metadata.Namespace+"/"+i.Metadata.Name)
			}
		}
	}
	return has
}

// addAddresses adds to has every IPAddress without a Service. It checks that all others match their
// Service, and that every Service address has an IPAddress.
func (m *allocationCluster) addAddresses(when string, has map[string][]string) {
	m.t.Helper()
	code, text := m.do("GET", m.addressesPath(), "")
	var list struct {
		Items []struct {
			Metadata struct{ Name string }
			Spec     struct {
				ParentRef struct{ Resource, Namespace, Name string }
			}
		}
	}
	if err := json.Unmarshal(text, &list); err != nil || code != 200 {
		m.t.Fatal(code, err)
	}
	known := map[string]bool{}
	for _, a := range list.Items {
		name, parent := a.Metadata.Name, a.Spec.ParentRef
		known[name] = true
		switch owner := parent.Namespace + "/" + parent.Name; {
		case has[name] == nil:
			has[name] = []string{"/" + name}
		case parent.Resource != "services" || !slices.Equal(has[name], []string{owner}):
			m.t.Errorf("%s: %s is of %s %s and stored with %v", when, name, parent.Resource, owner, has[name])
		}
	}
	for label, names := range has {
		if strings.ContainsAny(label, ".:") && !known[label] {
			m.t.Errorf("%s: %s is stored with %v and has no IPAddress", when, label, names)
		}
	}
}

func (m *allocationCluster) addressesPath() string {
	return "/apis/" + m.naming.Group("networking") + "/v1/ipaddresses"
}

func (m *allocationCluster) checkAllocations(when string) {
	m.t.Helper()
	has, held := m.storedAllocations(), m.storage.services.Allocated()
	m.addAddresses(when, has)
	for label, owners := range held {
		var names []string
		for _, o := range owners {
			names = append(names, o.Namespace+"/"+o.Name)
		}
		if len(names) != 1 || !slices.Equal(names, has[label]) {
			m.t.Errorf("%s: %s is taken by %v and stored with %v", when, label, names, has[label])
		}
	}
	for label, names := range has {
		if held[label] == nil {
			m.t.Errorf("%s: %s is stored with %v and not taken", when, label, names)
		}
	}
}

const defaultServicesPath = "/api/v1/namespaces/default/services"

// mutateRandomly makes a random change. It is safe for concurrent use.
func (m *allocationCluster) mutateRandomly(random *rand.Rand) {
	name := fmt.Sprintf("s%d", random.IntN(12))
	dry := []string{"", "", "", "?dryRun=All"}[random.IntN(4)]
	specs := []string{
		`"type":"ClusterIP"`,
		`"type":"ClusterIP","ipFamilyPolicy":"PreferDualStack"`,
		`"type":"ClusterIP","ipFamilyPolicy":"SingleStack"`,
		`"type":"ExternalName","externalName":"a.b"`,
		`"type":"NodePort"`,
		`"type":"LoadBalancer","externalTrafficPolicy":"Local"`,
		`"type":"LoadBalancer","externalTrafficPolicy":"Cluster"`,
		fmt.Sprintf(`"type":"NodePort","ports":[{"name":"a","port":1,"nodePort":%d}]`, 30000+random.IntN(13)),
		fmt.Sprintf(`"type":"ClusterIP","clusterIP":"10.0.0.%d"`, random.IntN(17)),
		`"clusterIP":"None"`,
		`"type":"NodePort","sessionAffinity":"Wrong"`,
		`"externalIPs":["127.0.0.1"],"type":"NodePort","ports":[{"name":"a","port":1},{"name":"b","port":2}]`,
	}
	spec := specs[random.IntN(len(specs))]
	ports := `"ports":[{"name":"a","port":1},{"name":"b","port":1,"protocol":"UDP"}],`
	code, text := 0, []byte(nil)
	address := fmt.Sprintf("10.0.0.%d", 2+random.IntN(13))
	switch random.IntN(9) {
	case 6:
		code, text = m.do("POST", m.addressesPath()+dry, `{"metadata":{"name":"`+address+`"},"spec":{"parentRef":{"resource":"things","name":"x"}}}`)
	case 7:
		code, text = m.do("DELETE", m.addressesPath()+"/"+address+dry, "")
	case 8:
		finalizers := []string{`["example.com/x"]`, "null", "null"}[random.IntN(3)]
		code, text = m.do("PATCH", m.addressesPath()+"/"+address+dry, `{"metadata":{"finalizers":`+finalizers+`}}`)
	case 0, 1:
		code, text = m.do("POST", defaultServicesPath+dry, `{"metadata":{"name":"`+name+`"},"spec":{`+ports+spec+`}}`)
	case 2, 3:
		code, text = m.do("PATCH", defaultServicesPath+"/"+name+dry, `{"spec":{`+spec+`}}`)
	case 4:
		code, text = m.do("PUT", defaultServicesPath+"/"+name+dry, `{"metadata":{"name":"`+name+`"},"spec":{`+ports+spec+`}}`)
	case 5:
		code, text = m.do("DELETE", defaultServicesPath+"/"+name+dry, ``)
	}
	if !slices.Contains([]int{200, 201, 403, 404, 409, 422}, code) {
		m.t.Errorf("%d: %s", code, text)
	}
}

// TestServicesShareAddressesAndPorts checks that exactly the stored addresses and ports are
// allocated after concurrent changes and after a restart.
func TestServicesShareAddressesAndPorts(t *testing.T) {
	dir := filepath.Join(t.TempDir(), "data")
	for round := range 3 {
		m := openAllocationCluster(t, dir, "platform")
		m.checkAllocations(fmt.Sprint("start ", round))
		var trading sync.WaitGroup
		for i := range 6 {
			random := rand.New(rand.NewPCG(uint64(round), uint64(i)))
			trading.Go(func() {
				for range 50 {
					m.mutateRandomly(random)
				}
			})
		}
		trading.Wait()
		m.checkAllocations(fmt.Sprint("end ", round))
		must.Succeed(t, m.Stop(context.Background()))
	}
	m := openAllocationCluster(t, dir, "platform")
	for i := range 12 {
		m.do("DELETE", fmt.Sprintf("%s/s%d", defaultServicesPath, i), "")
	}
	for i := range 16 {
		path := fmt.Sprintf("%s/10.0.0.%d", m.addressesPath(), i)
		m.do("PATCH", path, `{"metadata":{"finalizers":null}}`)
		m.do("DELETE", path, "")
	}
	if got := slices.Collect(maps.Keys(m.storage.services.Allocated())); !slices.Equal(got, []string{"10.0.0.1"}) {
		t.Errorf("without Services these are taken: %v", got)
	}
}

func TestAdvertisedAddress(t *testing.T) {
	for _, c := range []struct{ bind, given, want string }{
		{"127.0.0.1", "", "invalid IP"}, {"::1", "", "invalid IP"}, {"192.0.2.1", "", "192.0.2.1"}, {"127.0.0.1", "192.0.2.2", "192.0.2.2"}, {"0.0.0.0", "fd00::1", "fd00::1"},
	} {
		config := Default()
		config.Serving.BindAddress, config.Serving.AdvertiseAddress = c.bind, c.given
		if got := config.advertised().String(); got != c.want {
			t.Errorf("bound to %s, configured %q: %s, want %s", c.bind, c.given, got, c.want)
		}
	}
}
