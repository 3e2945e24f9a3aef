package storage

import (
	"strings"
	"testing"

	"github.com/troupe-api/troupe/test/client"
)

// TestComponentStatuses: parts of the control plane are asked when somebody reads them, and cannot be written or watched.
//
// Whether a scheduler or a controller manager runs on the machine of the test is not known.
func TestComponentStatuses(t *testing.T) {
	t.Parallel()
	s := serveOperations(t)
	const path = "/api/v1/componentstatuses"
	for _, c := range []struct {
		name, method, path string
		code               int
		contains           []string
	}{
		{"all", "GET", path, 200, []string{
			`{"kind":"ComponentStatusList","apiVersion":"v1","metadata":{},"items":[{"metadata":{"name":"controller-manager"},"conditions":[{"type":"Healthy",`,
			`{"metadata":{"name":"etcd-0"},"conditions":[{"type":"Healthy","status":"True","message":"ok"}]}`,
			`{"metadata":{"name":"scheduler"},"conditions":[{"type":"Healthy",`,
		}},
		{"one", "GET", path + "/etcd-0", 200, []string{`{"kind":"ComponentStatus","apiVersion":"v1","metadata":{"name":"etcd-0"}`}},
		{"none", "GET", path + "/etcd-1", 404, []string{`componentstatus \"etcd-1\" not found`, `"reason":"NotFound"`}},
		{"by field", "GET", path + "?fieldSelector=metadata.name%3Dscheduler", 200, []string{`"items":[{"metadata":{"name":"scheduler"}`}},
		{"by label", "GET", path + "?labelSelector=a", 200, []string{`"items":[]`}},
		{"by a field that there is not", "GET", path + "?fieldSelector=spec.x%3D1", 400, []string{`"reason":"BadRequest"`}},
		{"watch", "GET", path + "?watch=1", 405, []string{`"reason":"MethodNotAllowed"`}},
		{"create", "POST", path, 405, []string{`"reason":"MethodNotAllowed"`}},
		{"delete", "DELETE", path + "/etcd-0", 405, []string{`"reason":"MethodNotAllowed"`}},
	} {
		a, err := s.Do(t.Context(), c.method, c.path, client.JSON, nil)
		if err != nil || a.Code != c.code {
			t.Errorf("%s: %s, %v", c.name, a, err)
		}
		for _, part := range c.contains {
			if !strings.Contains(string(a.Body), part) {
				t.Errorf("%s: no %s in %s", c.name, part, a.Body)
			}
		}
		if c.code == 200 && a.Header.Get("Warning") != `299 - "v1 ComponentStatus is deprecated in v1.19+"` {
			t.Errorf("%s: warning %q", c.name, a.Header.Get("Warning"))
		}
	}
}
