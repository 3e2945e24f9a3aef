package policy_test

import (
	"slices"
	"strings"
	"testing"

	"github.com/troupe-api/troupe/kinds/meta"
	"github.com/troupe-api/troupe/kinds/request"
	"github.com/troupe-api/troupe/kinds/schema"
	"github.com/troupe-api/troupe/policy"
	"github.com/troupe-api/troupe/policy/authn"
	"github.com/troupe-api/troupe/policy/authz"
	"github.com/troupe-api/troupe/policy/authz/node"
)

func TestRestriction(t *testing.T) {
	objects := &fakeCluster{objects: map[string]*policy.Object{
		"nodes /n1":  {Meta: meta.ObjectMeta{UID: "u-n1"}},
		"pods ns/p1": {Meta: meta.ObjectMeta{UID: "u-p1"}, Tree: parseTree(t, `{"spec":{"nodeName":"n1"}}`)},
		"pods ns/p2": {Meta: meta.ObjectMeta{UID: "u-p2"}, Tree: parseTree(t, `{"spec":{"nodeName":"n2"}}`)},
	}}
	registration := node.Restriction(meta.Platform, objects, authz.Union())[0]
	if registration.Name != "NodeRestriction" {
		t.Errorf("got %+v", registration)
	}
	const owner = `{"apiVersion":"v1","kind":"Node","name":"n1","uid":"u-n1","controller":true}`
	mirror := func(owners, spec string) string {
		return `{"metadata":{"annotations":{"platform.io/config.mirror":"x"},"ownerReferences":[` + owners + `]},"spec":{` + spec + `}}`
	}
	bound := func(ref string) string { return `{"spec":{"boundObjectRef":{` + ref + `}}}` }
	on := func(name, more string) string { return `{"spec":{"nodeName":"` + name + `"}` + more + `}` }
	mine, theirs := certificateRequest(t, "system:node:n1"), certificateRequest(t, "system:node:n2")
	signing := func(signer, text string) string {
		return `{"spec":{"signerName":"` + signer + `","request":"` + text + `"}}`
	}
	for _, c := range []struct{ resource, key, old, new, fault string }{
		{"pods", "ns/m", "", mirror(owner, `"nodeName":"n1"`), ""},
		{"pods", "ns/m", "", `{"spec":{"nodeName":"n1"}}`, `pod does not have "platform.io/config.mirror" annotation, node "n1" can only create mirror pods`},
		{"pods", "ns/m", "", mirror(owner, `"nodeName":"n2"`), `node "n1" can only create pods with spec.nodeName set to itself`},
		{"pods", "ns/m", "", mirror("", `"nodeName":"n1"`), `with an owner reference set to itself`},
		{"pods", "ns/m", "", mirror(owner+","+owner, `"nodeName":"n1"`), `with a single owner reference set to itself`},
		{"pods", "ns/m", "", mirror(strings.ReplaceAll(owner, `"n1"`, `"n2"`), `"nodeName":"n1"`), `with an owner reference set to itself`},
		{"pods", "ns/m", "", mirror(strings.ReplaceAll(owner, `true`, `false`), `"nodeName":"n1"`), `with a controller owner reference set to itself`},
		{"pods", "ns/m", "", mirror(strings.ReplaceAll(owner, `}`, `,"blockOwnerDeletion":true}`), `"nodeName":"n1"`), `must not set blockOwnerDeletion`},
		{"pods", "ns/m", "", mirror(strings.ReplaceAll(owner, `u-n1`, `u-old`), `"nodeName":"n1"`), `node n1 UID mismatch: expected u-old got u-n1`},
		{"pods", "ns/m", "", mirror(owner, `"nodeName":"n1","serviceAccountName":"x"`), `can not create pods that reference serviceaccounts`},
		{"pods", "ns/m", "", mirror(owner, `"nodeName":"n1","imagePullSecrets":[{"name":"x"}]`), `can not create pods that reference secrets`},
		{"pods", "ns/m", "", mirror(owner, `"nodeName":"n1","volumes":[{"configMap":{"name":"x"}}]`), `can not create pods that reference configmaps`},
		{"pods", "ns/m", "", mirror(owner, `"nodeName":"n1","volumes":[{"persistentVolumeClaim":{"claimName":"x"}}]`), `can not create pods that reference persistentvolumeclaims`},
		{"pods", "ns/m", "", mirror(owner, `"nodeName":"n1","volumes":[{"name":"v","emptyDir":{}},{"name":"w","projected":{"sources":[{"downwardAPI":{}}]}}]`), ""},
		{"pods", "ns/m", "", mirror(owner, `"nodeName":"n1","volumes":[{"name":"v","ephemeral":{}}]`), `can not create pods that reference persistentvolumeclaims (via ephemeral volumes)`},
		{"pods", "ns/m", "", mirror(owner, `"nodeName":"n1","volumes":[{"name":"v","csi":{"driver":"d"}}]`), `can not create pods that reference csidrivers (via CSI volumes)`},
		{"pods", "ns/m", "", mirror(owner, `"nodeName":"n1","volumes":[{"name":"v","glusterfs":{"endpoints":"e"}}]`), `can not create pods that reference endpoints (via glusterFS volumes)`},
		{"pods", "ns/m", "", mirror(owner, `"nodeName":"n1","volumes":[{"name":"v","projected":{"sources":[{"serviceAccountToken":{"path":"t"}}]}}]`), `can not create pods that reference serviceaccounts (via projected volumes)`},
		{"pods", "ns/m", "", mirror(owner, `"nodeName":"n1","volumes":[{"name":"v","projected":{"sources":[{"clusterTrustBundle":{"path":"t"}}]}}]`), `can not create pods that reference clustertrustbundles`},
		{"pods", "ns/m", "", mirror(owner, `"nodeName":"n1","volumes":[{"name":"v","projected":{"sources":[{"podCertificate":{}}]}}]`), `can not create pods that reference podcertificates`},
		{"pods", "ns/m", "", mirror(owner, `"nodeName":"n1","volumes":[{"name":"v","projected":{"sources":[{"x":{}}]}}]`), `error checking mirror pod for API references: unknown source for projected volume "v"`},
		{"pods", "ns/m", "", mirror(owner, `"nodeName":"n1","volumes":[{"name":"v","x":{}}]`), `error checking mirror pod for API references: unknown volume type for volume  "v"`},
		{"pods", "ns/m", "", mirror(owner, `"nodeName":"n1","resourceClaims":[{"name":"x","resourceClaimTemplateName":"y"}]`), `can not create pods that reference resourceclaims`},
		{"pods", "ns/p", on("n1", ""), "", ""},
		{"pods", "ns/p", on("n2", ""), "", `node "n1" can only delete pods with spec.nodeName set to itself`},
		{"pods", "ns/p", on("n1", ""), on("n1", ""), `unexpected operation "UPDATE", node "n1" can only create and delete mirror pods`},
		{"pods/status", "ns/p", on("n1", ""), on("n1", `,"status":{"phase":"Running"}`), ""},
		{"pods/status", "ns/p", on("n2", ""), on("n2", ""), `can only update pod status for pods with spec.nodeName set to itself`},
		{"pods/status", "ns/p", on("n1", ""), on("n1", `,"metadata":{"labels":{"a":"b"}}`), `cannot update labels through pod status`},
		{"pods/status", "ns/p", on("n1", ""), on("n1", `,"status":{"resourceClaimStatuses":[{"name":"a"}]}`), `cannot update resource claim statues`},
		{"pods/status", "ns/p", on("n1", ""), on("n1", `,"status":{"extendedResourceClaimStatus":{"resourceClaimName":"a"}}`), `cannot update extended resource claim status`},
		{"pods/eviction", "ns/p1", "", "{}", ""},
		{"pods/eviction", "ns/p2", "", "{}", `node n1 can only evict pods with spec.nodeName set to itself`},
		{"pods/eviction", "ns/p3", "", "{}", `pods "p3" not found`},
		{"pods/binding", "ns/p1", "", "{}", `unexpected pod subresource "binding"`},

		{"nodes", "n1", "", `{"metadata":{"labels":{"a":"b","platform.io/hostname":"n1","node.platform.io/x":"y","x.kubelet.platform.io/x":"y"}},"spec":{"taints":[{"key":"a"}]}}`, ""},
		{"nodes", "n2", "", `{}`, `node "n1" is not allowed to modify node "n2"`},
		{"nodes", "n1", "", `{"metadata":{"labels":{"node-restriction.platform.io/x":"y","platform.io/x":"y","sub.platform.io/z":""}}}`, `node "n1" is not allowed to set the following labels: node-restriction.platform.io/x, platform.io/x, sub.platform.io/z`},
		{"nodes", "n1", `{"metadata":{"labels":{"platform.io/x":"y"}}}`, `{"metadata":{"labels":{"platform.io/x":"y"}}}`, ""},
		{"nodes", "n1", `{"metadata":{"labels":{"platform.io/x":"y"}}}`, `{}`, `is not allowed to modify labels: platform.io/x`},
		{"nodes", "n1", `{"metadata":{"labels":{"x.node-restriction.platform.io/a":"y"}}}`, `{"metadata":{"labels":{"x.node-restriction.platform.io/a":"z"}}}`, `is not allowed to modify labels: x.node-restriction.platform.io/a`},
		{"nodes", "n1", `{}`, `{"spec":{"taints":[{"key":"a"}]}}`, `node "n1" is not allowed to modify taints`},
		{"nodes", "n1", `{}`, `{"metadata":{"ownerReferences":[{"name":"a"}]}}`, `node "n1" is not allowed to modify ownerReferences`},
		{"nodes", "n1", "", `{"spec":{"configSource":{}}}`, `node "n1" is not allowed to create pods with a non-nil configSource`},
		{"nodes", "n1", `{}`, `{"spec":{"configSource":{"configMap":{"name":"a"}}}}`, `node "n1" is not allowed to update configSource to a new non-nil configSource`},
		{"nodes", "n1", `{"spec":{"configSource":{"configMap":{"name":"a"}}}}`, `{}`, ""},
		{"nodes/status", "n1", `{}`, `{"status":{"phase":"x"}}`, ""},
		{"nodes/status", "n2", `{}`, `{}`, `node "n1" is not allowed to modify node "n2"`},

		{"persistentvolumeclaims", "ns/c", `{}`, `{}`, "may only update PVC status"},
		{"persistentvolumeclaims/status", "ns/c", `{"spec":{"x":"y"}}`, `{"spec":{"x":"y"},"status":{"capacity":{"storage":"1"}}}`, ""},
		{"persistentvolumeclaims/status", "ns/c", `{}`, `{"status":{"phase":"Bound"}}`, `node "n1" is not allowed to update fields other than status.quantity and status.conditions: status.phase`},
		{"persistentvolumeclaims/status", "ns/c", `{}`, `{"metadata":{"labels":{"a":"b"}},"status":{"allocatedResources":{"a":"1"},"allocatedResourceStatuses":{"a":"b"}}}`, `status.conditions: metadata.labels`},
		{"serviceaccounts/token", "ns/a", "", bound(`"apiVersion":"v1","kind":"Pod","name":"p1","uid":"u-p1"`), ""},
		{"serviceaccounts/token", "ns/a", "", `{}`, "node requested token not bound to a pod"},
		{"serviceaccounts/token", "ns/a", "", bound(`"apiVersion":"v1","kind":"Secret","name":"p1","uid":"u-p1"`), "node requested token not bound to a pod"},
		{"serviceaccounts/token", "ns/a", "", bound(`"apiVersion":"v1","kind":"Pod","name":"p1"`), "node requested token with a pod binding without a uid"},
		{"serviceaccounts/token", "ns/a", "", bound(`"apiVersion":"v1","kind":"Pod","uid":"u-p1"`), "node requested token not bound to a pod"},
		{"serviceaccounts/token", "ns/a", "", bound(`"apiVersion":"v1","kind":"Pod","name":"p1","uid":"old"`), "the UID in the bound object reference (old) does not match"},
		{"serviceaccounts/token", "ns/a", "", bound(`"apiVersion":"v1","kind":"Pod","name":"p2","uid":"u-p2"`), "node requested token bound to a pod scheduled on a different node"},
		{"serviceaccounts/token", "ns/a", "", bound(`"apiVersion":"v1","kind":"Pod","name":"p3","uid":"u"`), `pods "p3" not found`},
		{"leases", "platform-node-lease/n1", "", "{}", ""},
		{"leases", "platform-node-lease/n2", "", "{}", "can only access node lease with the same name as the requesting node"},
		{"leases", "ns/n1", "", "{}", `can only access leases in the "platform-node-lease" system namespace`},
		{"csinodes", "n1", "", "{}", ""},
		{"csinodes", "n2", "{}", "{}", "can only access CSINode with the same name as the requesting node"},
		{"resourceslices", "s", "", on("n1", ""), ""},
		{"resourceslices", "s", "", on("n2", ""), "can only create ResourceSlice with the same NodeName as the requesting node"},
		{"resourceslices", "s", "", `{"spec":{"allNodes":true}}`, "can only create ResourceSlice with the same NodeName as the requesting node"},
		{"resourceslices", "s", on("n1", ""), "", ""},
		{"resourceslices", "s", on("n2", ""), "", "can only delete ResourceSlice with the same NodeName as the requesting node"},
		{"resourceslices", "s", on("n2", ""), on("n2", ""), ""},
		{"certificatesigningrequests", "c", "", signing("platform.io/node-serving", mine), ""},
		{"certificatesigningrequests", "c", "", signing("platform.io/node-serving", theirs), "can only create a node CSR with CN=system:node:n1"},
		{"certificatesigningrequests", "c", "", signing("platform.io/apiserver-client-node", theirs), "can only create a node CSR with CN=system:node:n1"},
		{"certificatesigningrequests", "c", "", signing("platform.io/node-serving", "eA=="), "unable to parse csr: PEM block type must be CERTIFICATE REQUEST"},
		{"certificatesigningrequests", "c", "", signing("example.com/x", theirs), ""},
	} {
		resource, sub, _ := strings.Cut(c.resource, "/")
		namespace, name, ok := strings.Cut(c.key, "/")
		if !ok {
			namespace, name = "", c.key
		}
		attempt := func(user *authn.User) error {
			a := &request.Attributes{User: user, Kind: &schema.Kind{Resource: resource}, Subresource: sub, Key: meta.Key{Namespace: namespace, Name: name}}
			if c.old != "" {
				a.Old = parseTree(t, c.old)
			}
			if c.new != "" {
				a.New = parseTree(t, c.new)
			}
			return registration.Mutator.Admit(a)
		}
		err := attempt(&authn.User{Name: "system:node:n1", Groups: []string{"system:nodes"}})
		if (err != nil) != (c.fault != "") || err != nil && !strings.Contains(err.Error(), c.fault) {
			t.Errorf("%+v: got %v", c, err)
		}
		if err := attempt(&authn.User{Name: "system:node:n1"}); err != nil {
			t.Errorf("%+v of somebody else: %v", c, err)
		}
		if err := attempt(&authn.User{Name: "system:node:", Groups: []string{"system:nodes"}}); err == nil {
			t.Errorf("%+v of a node without a name is admitted", c)
		}
	}
}

