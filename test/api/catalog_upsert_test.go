package api

import (
	"net/http"
	"testing"

	"github.com/troupe-api/troupe/kinds/schema"
)

// createdByUpdate are the kinds of which an update creates an object that is absent, as their public
// strategies have it.
var createdByUpdate = map[string]bool{
	"ClusterRole": true, "ClusterRoleBinding": true, "Endpoints": true, "Event": true, "Lease": true, "LimitRange": true,
	"Role": true, "RoleBinding": true, "RuntimeClass": true, "Service": true,
}

// TestCreateByUpdate: an update of what is absent creates it, or is 404, kind by kind.
func TestCreateByUpdate(t *testing.T) {
	t.Parallel()
	stored := func(k *schema.Kind) bool { return !k.Virtual() }
	eachKind(t, 40, stored, func(c caller, k *schema.Kind, o map[string]any) {
		code := http.StatusNotFound
		if createdByUpdate[k.Kind] {
			code = http.StatusCreated
		}
		path := collection(k) + "/" + o["metadata"].(map[string]any)["name"].(string)
		c.do(http.MethodPut, path, nil, mergeCatalog(o, map[string]any{"status": nil}), code)
	})
}
