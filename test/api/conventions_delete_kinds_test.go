package api

import (
	"fmt"
	"net/http"
	"os"
	"strings"
	"testing"

	"sigs.k8s.io/yaml"

	"github.com/troupe-api/troupe/cmd/troupe/daemon"
	"github.com/troupe-api/troupe/test/client"
)

// returnsObject lists the resources for which a delete returns the deleted object, as in the API
// conventions or kube-apiserver. Other deletes return a Status.
var returnsObject = strings.Fields(`persistentvolumes persistentvolumeclaims storageclasses volumeattachments csidrivers
	csinodes services serviceaccounts pods podtemplates resourcequotas volumeattributesclasses
	deviceclasses resourceclaims resourceclaimtemplates resourceslices`)

// terminatesSlowly lists the resources whose objects are not deleted immediately. For example, a
// CRD stays until its objects are deleted.
var terminatesSlowly = map[string]bool{"namespaces": true, "customresourcedefinitions": true}

type servedResource struct {
	Name, Kind string
	Namespaced bool
	Verbs      []string
}

// collection uses discovery to find the collection path and the resource name of a kind.
func (s *testServer) collection(t testing.TB, apiVersion, kind string) (path, resource string) {
	t.Helper()
	prefix := "/api/" + apiVersion
	if strings.Contains(apiVersion, "/") {
		prefix = "/apis/" + apiVersion
	}
	var list struct{ Resources []servedResource }
	client.Decode(t, s.get(t, 200, prefix).Body, &list)
	for _, r := range list.Resources {
		if r.Kind != kind || strings.Contains(r.Name, "/") {
			continue
		}
		if r.Namespaced {
			prefix += "/namespaces/default"
		}
		return prefix + "/" + r.Name, r.Name
	}
	t.Fatalf("%s %s is not served", apiVersion, kind)
	return "", ""
}

// withoutCollector disables the garbage collector, so that pending deletions stay pending.
func withoutCollector(c *daemon.Config) { c.Controllers += ",-garbage-collector-controller" }

// TestDeleteReturns checks the response to a delete of each kind, with and without dry run.
func TestDeleteReturns(t *testing.T) {
	t.Parallel()
	s := serveConventions(t, func(c *daemon.Config) {
		withoutCollector(c)                          // some objects have owners that do not exist
		c.Controllers += ",-service-cidr-controller" // it adds finalizers
		c.Naming = "kubernetes"
	})
	objects, err := os.ReadFile("testdata/representation/objects.yaml")
	if err != nil {
		t.Fatal(err)
	}
	objectsOf := map[string]bool{}
	for _, name := range returnsObject {
		objectsOf[name] = true
	}
	seen := map[string]bool{}
	for _, document := range strings.Split(string(objects), "\n---\n") {
		body, err := yaml.YAMLToJSON([]byte(document))
		if err != nil {
			t.Fatal(err)
		}
		var o client.Object
		client.Decode(t, body, &o)
		apiVersion, _ := o["apiVersion"].(string)
		kind, _ := o["kind"].(string)
		t.Run(apiVersion+" "+kind, func(t *testing.T) {
			collection, resource := s.collection(t, apiVersion, kind)
			seen[resource] = true
			created := s.send(t, 201, http.MethodPost, collection, client.JSON, body).Object()
			path := collection + "/" + created.Name()
			// With other policies, the deletion of a Job would wait for the garbage collector.
			const now = "?gracePeriodSeconds=0&propagationPolicy=Background"
			for _, query := range []string{now + "&dryRun=All", now} {
				answer := s.send(t, 200, http.MethodDelete, path+query, "", nil)
				if objectsOf[resource] || terminatesSlowly[resource] {
					if got := answer.Object(); got["kind"] != kind || got.UID() != created.UID() {
						t.Errorf("not the object: %v", answer)
					}
				} else if o := answer.Object(); o["status"] != "Success" || o.At("details.kind") != resource || o.At("details.uid") != created.UID() {
					t.Errorf("not the Status: %v", answer)
				}
			}
			if !terminatesSlowly[resource] {
				s.waitDeleted(t, path)
			}
		})
	}
	for _, name := range returnsObject {
		if !seen[name] && name != "volumeattributesclasses" {
			t.Errorf("no object of %s was deleted", name)
		}
	}
}

// waitDeleted waits until an object is gone. For example, a PersistentVolumeClaim stays until a
// controller finds that it is unused.
func (s *testServer) waitDeleted(t *testing.T, path string) {
	t.Helper()
	client.Eventually(t, func() error {
		if a := s.send(t, 0, http.MethodGet, path, "", nil); a.Code != 404 {
			return fmt.Errorf("%s is still there: %s", path, a)
		}
		return nil
	})
}
