package api

import (
	"io"
	"net/http"
	"net/url"
	"testing"

	"github.com/troupe-api/troupe/kinds/meta"
)

// TestSelectFields checks that lists support the field selectors of their kind and reject others.
// An absent field must match the zero value of its type.
func TestSelectFields(t *testing.T) {
	t.Parallel()
	c, a := newCatalog(t, meta.Kubernetes), serveRepresentation(t)
	all := map[string]representationObject{}
	for _, o := range objects(t, c) {
		a.create(t, o)
		all[o.String()] = o
	}
	for _, c := range []struct {
		kind, selector string
		found          bool
	}{
		{"v1/Pod", "spec.nodeName=node-1", true},
		{"v1/Pod", "spec.host=node-1", true},
		{"v1/Pod", "spec.host!=node-1", false},
		{"v1/Pod", "spec.hostNetwork=false", true},
		{"v1/Pod", "spec.hostNetwork=true", false},
		{"v1/Pod", "status.phase=Pending,spec.restartPolicy=Always", true},
		{"v1/Pod", "status.nominatedNodeName=", true},
		{"v1/Node", "spec.unschedulable=true", true},
		{"v1/Node", "spec.unschedulable=false", false},
		{"v1/Event", "involvedObject.name=p,reason=Started,type=Normal", true},
		{"v1/Event", "involvedObject.fieldPath=spec.containers{c}", true},
		{"v1/Event", "source=agent", true},
		{"v1/Event", "source=other", false},
		{"events.k8s.io/v1/Event", "regarding.kind=Pod,reportingController=example.com/agent", true},
		{"events.k8s.io/v1/Event", "regarding.kind=Node", false},
		{"v1/Secret", "type=Opaque", true},
		{"v1/Secret", "type!=Opaque", false},
		{"v1/Namespace", "status.phase=Active", true},
		{"v1/Service", "spec.type=NodePort", true},
		{"v1/Service", "spec.clusterIP=None", false},
		{"v1/ReplicationController", "status.replicas=0", true},
		{"batch/v1/Job", "status.successful=0", true},
		{"batch/v1/Job", "status.successful=1", false},
		{"certificates.k8s.io/v1/CertificateSigningRequest", "spec.signerName=example.com/signer", true},
		{"certificates.k8s.io/v1/CertificateSigningRequest", "spec.signerName=other", false},
		{"resource.k8s.io/v1/ResourceSlice", "spec.nodeName=node-1,spec.driver=example.com", true},
		{"resource.k8s.io/v1/ResourceSlice", "spec.driver=other", false},
	} {
		o := all[c.kind]
		path := o.collection() + "?fieldSelector=" + url.QueryEscape("metadata.name="+o.name+","+c.selector)
		items, _ := treeRepresentation(t, a.get(t, path, representationJsonType, representationJsonType))["items"].([]any)
		if (len(items) == 1) != c.found {
			t.Errorf("%s by %s: %d found", c.kind, c.selector, len(items))
		}
	}
	for _, o := range all {
		answer := a.open(t, o.collection()+"?fieldSelector=spec.nothing%3D1", representationJsonType)
		body, err := io.ReadAll(answer.Body)
		if err != nil {
			t.Fatal(err)
		}
		if answer.StatusCode != http.StatusBadRequest {
			t.Errorf("%s by an unknown field: %d %s", o, answer.StatusCode, body)
		}
	}
}
