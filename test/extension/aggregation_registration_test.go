package extension

import (
	"encoding/json"
	"fmt"
	"os"
	"strings"
	"testing"

	"github.com/troupe-api/troupe/cmd/troupe/daemon"
	"github.com/troupe-api/troupe/test/client"
	"github.com/troupe-api/troupe/test/client/pki"
	"github.com/troupe-api/troupe/test/transcript"
)

// listed formats each APIService of a group as one line with name, priorities, label and condition.
func listed(t *testing.T, s *client.Server, group string) (lines []string) {
	t.Helper()
	var list struct {
		Items []struct {
			Metadata struct {
				Name   string
				Labels map[string]string
			}
			Spec struct {
				GroupPriorityMinimum, VersionPriority int
				Service                               any
			}
			Status struct {
				Conditions []struct{ Type, Status, Reason, Message string }
			}
		}
	}
	a, err := s.Get(t.Context(), "/apis/"+group+"/v1/apiservices")
	if err != nil || a.Code != 200 {
		t.Fatalf("%v %v", a, err)
	}
	client.Decode(t, a.Body, &list)
	for _, i := range list.Items {
		line := fmt.Sprintf("%s %d %d", i.Metadata.Name, i.Spec.GroupPriorityMinimum, i.Spec.VersionPriority)
		for name, value := range i.Metadata.Labels {
			line += " " + name + "=" + value
		}
		for _, c := range i.Status.Conditions {
			line += " " + c.Type + "=" + c.Status + " " + c.Reason + ": " + c.Message
		}
		lines = append(lines, line)
	}
	return lines
}

// TestLocalAPIServices checks that local API groups have APIServices with the priorities and label
// that they have in kube-apiserver.
func TestLocalAPIServices(t *testing.T) {
	t.Parallel()
	s := client.Serve(t, t.TempDir(), func(c *daemon.Config) { c.Naming = "kubernetes" })
	const golden = "testdata/aggregation/local.txt"
	if *transcript.Update {
		client.Eventually(t, func() error {
			if n := len(listed(t, s, "apiregistration.k8s.io")); n < 23 {
				return fmt.Errorf("%d APIServices", n)
			}
			return nil
		})
		client.WriteFile(t, golden, strings.Join(listed(t, s, "apiregistration.k8s.io"), "\n")+"\n")
	}
	text := client.ReadFile(t, golden)
	client.Eventually(t, func() error {
		if got := strings.Join(listed(t, s, "apiregistration.k8s.io"), "\n") + "\n"; got != string(text) {
			return fmt.Errorf("there are\n%s", got)
		}
		return nil
	})
}

const aggregationDefinition = `{"apiVersion":"apiextensions.platform.io/v1","kind":"CustomResourceDefinition","metadata":{"name":"widgets.w.example.com"},"spec":{
	"group":"w.example.com","scope":"Namespaced","names":{"plural":"widgets","singular":"widget","kind":"Widget"},"versions":[
	{"name":"v1","served":true,"storage":true,"schema":{"openAPIV3Schema":{"type":"object"}}},
	{"name":"v1beta1","served":true,"storage":false,"schema":{"openAPIV3Schema":{"type":"object"}}}]}}`

const (
	aggregationDefinitions = "/apis/apiextensions.platform.io/v1/customresourcedefinitions"
	label                  = "platform-aggregator.platform.io/automanaged"
)

// wantAPIService waits until listed returns want for an APIService, ignoring the condition. If want
// is "", it waits for the deletion of the APIService.
func (s aggregationSession) wantAPIService(name, want string) {
	s.T.Helper()
	client.Eventually(s.T, func() error {
		got := ""
		for _, line := range listed(s.T, s.Server, "apiregistration.platform.io") {
			if strings.HasPrefix(line, name+" ") {
				got, _, _ = strings.Cut(line, " Available")
			}
		}
		if got != want {
			return fmt.Errorf("%s is %q, want %q", name, got, want)
		}
		return nil
	})
}

