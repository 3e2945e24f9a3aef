package node

import (
	"errors"
	"fmt"
	"slices"
	"strings"

	"github.com/troupe-api/troupe/kinds/meta"
	"github.com/troupe-api/troupe/kinds/request"
	"github.com/troupe-api/troupe/kinds/tree"
	"github.com/troupe-api/troupe/policy"
	"github.com/troupe-api/troupe/policy/authz"
)

// audienceRestriction limits the audiences of the tokens that a node requests. Otherwise a
// compromised node could impersonate its Pods to other services. An audience is allowed if a Pod's
// volume or its CSI driver uses it, or if the authorizer allows it for the node. The authorizer may
// block on a remote service.
type audienceRestriction struct {
	request.HandlesAll
	objects    policy.Objects
	authorizer authz.Authorizer
	driverName string // name of the CSI driver resource in messages
}

// Admit checks the requested audience. It runs before defaulting, so the audience may be missing. A
// missing audience counts as empty, as in a volume without an audience.
func (r audienceRestriction) Admit(a *request.Attributes) error {
	audiences := append(a.New.Object("spec").Strings("audiences"), "")
	if len(audiences) > 2 {
		return a.Forbidden("node may only request 0 or 1 audiences")
	}
	audience := audiences[0]
	pods, pod := meta.GroupResource{Resource: "pods"}, a.New.Object("spec", "boundObjectRef").String("name")
	bound := r.objects.Get(pods, a.Key.Namespace, pod)
	if bound == nil {
		return meta.NewNotFound(pods, pod)
	}
	found, err := r.podHasAudience(bound, audience)
	switch {
	case err != nil:
		return a.Forbidden(fmt.Sprintf("error validating audience %q: %v", audience, err))
	case found:
		return nil
	}
	decision, reason := r.authorizer.Authorize(authz.Attributes{
		User: a.User, Verb: "request-serviceaccounts-token-audience", ResourceRequest: true,
		Version: "v1", Resource: audience, Namespace: a.Key.Namespace, Name: a.Key.Name,
	})
	switch decision {
	case authz.Allow:
		return nil
	case authz.Failed:
		return a.Forbidden(fmt.Sprintf("error authorizing %s to request tokens for audience %q: %s", a.User.Name, audience, reason))
	}
	return a.Forbidden(fmt.Sprintf("%s is not authorized to request tokens for audience %q", a.User.Name, audience))
}

// podHasAudience reports whether a volume of the Pod uses the audience. If no volume does, the
// error lists the volumes whose claim or CSI driver could not be found.
func (r audienceRestriction) podHasAudience(pod *policy.Object, audience string) (bool, error) {
	var faults []string
	for _, v := range pod.Tree.Object("spec").Objects("volumes") {
		for _, source := range v.Object("projected").Objects("sources") {
			if source.Has("serviceAccountToken") && source.Object("serviceAccountToken").String("audience") == audience {
				return true, nil
			}
		}
		driver, err := r.driverOf(pod.Key, v)
		found := false
		if err == nil && driver != "" {
			found, err = r.driverHasAudience(driver, audience)
		}
		if found {
			return true, nil
		}
		if err != nil && !slices.Contains(faults, err.Error()) {
			faults = append(faults, err.Error())
		}
	}
	switch len(faults) {
	case 0:
		return false, nil
	case 1:
		return false, errors.New(faults[0])
	}
	return false, errors.New("[" + strings.Join(faults, ", ") + "]")
}

func (r audienceRestriction) driverOf(pod meta.Key, volume tree.Tree) (string, error) {
	switch {
	case volume.Object("ephemeral").Has("volumeClaimTemplate"):
		return r.driverOfClaim(pod.Namespace, pod.Name+"-"+volume.String("name"))
	case volume.Has("persistentVolumeClaim"):
		return r.driverOfClaim(pod.Namespace, volume.Object("persistentVolumeClaim").String("claimName"))
	}
	return driverOfSource(volume), nil
}

func (r audienceRestriction) driverOfClaim(namespace, name string) (string, error) {
	claim, err := r.get("persistentvolumeclaim", meta.GroupResource{Resource: "persistentvolumeclaims"}, namespace, name)
	if err != nil {
		return "", err
	}
	volume, err := r.get("persistentvolume", meta.GroupResource{Resource: "persistentvolumes"}, "", claim.Object("spec").String("volumeName"))
	return driverOfSource(volume.Object("spec")), err
}

func (r audienceRestriction) driverHasAudience(name, audience string) (bool, error) {
	driver, err := r.get(r.driverName, meta.GroupResource{Group: "storage.platform.io", Resource: "csidrivers"}, "", name)
	return slices.ContainsFunc(driver.Object("spec").Objects("tokenRequests"), func(request tree.Tree) bool {
		return request.String("audience") == audience
	}), err
}

func (r audienceRestriction) get(what string, resource meta.GroupResource, namespace, name string) (tree.Tree, error) {
	o := r.objects.Get(resource, namespace, name)
	if o == nil {
		return nil, fmt.Errorf("%s %q not found", what, name)
	}
	return o.Tree, nil
}

// successors maps in-tree volume sources to the CSI drivers that replace them.
var successors = map[string]string{
	"awsElasticBlockStore": "ebs.csi.aws.com", "azureDisk": "disk.csi.azure.com", "azureFile": "file.csi.azure.com",
	"cinder": "cinder.csi.openstack.org", "gcePersistentDisk": "pd.csi.storage.gke.io", "portworxVolume": "pxd.portworx.com",
	"vsphereVolume": "csi.vsphere.vmware.com",
}

// driverOfSource returns the CSI driver of a volume, or "". For an in-tree volume, it returns the
// CSI driver that replaces the in-tree plugin.
func driverOfSource(volume tree.Tree) string {
	if volume.Has("csi") {
		return volume.Object("csi").String("driver")
	}
	for source, driver := range successors {
		if volume.Has(source) {
			return driver
		}
	}
	return ""
}
