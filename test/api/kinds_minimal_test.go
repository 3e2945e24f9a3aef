package api

import (
	"encoding/json"
	"slices"
	"strings"
	"testing"

	"github.com/troupe-api/troupe/cmd/troupe/daemon"
	"github.com/troupe-api/troupe/test/client"
)

// minimalResources are the resources of --kinds=minimal with their platform names.
const minimalResources = `
	v1/configmaps v1/events v1/namespaces v1/secrets v1/serviceaccounts events.platform.io/v1/events coordination.platform.io/v1/leases
	rbac.authorization.platform.io/v1/clusterrolebindings rbac.authorization.platform.io/v1/clusterroles
	rbac.authorization.platform.io/v1/rolebindings rbac.authorization.platform.io/v1/roles
	authentication.platform.io/v1/selfsubjectreviews authentication.platform.io/v1/tokenreviews
	authorization.platform.io/v1/localsubjectaccessreviews authorization.platform.io/v1/selfsubjectaccessreviews
	authorization.platform.io/v1/selfsubjectrulesreviews authorization.platform.io/v1/subjectaccessreviews
	apiextensions.platform.io/v1/customresourcedefinitions apiregistration.platform.io/v1/apiservices
	admissionregistration.platform.io/v1/mutatingadmissionpolicies admissionregistration.platform.io/v1/mutatingadmissionpolicybindings
	admissionregistration.platform.io/v1/mutatingwebhookconfigurations admissionregistration.platform.io/v1/validatingadmissionpolicies
	admissionregistration.platform.io/v1/validatingadmissionpolicybindings admissionregistration.platform.io/v1/validatingwebhookconfigurations`

// TestMinimalKinds checks the kinds, schemas and behavior of a server with --kinds=minimal.
func TestMinimalKinds(t *testing.T) {
	client.InProfiles(t, func(t *testing.T, profile string) {
		named := func(text string) string { // client.Named lacks some groups
			if profile == "platform" {
				return text
			}
			return strings.ReplaceAll(text, ".platform.io", ".k8s.io")
		}
		s := kindSession{client.Open(t, func(c *daemon.Config) {
			c.Naming, c.API.Kinds, c.Controllers = profile, "minimal", daemon.Default().Controllers
		})}
		got := servedResources(t, s.Session)
		if want := strings.Fields(named(minimalResources)); !slices.Equal(got, slices.Sorted(slices.Values(want))) {
			t.Errorf("served are %q", got)
		}
		openAPI := string(s.Send(200, "GET", "/openapi/v2", "", "").Body)
		if !strings.Contains(openAPI, "/api/v1/namespaces/{namespace}/configmaps") || strings.Contains(openAPI, "/apis/apps/v1") {
			t.Error("OpenAPI does not follow the served kinds")
		}

		s.want(201, "POST", named("/apis/apiextensions.platform.io/v1/customresourcedefinitions"), named(`{"metadata":{"name":"widgets.example.com"},"spec":{
			"group":"example.com","scope":"Namespaced","names":{"plural":"widgets","kind":"Widget"},
			"versions":[{"name":"v1","served":true,"storage":true,"schema":{"openAPIV3Schema":{"type":"object"}}}]}}`))
		s.want(201, "POST", "/api/v1/namespaces", `{"metadata":{"name":"team"}}`)
		const widgets = "/apis/example.com/v1/namespaces/team/widgets"
		owner := s.want(201, "POST", widgets, `{"apiVersion":"example.com/v1","kind":"Widget","metadata":{"name":"owner"}}`)
		s.want(201, "POST", "/api/v1/namespaces/team/secrets", `{"metadata":{"name":"owned","ownerReferences":[{"apiVersion":"example.com/v1","kind":"Widget","name":"owner","uid":"`+owner.UID()+`"}]}}`)
		s.want(201, "POST", "/api/v1/namespaces/team/serviceaccounts", `{"metadata":{"name":"robot"}}`)
		token := s.want(201, "POST", "/api/v1/namespaces/team/serviceaccounts/robot/token", named(`{"apiVersion":"authentication.platform.io/v1","kind":"TokenRequest","spec":{}}`)).At("status.token")
		s.want(201, "POST", named("/apis/rbac.authorization.platform.io/v1/namespaces/team/roles"), `{"metadata":{"name":"reader"},"rules":[{"apiGroups":["example.com"],"resources":["widgets"],"verbs":["get"]}]}`)
		s.want(201, "POST", named("/apis/rbac.authorization.platform.io/v1/namespaces/team/rolebindings"), named(`{"metadata":{"name":"reader"},"roleRef":{"apiGroup":"rbac.authorization.platform.io","kind":"Role","name":"reader"},"subjects":[{"kind":"ServiceAccount","name":"robot","namespace":"team"}]}`))
		robot := s.WithoutCertificate(t).With(map[string][]string{"Authorization": {"Bearer " + token.(string)}})
		for path, code := range map[string]int{widgets + "/owner": 200, widgets: 403} {
			if answer, err := robot.Get(s.Ctx, path); err != nil || answer.Code != code {
				t.Errorf("%s as a service account: %v, %v, want %d", path, answer, err, code)
			}
		}

		s.want(200, "DELETE", widgets+"/owner", nil)
		s.awaitCode(404, "/api/v1/namespaces/team/secrets/owned")
		if maps := s.want(200, "GET", "/api/v1/namespaces/team/configmaps", nil); len(maps["items"].([]any)) > 0 {
			t.Errorf("the namespace has ConfigMaps: %v", maps)
		}
		s.want(200, "DELETE", "/api/v1/namespaces/team", nil)
		s.awaitCode(404, "/api/v1/namespaces/team")
	})
}