// audienceAuthorizer allows tokens for one audience and fails for another.
type audienceAuthorizer struct{}

func (audienceAuthorizer) Authorize(a authz.Attributes) (authz.Decision, string) {
	switch {
	case a.Verb != "request-serviceaccounts-token-audience" || a.Namespace != "ns" || a.Name != "robot" || a.Group != "" || a.Version != "v1":
		return authz.Deny, "another question"
	case a.Resource == "allowed":
		return authz.Allow, ""
	case a.Resource == "unknown":
		return authz.Failed, "no answer"
	}
	return authz.NoOpinion, ""
}

// TestNodeAudiences tests that nodes request tokens for the audiences of their Pods' volumes and
// for allowed ones.
func TestNodeAudiences(t *testing.T) {
	object := func(text string) *policy.Object { return &policy.Object{Tree: parseTree(t, text)} }
	objects := &fakeCluster{objects: map[string]*policy.Object{
		"persistentvolumeclaims ns/c":   object(`{"spec":{"volumeName":"v"}}`),
		"persistentvolumeclaims ns/p-e": object(`{"spec":{"volumeName":"w"}}`),
		"persistentvolumeclaims ns/u":   object(`{"spec":{}}`),
		"persistentvolumes /v":          object(`{"spec":{"csi":{"driver":"d1"}}}`),
		"persistentvolumes /w":          object(`{"spec":{"awsElasticBlockStore":{}}}`),
		"csidrivers /d1":                object(`{"spec":{"tokenRequests":[{"audience":"x"},{"audience":"one"}]}}`),
		"csidrivers /ebs.csi.aws.com":   object(`{"spec":{"tokenRequests":[{"audience":"ebs"}]}}`),
	}}
	r := node.Restriction(meta.Platform, objects, audienceAuthorizer{})[1]
	accounts := &schema.Kind{Resource: "serviceaccounts"}
	if !slices.Equal(r.Resources, []string{"/serviceaccounts/token"}) || r.Stage != request.MayBlock {
		t.Error("what waits is another thing than a request for a token")
	}
	const missing = " not found in pod spec volume, system:node:n1 is not authorized to request tokens for this audience"
	for _, c := range []struct{ volumes, audiences, fault string }{
		{`{"projected":{"sources":[{"configMap":{}},{"serviceAccountToken":{"path":"t"}}]}}`, ``, ""},
		{`{"projected":{"sources":[{"serviceAccountToken":{"audience":"one"}}]}}`, `"one"`, ""},
		{`{"projected":{"sources":[{"serviceAccountToken":{"audience":"one"}}]}}`, `"two"`, `audience "two"` + missing},
		{`{"projected":{"sources":[{"serviceAccountToken":{"audience":"one"}}]}}`, ``, `audience ""` + missing},
		{``, ``, `audience ""` + missing},
		{``, `"allowed"`, ""},
		{``, `"unknown"`, `audience "unknown" not found in pod spec volume, error authorizing system:node:n1 to request tokens for this audience: no answer`},
		{``, `"one","two"`, "node may only request 0 or 1 audiences"},
		{`{"csi":{"driver":"d1"}}`, `"one"`, ""},
		{`{"csi":{"driver":"d2"}}`, `"one"`, `error validating audience "one": csidriver.storage.platform.io "d2" not found`},
		{`{"csi":{"driver":"d2"}},{"csi":{"driver":"d1"}}`, `"one"`, ""},
		{`{"csi":{"driver":"d2"}},{"csi":{"driver":"d3"}}`, `"one"`, `[csidriver.storage.platform.io "d2" not found, csidriver.storage.platform.io "d3" not found]`},
		{`{"persistentVolumeClaim":{"claimName":"c"}}`, `"one"`, ""},
		{`{"persistentVolumeClaim":{"claimName":"c"}}`, `"two"`, `audience "two"` + missing},
		{`{"persistentVolumeClaim":{"claimName":"d"}}`, `"one"`, `persistentvolumeclaim "d" not found`},
		{`{"persistentVolumeClaim":{"claimName":"u"}}`, `"one"`, `persistentvolume "" not found`},
		{`{"name":"e","ephemeral":{"volumeClaimTemplate":{"spec":{}}}}`, `"ebs"`, ""},
		{`{"awsElasticBlockStore":{}}`, `"ebs"`, ""},
		{`{"emptyDir":{}}`, `"ebs"`, `audience "ebs"` + missing},
	} {
		objects.objects["pods ns/p"] = object(`{"spec":{"volumes":[` + c.volumes + `]}}`)
		objects.objects["pods ns/p"].Key = meta.Key{Namespace: "ns", Name: "p"}
		err := r.Mutator.Admit(&request.Attributes{
			User: &authn.User{Name: "system:node:n1"}, Kind: accounts, Subresource: "token", Key: meta.Key{Namespace: "ns", Name: "robot"},
			New: parseTree(t, `{"spec":{"audiences":[`+c.audiences+`],"boundObjectRef":{"name":"p"}}}`),
		})
		if (err != nil) != (c.fault != "") || err != nil && !strings.Contains(err.Error(), c.fault) {
			t.Errorf("%+v: got %v", c, err)
		}
	}
}