// TestDefinitionsHaveAPIServices checks that each served version of a CRD has an APIService. The
// server recreates it after a deletion, and reverts changes unless the automanaged label is
// missing. An APIService with a Service takes precedence over the CRD.
func TestDefinitionsHaveAPIServices(t *testing.T) {
	t.Parallel()
	b := startBackend(t, nil)
	s := openAggregation(t, b.address(), nil)
	s.Send(201, "POST", aggregationDefinitions, client.JSON, aggregationDefinition)
	s.wantAPIService("v1.w.example.com", "v1.w.example.com 1000 100 "+label+"=true")
	s.wantAPIService("v1beta1.w.example.com", "v1beta1.w.example.com 1000 100 "+label+"=true")
	s.Send(200, "PATCH", apiServices+"/v1.w.example.com", client.MergePatch, `{"spec":{"groupPriorityMinimum":5,"service":{"name":"ext","namespace":"default"}}}`)
	s.wantAPIService("v1.w.example.com", "v1.w.example.com 1000 100 "+label+"=true")
	s.wantCondition("v1.w.example.com", "True", "Local", "Local APIServices are always available")
	const widgets = "/apis/w.example.com/v1/namespaces/default/widgets"
	client.Eventually(t, func() error { // the other server would return another kind
		if a := s.Send(200, "GET", widgets, "", ""); !strings.Contains(string(a.Body), "WidgetList") {
			return fmt.Errorf("%s", a)
		}
		return nil
	})
	s.Send(200, "DELETE", apiServices+"/v1beta1.w.example.com", "", "")
	s.wantAPIService("v1beta1.w.example.com", "v1beta1.w.example.com 1000 100 "+label+"=true")

	s.Send(200, "PATCH", apiServices+"/v1.w.example.com", client.MergePatch, `{"metadata":{"labels":{"`+label+`":null}},"spec":{"service":{"name":"ext","namespace":"default"},"insecureSkipTLSVerify":true}}`)
	s.wantCondition("v1.w.example.com", "True", "Passed", "")
	if a := s.Send(200, "GET", widgets, "", ""); !strings.Contains(string(a.Body), `"kind":"Thing"`) {
		t.Errorf("the definition goes before the server: %s", a)
	}
	s.wantDiscovery("w.example.com", "v1 Current "+things+"; v1beta1 Current widgets(Namespaced Widget widget [])")
	s.Send(200, "DELETE", apiServices+"/v1.w.example.com", "", "")
	s.wantAPIService("v1.w.example.com", "v1.w.example.com 1000 100 "+label+"=true")
	s.wantDiscovery("w.example.com", "v1 Current widgets(Namespaced Widget widget []); v1beta1 Current widgets(Namespaced Widget widget [])")

	s.Send(200, "DELETE", aggregationDefinitions+"/widgets.w.example.com", "", "")
	s.wantAPIService("v1.w.example.com", "")
	s.wantAPIService("v1beta1.w.example.com", "")
}

// wantGroup waits until both the legacy and the aggregated discovery document at /apis contain a
// group, or neither if want is false.
func (s aggregationSession) wantGroup(name string, want bool) {
	s.T.Helper()
	client.Eventually(s.T, func() error {
		for _, accept := range []string{"application/json", "application/json;g=apidiscovery.platform.io;v=v2;as=APIGroupDiscoveryList"} {
			a, err := s.GetAs(s.Ctx, "/apis", accept)
			if err != nil || strings.Contains(string(a.Body), `"name":"`+name+`"`) != want {
				return fmt.Errorf("%v, %s", err, a.Body)
			}
		}
		return nil
	})
}

