package api

import (
	"encoding/json"
	"os"
	"strings"
	"testing"

	"github.com/troupe-api/troupe/test/client"
)

// A warningCase creates Object, or updates Old to Object, through Subresource if that is set.
type warningCase struct {
	Name        string
	Subresource string
	// Duplicates reports whether lists contain duplicate items, which apply rejects.
	Duplicates  bool
	Old, Object json.RawMessage
	Warnings    []string
}

func readCases(t *testing.T) (cases []warningCase) {
	t.Helper()
	text, err := os.ReadFile("testdata/warnings/cases.json")
	if err == nil {
		err = json.Unmarshal(text, &cases)
	}
	if err != nil {
		t.Fatal(err)
	}
	return cases
}

var resources = map[string]string{
	"CSIDriver":             "/apis/storage.k8s.io/v1/csidrivers",
	"CSIStorageCapacity":    "/apis/storage.k8s.io/v1/namespaces/default/csistoragecapacities",
	"CronJob":               "/apis/batch/v1/namespaces/default/cronjobs",
	"DaemonSet":             "/apis/apps/v1/namespaces/default/daemonsets",
	"Deployment":            "/apis/apps/v1/namespaces/default/deployments",
	"EndpointSlice":         "/apis/discovery.k8s.io/v1/namespaces/default/endpointslices",
	"Endpoints":             "/api/v1/namespaces/default/endpoints",
	"Ingress":               "/apis/networking.k8s.io/v1/namespaces/default/ingresses",
	"Job":                   "/apis/batch/v1/namespaces/default/jobs",
	"NetworkPolicy":         "/apis/networking.k8s.io/v1/namespaces/default/networkpolicies",
	"Node":                  "/api/v1/nodes",
	"PersistentVolume":      "/api/v1/persistentvolumes",
	"PersistentVolumeClaim": "/api/v1/namespaces/default/persistentvolumeclaims",
	"Pod":                   "/api/v1/namespaces/default/pods",
	"PodTemplate":           "/api/v1/namespaces/default/podtemplates",
	"ReplicaSet":            "/apis/apps/v1/namespaces/default/replicasets",
	"ReplicationController": "/api/v1/namespaces/default/replicationcontrollers",
	"ResourceQuota":         "/api/v1/namespaces/default/resourcequotas",
	"RuntimeClass":          "/apis/node.k8s.io/v1/runtimeclasses",
	"Secret":                "/api/v1/namespaces/default/secrets",
	"Service":               "/api/v1/namespaces/default/services",
	"ServiceAccount":        "/api/v1/namespaces/default/serviceaccounts",
	"StatefulSet":           "/apis/apps/v1/namespaces/default/statefulsets",
	"StorageClass":          "/apis/storage.k8s.io/v1/storageclasses",
}

// path returns the paths of an object and its collection.
func path(t *testing.T, object json.RawMessage) (collection, at string) {
	t.Helper()
	var head struct {
		Kind     string
		Metadata struct{ Name string }
	}
	if err := json.Unmarshal(object, &head); err != nil || resources[head.Kind] == "" {
		t.Fatalf("%v: %s", err, object)
	}
	return resources[head.Kind], resources[head.Kind] + "/" + head.Metadata.Name
}

// others lists prefixes of warnings that depend only on an object's kind. The recorded cases do not
// contain them.
var others = []string{"this server stores the object and does not enforce it", "v1 Endpoints is deprecated"}

// texts returns the unescaped warnings of a response, except others. Each warning must have the
// code 299.
func texts(t testing.TB, a client.Answer) []string {
	t.Helper()
	list := []string{}
next:
	for _, h := range a.Header.Values("Warning") {
		text, ok := strings.CutPrefix(h, `299 - "`)
		if !ok || !strings.HasSuffix(text, `"`) {
			t.Errorf("Warning: %s", h)
		}
		text = strings.ReplaceAll(strings.ReplaceAll(strings.TrimSuffix(text, `"`), `\"`, `"`), `\\`, `\`)
		for _, other := range others {
			if strings.HasPrefix(text, other) {
				continue next
			}
		}
		list = append(list, text)
	}
	return list
}
