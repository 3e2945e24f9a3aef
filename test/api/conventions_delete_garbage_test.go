package api

import (
	"fmt"
	"net/http"
	"strings"
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
	s := serveConventions(t, nil)
	owner := func(name string) client.Object {
		return s.send(t, 201, http.MethodPost, configMaps, client.JSON, client.ConfigMap(name, nil, nil)).Object()
	}
	// of watches one object: controllers of the server write in the same collections.
	of := func(collection, name string) *client.Watch {
		return s.watch(t, collection+"?fieldSelector=metadata.name%3D"+name+"&resourceVersion="+textConventions(s.version(t)))
	}
	t.Run("Background", func(t *testing.T) {
		s.dependent(t, "b1", owner("b"))
		w := of(secrets, "b1")
		successOf(t, s.deletePath(t, 200, configMaps+"/b", client.JSON, `{"propagationPolicy":"Background"}`))
		nextConventions(t, w, "DELETED/b1")
	})
	t.Run("Foreground", func(t *testing.T) {
		s.dependent(t, "f1", owner("f"))
		w := of(configMaps, "f")
		s.deletePath(t, 200, configMaps+"/f", client.JSON, `{"propagationPolicy":"Foreground"}`)
		nextConventions(t, w, "MODIFIED/f DELETED/f")
		s.get(t, 404, secrets+"/f1")
	})
	t.Run("Orphan", func(t *testing.T) {
		s.dependent(t, "o1", owner("o"))
		w := of(configMaps, "o")
		s.deletePath(t, 200, configMaps+"/o", client.JSON, `{"propagationPolicy":"Orphan"}`)
		nextConventions(t, w, "MODIFIED/o DELETED/o")
		if o := s.get(t, 200, secrets+"/o1").Object(); o.Metadata()["ownerReferences"] != nil {
			t.Errorf("the orphan: %v", o)
		}
	})
}

// TestDefaultPropagation: without a policy, Jobs and ReplicationControllers orphan what they own. A namespace takes all with it.
func TestDefaultPropagation(t *testing.T) {
	t.Parallel()
	s := serveConventions(t, nil)
	const template = `"template":{"metadata":{"labels":{"a":"b"}},"spec":{"restartPolicy":"%s","containers":[{"name":"c","image":"i"}]}}`
	for _, c := range []struct{ group, resource, kind, spec, warning string }{
		{"/apis/batch/v1", "jobs", "Job", fmt.Sprintf(template, "Never"), "child pods are preserved by default when jobs are deleted; set propagationPolicy=Background to remove them or set propagationPolicy=Orphan to suppress this warning"},
		{"/api/v1", "replicationcontrollers", "ReplicationController", fmt.Sprintf(template, "Always"), ""},
	} {
		in := func(namespace string) (path, secret string) {
			path = c.group + "/namespaces/" + namespace + "/" + c.resource
			owner := s.send(t, 201, http.MethodPost, path, client.JSON, `{"metadata":{"name":"o"},"spec":{`+c.spec+`}}`).Object()
			secrets := "/api/v1/namespaces/" + namespace + "/secrets"
			s.send(t, 201, http.MethodPost, secrets, client.JSON, fmt.Sprintf(`{"metadata":{"name":%q,"ownerReferences":[{"apiVersion":%q,"kind":%q,"name":"o","uid":%q}]}}`,
				c.resource, owner["apiVersion"], c.kind, owner.UID()))
			return path + "/o", secrets + "/" + c.resource
		}
		path, secret := in("default")
		a := s.send(t, 200, http.MethodDelete, path, client.JSON, "")
		if got := strings.Join(a.Header.Values("Warning"), "\n"); c.warning == "" && got != "" || !strings.Contains(got, c.warning) {
			t.Errorf("%s: warned of %q", c.resource, got)
		}
		client.Eventually(t, func() error { return s.gone(t, path) })
		if o := s.get(t, 200, secret).Object(); o.Metadata()["ownerReferences"] != nil {
			t.Errorf("the orphan: %v", o)
		}
		s.deletePath(t, 200, secret, client.JSON, "")
		path, secret = in("default")
		if a := s.send(t, 200, http.MethodDelete, path+"?propagationPolicy=Background", client.JSON, ""); a.Header.Get("Warning") != "" {
			t.Errorf("%s: warned of %q", c.resource, a.Header.Get("Warning"))
		}
		client.Eventually(t, func() error { return s.gone(t, secret) })

		s.send(t, 201, http.MethodPost, "/api/v1/namespaces", client.JSON, `{"metadata":{"name":"`+c.resource+`"}}`)
		in(c.resource)
		s.send(t, 200, http.MethodDelete, "/api/v1/namespaces/"+c.resource, client.JSON, "")
		client.Eventually(t, func() error { return s.gone(t, "/api/v1/namespaces/"+c.resource) })
	}
}

// gone is an error while there is an object.
func (s *testServer) gone(t testing.TB, path string) error {
	t.Helper()
	a, err := s.Get(t.Context(), path)
	if err == nil && a.Code != 404 {
		err = &a
	}
	return err
}
