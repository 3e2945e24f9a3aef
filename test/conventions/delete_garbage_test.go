package conventions

import (
	"fmt"
	"net/http"
	"testing"

	"github.com/troupe-api/troupe/test/client"
)

const secrets = "/api/v1/namespaces/default/secrets"

// dependent creates a Secret that a ConfigMap owns.
func (s *testServer) dependent(t testing.TB, name string, owner client.Object) {
	t.Helper()
	s.send(t, 201, http.MethodPost, secrets, client.JSON, fmt.Sprintf(
		`{"metadata":{"name":%q,"ownerReferences":[{"apiVersion":"v1","kind":"ConfigMap","name":%q,"uid":%q,"blockOwnerDeletion":true}]}}`,
		name, owner.Name(), owner.UID()))
}

// TestPropagation: what each policy does with dependents, as a client sees it.
func TestPropagation(t *testing.T) {
	t.Parallel()
	s := serve(t, nil)
	owner := func(name string) client.Object {
		return s.send(t, 201, http.MethodPost, maps, client.JSON, client.ConfigMap(name, nil, nil)).Object()
	}
	of := func(collection string) *client.Watch {
		return s.watch(t, collection+"?resourceVersion="+text(s.version(t)))
	}
	t.Run("Background", func(t *testing.T) {
		s.dependent(t, "b1", owner("b"))
		w := of(secrets)
		successOf(t, s.deletePath(t, 200, maps+"/b", client.JSON, `{"propagationPolicy":"Background"}`))
		next(t, w, "DELETED/b1")
	})
	t.Run("Foreground", func(t *testing.T) {
		s.dependent(t, "f1", owner("f"))
		w := of(maps)
		s.deletePath(t, 200, maps+"/f", client.JSON, `{"propagationPolicy":"Foreground"}`)
		next(t, w, "MODIFIED/f DELETED/f")
		s.get(t, 404, secrets+"/f1")
	})
	t.Run("Orphan", func(t *testing.T) {
		s.dependent(t, "o1", owner("o"))
		w := of(maps)
		s.deletePath(t, 200, maps+"/o", client.JSON, `{"propagationPolicy":"Orphan"}`)
		next(t, w, "MODIFIED/o DELETED/o")
		if o := s.get(t, 200, secrets+"/o1").Object(); o.Metadata()["ownerReferences"] != nil {
			t.Errorf("the orphan: %v", o)
		}
	})
}
