package policy

import (
	"strings"
	"testing"

	"github.com/troupe-api/troupe/cmd/troupe/daemon"
	"github.com/troupe-api/troupe/test/client"
)

const (
	deviceClaims    = "/apis/resource.platform.io/v1/namespaces/default/resourceclaims"
	deviceTemplates = "/apis/resource.platform.io/v1/namespaces/default/resourceclaimtemplates"
	defaultSpace    = "/api/v1/namespaces/default"

	deviceSpec  = `"spec":{"devices":{"requests":[{"name":"a","exactly":{"deviceClassName":"c"}},{"name":"r","exactly":{"deviceClassName":"c"}}]}}`
	adminSpec   = `"spec":{"devices":{"requests":[{"name":"a","exactly":{"deviceClassName":"c"}},{"name":"r","exactly":{"deviceClassName":"c","adminAccess":true}}]}}`
	deniedText  = "Forbidden: admin access to devices requires the `resource.platform.io/admin-access: true` label on the containing namespace"
	requestPath = "spec.devices.requests[1].adminAccess"
	resultPath  = "status.allocation.devices.results[0].adminAccess"
)

// results is the status of a claim with one device, with more fields of it.
func results(more string) string {
	return `{"status":{"allocation":{"devices":{"results":[{"request":"r","driver":"d.example.com","pool":"p","device":"e"` + more + `}]}}}}`
}

// Whoever may make claims in some namespace does not get at the devices of others by that.
func TestAdminAccess(t *testing.T) {
	serveUsersInProfiles(t, nil, nil, func(c *userCluster) {
		claim := func(name, spec string) string { return `{"metadata":{"name":"` + name + `"},` + spec + `}` }
		template := func(name, spec string) string { return `{"metadata":{"name":"` + name + `"},"spec":{` + spec + `}}` }

		c.must(deviceClaims, claim("plain", deviceSpec))
		c.must(deviceClaims, claim("no", strings.Replace(adminSpec, "true", "false", 1)))
		c.expect("root", "POST", deviceClaims, claim("admin", adminSpec), 422, deniedText, requestPath)
		c.expect("root", "POST", deviceTemplates, template("admin", adminSpec), 422, deniedText, requestPath)
		c.expect("root", "PATCH", deviceClaims+"/plain/status", results(`,"adminAccess":true`), 422, deniedText, resultPath)
		c.expect("root", "GET", deviceClaims+"/admin", "", 404)

		c.expect("root", "PATCH", defaultSpace, `{"metadata":{"labels":{"resource.platform.io/admin-access":"True"}}}`, 200)
		c.expect("root", "POST", deviceClaims, claim("admin", adminSpec), 422, deniedText)
		c.expect("root", "PATCH", defaultSpace, `{"metadata":{"labels":{"resource.platform.io/admin-access":"true"}}}`, 200)
		c.expect("root", "POST", deviceClaims, claim("admin", adminSpec), 201, `"adminAccess":true`)
		c.expect("root", "POST", deviceTemplates, template("admin", adminSpec), 201, `"adminAccess":true`)
		c.expect("root", "PATCH", deviceClaims+"/plain/status", results(`,"adminAccess":true`), 200)

		// What is there stays, and can be written, when the namespace has lost the label.
		c.expect("root", "PATCH", defaultSpace, `{"metadata":{"labels":null}}`, 200)
		c.expect("root", "PATCH", deviceClaims+"/admin", `{"metadata":{"labels":{"a":"b"}}}`, 200)
		c.expect("root", "PATCH", deviceTemplates+"/admin", `{"metadata":{"labels":{"a":"b"}}}`, 200)
		c.expect("root", "PATCH", deviceClaims+"/plain/status", `{"status":{"reservedFor":[{"resource":"pods","name":"p","uid":"u"}]}}`, 200)
		c.expect("root", "PATCH", deviceClaims+"/no/status", results(`,"adminAccess":true`), 422, deniedText)
		c.expect("root", "PATCH", deviceClaims+"/no/status", results(""), 200)
	})
}

// Without the feature nothing is asked for, so nothing has to be allowed.
func TestAdminAccessOff(t *testing.T) {
	off := func(config *daemon.Config) {
		if err := config.API.FeatureGates.Set("DRAAdminAccess=false"); err != nil {
			t.Fatal(err)
		}
	}
	serveUsersInProfiles(t, off, nil, func(c *userCluster) {
		got := c.must(deviceClaims, `{"metadata":{"name":"a"},`+adminSpec+`}`)
		if text := client.Answer(c.expect("root", "GET", deviceClaims+"/a", "", 200)); strings.Contains(string(text.Body), "adminAccess") {
			t.Errorf("the field is kept: %v", got)
		}
	})
}

// The scheduler gives devices once; what drivers say of them is of the devices that are given.
func TestClaimStatus(t *testing.T) {
	serveUsersInProfiles(t, nil, nil, func(c *userCluster) {
		const status = deviceClaims + "/a/status"
		c.must(deviceClaims, `{"metadata":{"name":"a","finalizers":["example.com/f"]},`+deviceSpec+`}`)
		c.expect("root", "PATCH", status, strings.Replace(results(""), `"r"`, `"z"`, 1), 422, "status.allocation.devices.results[0].request", "must be the name of a request in the claim")
		c.expect("root", "PATCH", status, strings.Replace(results(""), `"p"`, `""`, 1), 422, "status.allocation.devices.results[0].pool", "Required value")
		c.expect("root", "PATCH", status, strings.Replace(results(""), `"e"`, `"E/"`, 1), 422, "status.allocation.devices.results[0].device", "a lowercase RFC 1123 label")
		c.expect("root", "PATCH", status, results(""), 200)
		c.expect("root", "PATCH", status, strings.Replace(results(""), `"e"`, `"f"`, 1), 422, "status.allocation", "field is immutable")

		device := func(name, more string) string {
			return `{"status":{"devices":[{"driver":"d.example.com","pool":"p","device":"` + name + `"` + more + `}]}}`
		}
		c.expect("root", "PATCH", status, device("f", ""), 422, "status.devices[0]", `\"d.example.com/p/f\": must be an allocated device in the claim`)
		c.expect("root", "PATCH", status, device("e", `,"networkData":{"ips":["10.0.0.1"]}`), 422, "status.devices[0].networkData.ips[0]", "must be a valid address in CIDR form")
		c.expect("root", "PATCH", status, device("e", `,"networkData":{"ips":["10.0.0.1/8"]}`), 200, "10.0.0.1/8")

		user := func(names ...string) string {
			all := make([]string, len(names))
			for i, name := range names {
				all[i] = `{"resource":"pods","name":"` + name + `","uid":"` + name + `"}`
			}
			return `{"status":{"reservedFor":[` + strings.Join(all, ",") + `]}}`
		}
		c.expect("root", "PATCH", status, user("p", "q"), 200)
		c.expect("root", "DELETE", deviceClaims+"/a", "", 200)
		c.expect("root", "PATCH", status, user("p", "q", "r"), 422, "status.reservedFor", "new entries may not be added")
		c.expect("root", "PATCH", status, user("p"), 200)
		answer := c.expect("root", "PATCH", status, `{"status":{"allocation":null,"reservedFor":null}}`, 200)
		if strings.Contains(string(answer.Body), "10.0.0.1/8") {
			t.Errorf("what was said of a device stays when the device goes: %s", answer)
		}
	})
}
