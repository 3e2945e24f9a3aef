package api

import (
	"net/http"
	"testing"

	"github.com/troupe-api/troupe/kinds/schema"
)

// createdByUpdate lists the kinds for which an update creates a missing object, as in
// kube-apiserver's strategies.
var createdByUpdate = map[string]bool{
	"ClusterRole": true, "ClusterRoleBinding": true, "Endpoints": true, "Event": true, "Lease": true, "LimitRange": true,
	"Role": true, "RoleBinding": true, "RuntimeClass": true, "Service": true,
}

// TestCreateByUpdate checks that an update of a missing object either creates it or returns 404,
// depending on the kind.
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
