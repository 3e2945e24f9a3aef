package node

import (
	"fmt"
	"net/http"
	"slices"
	"strings"

	"github.com/troupe-api/troupe/kinds/meta"
	"github.com/troupe-api/troupe/kinds/tree"
	"github.com/troupe-api/troupe/policy"
	"github.com/troupe-api/troupe/policy/authz"
)

// admitPodCertificateRequest lets a node request certificates only for its Pods. The signer must be
// used by a volume of the Pod, or allowed by the authorizer. It may block.
func (r *restriction) admitPodCertificateRequest(a nodeAttributes) error {
	if a.operation() != "CREATE" {
		return a.forbiddenf("unexpected operation %v", a.operation())
	}
	spec := a.New.Object("spec")
	signer, account := spec.String("signerName"), spec.String("serviceAccountName")
	if name := nodeName(a.New); name != a.node {
		return a.forbiddenf("PodCertificateRequest.Spec.NodeName=%q, which is not the requesting node %q", name, a.node)
	}
	if _, err := r.named(spec, "node", "nodes", ""); err != nil {
		return err
	}
	pod, err := r.named(spec, "pod", "pods", a.Key.Namespace)
	if err != nil {
		return err
	}
	name := pod.Key.Namespace + "/" + pod.Key.Name
	own := pod.Tree.Object("spec").String("serviceAccountName")
	switch {
	case nodeName(pod.Tree) != a.node:
		return a.forbiddenf("pod %q is not running on node %q named in the PodCertificateRequest", name, a.node)
	case pod.Tree.Annotations().Has(r.mirrorAnnotation):
		return a.forbiddenf("pod %q is a mirror pod", name)
	case account != own:
		return a.forbiddenf("PodCertificateRequest for pod %q contains serviceAccountName (%q) that differs from running pod (%q)", name, account, own)
	}
	if _, err := r.named(spec, "serviceAccount", "serviceaccounts", a.Key.Namespace); err != nil {
		return err
	}
	for _, v := range pod.Tree.Object("spec").Objects("volumes") {
		if slices.ContainsFunc(v.Object("projected").Objects("sources"), func(source tree.Tree) bool {
			return source.Object("podCertificate").String("signerName") == signer
		}) {
			return nil
		}
	}
	decision, reason := r.authorizer.Authorize(authz.Attributes{
		User: a.User, Verb: "request-serviceaccounts-podcertificate-signer", ResourceRequest: true, Namespace: a.Key.Namespace, Name: account,
		Group: a.Kind.Group, Version: a.Kind.Version, Resource: strings.ReplaceAll(signer, "/", ":"),
	})
	switch decision {
	case authz.Allow:
		return nil
	case authz.Failed:
		return a.forbiddenf("error authorizing %s to request podcertificaterequests for signer %q: %s", a.User.Name, signer, reason)
	}
	return a.forbiddenf("pod %q does not mount a podCertificate projected volume for signer %q", name, signer)
}

// named returns the object identified by the PodCertificateRequest fields that begin with what,
// such as podName. If the object does not exist or has another UID, the error makes the node retry.
func (r *restriction) named(spec tree.Tree, what, resource, namespace string) (*policy.Object, error) {
	name, uid := spec.String(what+"Name"), spec.String(what+"UID")
	o := r.objects.Get(meta.GroupResource{Resource: resource}, namespace, name)
	if o == nil || o.Meta.UID != uid {
		message := fmt.Sprintf("while retrieving %s %q named in the PodCertificateRequest: no object with UID %q found", what, name, uid)
		return nil, &meta.Status{Code: http.StatusInternalServerError, Message: message}
	}
	return o, nil
}
