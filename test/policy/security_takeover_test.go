package policy

import (
	"fmt"
	"slices"
	"strings"
	"testing"

	"github.com/troupe-api/troupe/persist"
	"github.com/troupe-api/troupe/test/client"
)

const definitionPath = "/apis/apiextensions.platform.io/v1/customresourcedefinitions"

// takeover returns a CRD in a built-in group, with the annotation that approves protected groups.
func takeover(plural, group, kind, scope string) string {
	return fmt.Sprintf(`{"kind":"CustomResourceDefinition","apiVersion":"apiextensions.platform.io/v1","metadata":{"name":"%s.%s","uid":"8c1e4a5e-0000-4000-8000-000000000001","resourceVersion":"",
		"generation":1,"creationTimestamp":"2026-01-01T00:00:00Z","annotations":{"api-approved.platform.io":"https://example.com"},"finalizers":["customresourcecleanup.apiextensions.platform.io"]},
		"spec":{"group":"%s","scope":"%s","names":{"plural":"%s","singular":"%s","kind":"%s","listKind":"%sList"},"conversion":{"strategy":"None"},
		"versions":[{"name":"v1","served":true,"storage":true,"schema":{"openAPIV3Schema":{"type":"object","x-platform-preserve-unknown-fields":true}}}]},
		"status":{"storedVersions":["v1"],"acceptedNames":{"plural":"%s","singular":"%s","kind":"%s","listKind":"%sList"},"conditions":[
		{"type":"NamesAccepted","status":"True","reason":"NoConflicts","lastTransitionTime":"2026-01-01T00:00:00Z","message":"m"},
		{"type":"Established","status":"True","reason":"InitialNamesAccepted","lastTransitionTime":"2026-01-01T00:00:00Z","message":"m"}]}}`,
		plural, group, group, scope, plural, strings.ToLower(kind), kind, kind, plural, strings.ToLower(kind), kind, kind)
}

// takeovers are CRDs that conflict with built-in kinds.
var takeovers = []struct{ plural, group, kind, scope string }{
	{"clusterroles", "rbac.authorization.platform.io", "ClusterRole", "Cluster"},
	{"rolebindings", "rbac.authorization.platform.io", "Other", "Namespaced"},
	{"others", "rbac.authorization.platform.io", "Role", "Namespaced"},
	{"leases", "coordination.platform.io", "Lease", "Namespaced"},
	{"events", "events.platform.io", "Event", "Namespaced"},
	{"tokenreviews", "authentication.platform.io", "TokenReview", "Cluster"},
	{"customresourcedefinitions", "apiextensions.platform.io", "CustomResourceDefinition", "Cluster"},
}

// TestTakeoverByDefinition checks that CRDs that conflict with built-in kinds are rejected.
func TestTakeoverByDefinition(t *testing.T) {
	s := client.Open(t, nil)
	names := func() (all []string) { // aggregation may complete a moment after the start
		list, err := s.List(s.Ctx, "/apis/rbac.authorization.platform.io/v1/clusterroles", nil)
		if err != nil {
			t.Fatal(err)
		}
		for _, role := range list.Items {
			all = append(all, role.Name()+" "+role.UID())
		}
		return all
	}
	roles := names()
	for _, d := range takeovers {
		text := strings.NewReplacer(`"resourceVersion":"",`, ``, `"uid":"8c1e4a5e-0000-4000-8000-000000000001",`, ``, `,"finalizers":["customresourcecleanup.apiextensions.platform.io"]`, ``).Replace(takeover(d.plural, d.group, d.kind, d.scope))
		answer := s.Send(422, "POST", definitionPath, client.JSON, text)
		if text := answer.String(); !strings.Contains(text, "spec.group") || !strings.Contains(text, "must not be a group of built-in kinds") {
			t.Errorf("%s: %s", d.plural, text)
		}
		applied := s.Send(422, "PATCH", definitionPath+"/"+d.plural+"."+d.group+"?fieldManager=m", "application/apply-patch+yaml", text)
		if text := applied.String(); !strings.Contains(text, "must not be a group of built-in kinds") {
			t.Errorf("apply of %s: %s", d.plural, text)
		}
	}
	s.Send(422, "POST", definitionPath, client.JSON, strings.ReplaceAll(takeover("others", "nobody.platform.io", "Other", "Cluster"), "api-approved", "nothing"))
	if now := names(); len(roles) == 0 || !slices.Equal(now, roles) {
		t.Errorf("the roles were %v and are %v", roles, now)
	}
}

// TestTakeoverFromStore starts a server whose store contains conflicting CRDs and their objects.
// They must not affect built-in kinds, even when the CRDs are deleted.
func TestTakeoverFromStore(t *testing.T) {
	dir := t.TempDir()
	s := client.Serve(t, dir, nil)
	const roles = "/apis/rbac.authorization.platform.io/v1/clusterroles"
	lists := []string{roles, definitionPath, "/apis/coordination.platform.io/v1/leases", "/api/v1/events", "/apis/events.platform.io/v1/events"}
	before := read(t, s, roles)
	s.Stop(t)
	writes := []persist.Write{{
		Key:   "rbac.authorization.platform.io/others/default/a",
		Value: []byte(`{"kind":"Role","apiVersion":"rbac.authorization.platform.io/v1","metadata":{"name":"a","namespace":"default","uid":"u","resourceVersion":""},"rules":"all"}`),
	}}
	for _, d := range takeovers {
		writes = append(writes, persist.Write{
			Key:   "apiextensions.platform.io/customresourcedefinitions//" + d.plural + "." + d.group,
			Value: []byte(strings.NewReplacer("\n", "", "\t", "").Replace(takeover(d.plural, d.group, d.kind, d.scope))),
		})
	}
	appendToJournal(t, dir, writes...)
	for range 2 {
		s = client.Serve(t, dir, nil)
		for _, path := range lists {
			read(t, s, path)
		}
		if now := read(t, s, roles); len(now.Items) != len(before.Items) {
			t.Errorf("%d roles, want %d", len(now.Items), len(before.Items))
		}
		if got, err := s.Create(t.Context(), roles, `{"metadata":{"name":"odd`+fmt.Sprint(len(before.Items))+`"},"rules":"all"}`); err != nil || got.Code != 400 {
			t.Errorf("a role without a plan: %v, %v", got, err)
		}
		for _, d := range takeovers {
			client.Eventually(t, func() error {
				got, err := s.Get(t.Context(), definitionPath+"/"+d.plural+"."+d.group)
				if err != nil || got.Code != 200 || !strings.Contains(got.String(), `"reason":"BuiltIn"`) || !strings.Contains(got.String(), `"reason":"NotAccepted"`) {
					return fmt.Errorf("the status of %s does not say that it is built in: %v, %v", d.plural, got, err)
				}
				return nil
			})
		}
		s.Stop(t)
	}
	s = client.Serve(t, dir, nil)
	for _, d := range takeovers {
		if got, err := s.Delete(t.Context(), definitionPath+"/"+d.plural+"."+d.group, nil); err != nil || got.Code != 200 {
			t.Errorf("delete %s: %v %v", d.plural, got, err)
		}
	}
	if now := read(t, s, roles); len(now.Items) != len(before.Items) {
		t.Errorf("%d roles after the definitions have gone, want %d", len(now.Items), len(before.Items))
	}
}

func read(t *testing.T, s *client.Server, path string) client.List {
	t.Helper()
	list, err := s.List(t.Context(), path, nil)
	if err != nil {
		t.Fatalf("%s: %v", path, err)
	}
	return list
}
