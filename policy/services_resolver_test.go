package policy_test

import (
	"slices"
	"strings"
	"testing"

	"github.com/troupe-api/troupe/kinds/meta"
	"github.com/troupe-api/troupe/policy/services"
)

// setSlice stores an EndpointSlice of a Service. An empty text deletes it.
func setSlice(t *testing.T, c *fakeCluster, name, service, text string) {
	t.Helper()
	if text != "" {
		text = `{"metadata":{"labels":{"platform.io/service-name":"` + service + `"}},` + text[1:]
	}
	c.set(t, "endpointslices n/"+name, text)
}

func TestResolve(t *testing.T) {
	c := newCluster(t, map[string]object{
		"services n/s":        object(`{"spec":{"clusterIP":"10.0.0.1","ports":[{"name":"w","port":443},{"name":"x","port":80}]}}`),
		"services n/headless": object(`{"spec":{"clusterIP":"None","ports":[{"port":443}]}}`),
		"services n/dual":     object(`{"spec":{"clusterIP":"None","ipFamilies":["IPv6","IPv4"],"ports":[{"port":443}]}}`),
		"services n/external": object(`{"spec":{"type":"ExternalName","externalName":"hook.example.com"}}`),
	})
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
	if len(c.followers) != 0 {
		t.Error("slices are followed before they are needed")
	}
	want("s", 443, "10.0.0.1:443")
	want("headless", 443, `no endpoints available for service "headless"`)
	const endpoints = `"endpoints":[{"addresses":["10.1.0.1"]},{"addresses":["10.1.0.2"],"conditions":{"ready":true}},{"addresses":["10.1.0.3"],"conditions":{"ready":false}}]`
	setSlice(t, c, "a", "s", `{"ports":[{"name":"w","port":8443},{"name":"x","port":8080}],`+endpoints+`}`)
	want("s", 443, "10.1.0.1:8443 10.1.0.2:8443")
	want("s", 80, "10.1.0.1:8080 10.1.0.2:8080")
	setSlice(t, c, "b", "s", `{"ports":[{"name":"w","port":9443}],"endpoints":[{"addresses":["10.1.0.9"]}]}`)
	want("s", 443, "10.1.0.1:8443 10.1.0.2:8443 10.1.0.9:9443")
	setSlice(t, c, "a", "s", "")
	want("s", 443, "10.1.0.9:9443")
	setSlice(t, c, "b", "headless", `{"ports":[{"port":1}],"endpoints":[{"addresses":["fd00::1"]}]}`)
	want("s", 443, "10.0.0.1:443")
	want("headless", 443, "[fd00::1]:1")
	setSlice(t, c, "b", "headless", `{"ports":[{"port":1}],"endpoints":[{"addresses":["10.1.0.9"],"conditions":{"ready":false}}]}`)
	want("headless", 443, `no endpoints available for service "headless"`)
	setSlice(t, c, "v4", "dual", `{"ports":[{"port":1}],"endpoints":[{"addresses":["10.1.0.1"]},{"addresses":["10.1.0.2"]}]}`)
	setSlice(t, c, "v6", "dual", `{"ports":[{"port":1}],"endpoints":[{"addresses":["fd00::1"]}]}`)
	for range 20 {
		if got, err := r.Resolve("n", "dual", 443); err != nil || len(got) != 3 || got[0] != "[fd00::1]:1" {
			t.Errorf("the primary IP family is not the first: %q %v", got, err)
		}
	}
	if len(c.followers["endpointslices"]) != 1 {
		t.Errorf("slices are followed %d times", len(c.followers["endpointslices"]))
	}
}