// TestBuiltInAPIServices checks that APIServices of built-in groups are repaired only at startup,
// and that discovery hides a group without an APIService. The group apiregistration is always
// served locally.
func TestBuiltInAPIServices(t *testing.T) {
	t.Parallel()
	b := startBackend(t, nil)
	dir := t.TempDir()
	with := func(c *daemon.Config) { c.Aggregation.ServiceResolver = []string{"ext.default=" + b.address()} }
	first := aggregationSession{client.Session{Server: client.Serve(t, dir, with), Ctx: t.Context(), T: t}}
	const batch = "v1.batch 17400 15 " + label + "=onstart"
	first.wantAPIService("v1.batch", batch)
	first.wantAPIService("v1.apps", "v1.apps 17800 15 "+label+"=onstart")
	first.Send(200, "PATCH", apiServices+"/v1.batch", client.MergePatch, `{"spec":{"versionPriority":1,"service":{"name":"ext","namespace":"default"},"insecureSkipTLSVerify":true}}`)
	first.wantCondition("v1.batch", "True", "Passed", "")
	if a := first.Send(200, "GET", "/apis/batch/v1/jobs", "", ""); !strings.Contains(string(a.Body), `"kind":"Thing"`) {
		t.Errorf("the APIService does not count: %s", a)
	}
	first.Send(200, "DELETE", apiServices+"/v1.apps", "", "")
	first.wantGroup("apps", false) // hidden, but still served
	first.Send(200, "GET", "/apis/apps/v1/deployments", "", "")
	first.Send(200, "GET", "/apis/apps/v1", "", "")
	first.Send(200, "GET", "/apis/apps", "", "")
	first.Send(201, "POST", apiServices, client.JSON, apiService("apiregistration.platform.io", "v1", `,"insecureSkipTLSVerify":true`))
	if a := first.Send(200, "GET", apiServices, "", ""); !strings.Contains(string(a.Body), "APIServiceList") {
		t.Errorf("the group of APIServices is served by another server: %s", a)
	}
	first.Stop(t)
	second := aggregationSession{client.Session{Server: client.Serve(t, dir, with), Ctx: t.Context(), T: t}}
	second.wantAPIService("v1.batch", batch)
	second.wantAPIService("v1.apps", "v1.apps 17800 15 "+label+"=onstart")
	second.wantGroup("apps", true)
	client.Eventually(t, func() error {
		if a := second.Send(200, "GET", "/apis/batch/v1/jobs", "", ""); !strings.Contains(string(a.Body), "JobList") {
			return fmt.Errorf("%s", a)
		}
		return nil
	})
}

// TestExtensionAuthentication checks the ConfigMap extension-apiserver-authentication, which
// contains the CAs and headers that aggregated servers trust. After a restart, it keeps values that
// are no longer configured.
func TestExtensionAuthentication(t *testing.T) {
	t.Parallel()
	dir := t.TempDir()
	s := client.Serve(t, dir, func(c *daemon.Config) {
		c.Authentication.RequestHeader.UsernameHeaders = []string{"X-User", "X-Remote-User"}
		c.Authentication.RequestHeader.AllowedNames = []string{"proxy"}
		c.Authentication.RequestHeader.ClientCAFile = writePEM(t, pki.PEM(pki.Authority(t, "proxies").Leaf))
	})
	const path = "/api/v1/namespaces/platform-system/configmaps/extension-apiserver-authentication"
	var data map[string]string
	client.Eventually(t, func() error {
		a, err := s.Get(t.Context(), path)
		if err != nil || a.Code != 200 {
			return fmt.Errorf("%v, %v", a, err)
		}
		var o struct{ Data map[string]string }
		err = json.Unmarshal(a.Body, &o)
		data = o.Data
		return err
	})
	for key, want := range map[string]string{
		"requestheader-allowed-names":        `["proxy","front-proxy-client"]`,
		"requestheader-username-headers":     `["X-User","X-Remote-User"]`,
		"requestheader-uid-headers":          `["X-Remote-Uid"]`,
		"requestheader-group-headers":        `["X-Remote-Group"]`,
		"requestheader-extra-headers-prefix": `["X-Remote-Extra-"]`,
	} {
		if data[key] != want {
			t.Errorf("%s is %s, want %s", key, data[key], want)
		}
	}
	if n := strings.Count(data["requestheader-client-ca-file"], "BEGIN CERTIFICATE"); n != 2 {
		t.Errorf("%d authorities of proxies", n)
	}
	own, err := os.ReadFile(dir + "/pki/ca.crt")
	if err != nil || data["client-ca-file"] != string(own) {
		t.Errorf("the authority of clients is %s, %v", data["client-ca-file"], err)
	}
	s.Stop(t)
	again := client.Serve(t, dir, nil)
	client.Eventually(t, func() error {
		a, err := again.Get(t.Context(), path)
		if err != nil || !strings.Contains(string(a.Body), `[\"proxy\",\"front-proxy-client\"]`) {
			return fmt.Errorf("%v, %v", a, err)
		}
		return nil
	})
}
