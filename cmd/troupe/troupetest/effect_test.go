package troupetest_test

import (
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"sync"
	"testing"

	"github.com/troupe-api/troupe/cmd/troupe/troupetest"
	"github.com/troupe-api/troupe/internal/must"
)

const (
	effectMaps    = "/api/v1/namespaces/default/configmaps"
	effectPolicy  = "/apis/admissionregistration.k8s.io/v1/validatingadmissionpolicies"
	effectBinding = "/apis/admissionregistration.k8s.io/v1/validatingadmissionpolicybindings"
	effectQuota   = "/api/v1/namespaces/default/resourcequotas"
	effectWidgets = "/apis/example.com/v1/namespaces/default/widgets"
	effectCRDs    = "/apis/apiextensions.k8s.io/v1/customresourcedefinitions"
)

// TestEffectIsImmediate checks that a CustomResourceDefinition, a policy with its binding, and a
// quota apply to the next request.
func TestEffectIsImmediate(t *testing.T) {
	t.Parallel()
	s := troupetest.Start(t)
	for n := range 10 {
		mustDo(t, s, 201, "POST", effectCRDs, widgets)
		mustDo(t, s, 201, "POST", effectWidgets, `{"apiVersion":"example.com/v1","kind":"Widget","metadata":{"name":"a"}}`)

		mustDo(t, s, 201, "POST", effectPolicy, `{"metadata":{"name":"p"},"spec":{"matchConstraints":{"resourceRules":[
			{"apiGroups":[""],"apiVersions":["v1"],"operations":["CREATE"],"resources":["configmaps"]}]},"validations":[{"expression":"has(object.data)"}]}}`)
		mustDo(t, s, 201, "POST", effectBinding, `{"metadata":{"name":"b"},"spec":{"policyName":"p","validationActions":["Deny"]}}`)
		mustDo(t, s, 422, "POST", effectMaps, `{"metadata":{"name":"denied"}}`)
		mustDo(t, s, 200, "DELETE", effectBinding+"/b", "")
		mustDo(t, s, 200, "DELETE", effectPolicy+"/p", "")

		mustDo(t, s, 201, "POST", effectQuota, fmt.Sprintf(`{"metadata":{"name":"q"},"spec":{"hard":{"count/configmaps":"%d"}}}`, n+1))
		mustDo(t, s, 201, "POST", effectMaps, fmt.Sprintf(`{"metadata":{"name":"m%d"}}`, n))
		mustDo(t, s, 403, "POST", effectMaps, `{"metadata":{"name":"above"}}`)
		mustDo(t, s, 200, "DELETE", effectQuota+"/q", "")
		mustDo(t, s, 200, "DELETE", effectCRDs+"/widgets.example.com", "")
	}
}

// TestTenServers runs ten servers concurrently in this process, and checks that each has only its
// own objects and CRDs.
func TestTenServers(t *testing.T) {
	t.Parallel()
	var all sync.WaitGroup
	for n := range 10 {
		all.Go(func() {
			s := troupetest.Start(t)
			mustDo(t, s, 201, "POST", effectCRDs, widgets)
			mustDo(t, s, 201, "POST", effectWidgets, fmt.Sprintf(`{"apiVersion":"example.com/v1","kind":"Widget","metadata":{"name":"w%d"}}`, n))
			items := mustDo(t, s, 200, "GET", effectWidgets, "")["items"].([]any)
			if len(items) != 1 || items[0].(map[string]any)["metadata"].(map[string]any)["name"] != fmt.Sprint("w", n) {
				t.Errorf("server %d has the widgets %v", n, items)
			}
		})
	}
	all.Wait()
}

func TestManyDefinitions(t *testing.T) {
	t.Parallel()
	const count = 1000
	var files strings.Builder
	for n := range count {
		fmt.Fprintln(&files, "---\n"+strings.ReplaceAll(widgets, "example.com", fmt.Sprintf("g%d.example.com", n)))
	}
	path := filepath.Join(t.TempDir(), "definitions.yaml")
	must.Succeed(t, os.WriteFile(path, []byte(files.String()), 0o600))
	s := troupetest.Start(t, troupetest.WithFiles(path))
	for n := 0; n < count; n += 50 {
		mustDo(t, s, 201, "POST", fmt.Sprintf("/apis/g%d.example.com/v1/namespaces/default/widgets", n), fmt.Sprintf(`{"apiVersion":"g%d.example.com/v1","kind":"Widget","metadata":{"name":"a"}}`, n))
	}
}