// TestMinimalKindsWithMore checks that other settings take precedence over --kinds=minimal.
func TestMinimalKindsWithMore(t *testing.T) {
	t.Parallel()
	s := kindSession{client.Open(t, func(c *daemon.Config) {
		c.API.Kinds, c.API.RuntimeConfig = "minimal", daemon.Switches{"apps/v1": true, "api/v1/events": false}
		c.Controllers = "*"
	})}
	for path, code := range map[string]int{"/apis/apps/v1/deployments": 200, "/api/v1/events": 404, "/api/v1/pods": 404} {
		s.want(code, "GET", path, nil)
	}
}

func (s kindSession) awaitCode(code int, path string) {
	s.T.Helper()
	client.Eventually(s.T, func() error {
		answer, err := s.Get(s.Ctx, path)
		if err == nil && answer.Code != code {
			err = &answer
		}
		return err
	})
}

// servedResources returns the discovered resources as <group>/<version>/<resource>, sorted.
func servedResources(t *testing.T, s client.Session) (all []string) {
	t.Helper()
	for _, path := range []string{"/api", "/apis"} {
		answer, err := s.GetAs(s.Ctx, path, "application/json;g=apidiscovery.platform.io;v=v2;as=APIGroupDiscoveryList,application/json;g=apidiscovery.k8s.io;v=v2;as=APIGroupDiscoveryList")
		if err != nil || answer.Code != 200 {
			t.Fatal(answer, err)
		}
		var groups struct {
			Items []struct {
				Metadata struct{ Name string }
				Versions []struct {
					Version   string
					Resources []struct{ Resource string }
				}
			}
		}
		if err := json.Unmarshal(answer.Body, &groups); err != nil {
			t.Fatal(err)
		}
		for _, g := range groups.Items {
			for _, v := range g.Versions {
				for _, r := range v.Resources {
					all = append(all, strings.TrimPrefix(g.Metadata.Name+"/"+v.Version+"/"+r.Resource, "/"))
				}
			}
		}
	}
	return slices.Sorted(slices.Values(all))
}
