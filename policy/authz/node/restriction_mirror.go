package node

import (
	"fmt"
	"slices"

	"github.com/troupe-api/troupe/kinds/meta"
	"github.com/troupe-api/troupe/kinds/tree"
	"github.com/troupe-api/troupe/policy"
)

// apiReference returns a resource to which a Pod refers, or "" if there is none. An unknown volume
// type is an error. Mirror Pods must not refer to other objects, because a reference would give the
// node access.
func apiReference(pod tree.Tree, key meta.Key) (string, error) {
	spec := pod.Object("spec")
	refs := podReferences(&policy.Object{Key: key, Tree: pod})
	names := func(kind vertexKind) bool {
		return slices.ContainsFunc(refs, func(v vertex) bool { return v.kind == kind })
	}
	switch {
	case names(serviceAccountVertex):
		return "serviceaccounts", nil
	case names(secretVertex):
		return "secrets", nil
	case names(configMapVertex):
		return "configmaps", nil
	case len(spec.List("resourceClaims")) > 0:
		return "resourceclaims", nil
	}
	for _, v := range spec.Objects("volumes") {
		if named, err := volumeReference(v); named != "" || err != nil {
			return named, err
		}
	}
	return "", nil
}

// namingSources and projectedSources map volume sources to the resources to which they refer.
// plainSources refer to no objects.
var (
	namingSources = map[string]string{
		"configMap": "configmaps (via configmap volumes)", "secret": "secrets (via secret volumes)",
		"csi": "csidrivers (via CSI volumes)", "glusterfs": "endpoints (via glusterFS volumes)",
		"persistentVolumeClaim": "persistentvolumeclaims", "ephemeral": "persistentvolumeclaims (via ephemeral volumes)",
		"azureFile": "secrets (via azureFile volumes)",
	}
	plainSources = []string{
		"awsElasticBlockStore", "azureDisk", "cephfs", "cinder", "downwardAPI", "emptyDir", "fc", "flexVolume", "flocker", "gcePersistentDisk",
		"gitRepo", "hostPath", "image", "iscsi", "nfs", "photonPersistentDisk", "portworxVolume", "quobyte", "rbd", "scaleIO", "storageos", "vsphereVolume",
	}
	projectedSources = map[string]string{
		"configMap": "configmaps (via projected volumes)", "secret": "secrets (via projected volumes)",
		"serviceAccountToken": "serviceaccounts (via projected volumes)",
		"clusterTrustBundle":  "clustertrustbundles", "podCertificate": "podcertificates",
	}
)

// volumeReference returns the resource to which a volume refers, or "". An unknown source is an
// error, because it might refer to an object.
func volumeReference(volume tree.Tree) (string, error) {
	for _, source := range volume.SortedKeys() {
		switch {
		case source == "name" || slices.Contains(plainSources, source):
		case namingSources[source] != "":
			return namingSources[source], nil
		case source == "projected":
			if named, err := projectedReference(volume); named != "" || err != nil {
				return named, err
			}
		default:
			return "", fmt.Errorf("unknown volume type for volume  %q", volume.String("name"))
		}
	}
	return "", nil
}

func projectedReference(volume tree.Tree) (string, error) {
	for _, source := range volume.Object("projected").Objects("sources") {
		for _, name := range source.SortedKeys() {
			switch {
			case projectedSources[name] != "":
				return projectedSources[name], nil
			case name != "downwardAPI":
				return "", fmt.Errorf("unknown source for projected volume %q", volume.String("name"))
			}
		}
	}
	return "", nil
}
