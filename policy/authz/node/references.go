package node

import (
	"github.com/troupe-api/troupe/kinds/rules"
	"github.com/troupe-api/troupe/kinds/schema"
	"github.com/troupe-api/troupe/policy"
)

// secretSources are the sources of volumes that name their Secret as secretRef.
var secretSources = []string{"cephfs", "cinder", "flexVolume", "iscsi", "rbd", "scaleIO", "storageos"}

// refCollector are what one Pod names, each once.
type refCollector struct {
	namespace string
	seen      map[vertex]bool
	refs      []vertex
}

func (n *refCollector) add(kind vertexKind, name string) {
	v := vertex{kind, n.namespace, name}
	if name != "" && !n.seen[v] {
		n.seen[v] = true
		n.refs = append(n.refs, v)
	}
}

// podReferences are the objects that a Pod names.
func podReferences(p *policy.Object) []vertex {
	n := &refCollector{namespace: p.Key.Namespace, seen: map[vertex]bool{}}
	spec := rules.Nested(p.Tree, "spec")
	n.add(serviceAccountVertex, rules.String(spec, "serviceAccountName"))
	for _, secret := range rules.Trees(spec, "imagePullSecrets") {
		n.add(secretVertex, rules.String(secret, "name"))
	}
	for _, list := range []string{"initContainers", "containers", "ephemeralContainers"} {
		for _, c := range rules.Trees(spec, list) {
			n.container(c)
		}
	}
	for _, v := range rules.Trees(spec, "volumes") {
		n.volume(v, p.Key.Name)
	}
	for _, c := range rules.Trees(spec, "resourceClaims") {
		n.add(resourceClaimVertex, rules.String(c, "resourceClaimName"))
	}
	status := rules.Nested(p.Tree, "status")
	for _, c := range rules.Trees(status, "resourceClaimStatuses") {
		n.add(resourceClaimVertex, rules.String(c, "resourceClaimName"))
	}
	n.add(resourceClaimVertex, rules.String(rules.Nested(status, "extendedResourceClaimStatus"), "resourceClaimName"))
	return n.refs
}

func (n *refCollector) container(c schema.Tree) {
	for _, from := range rules.Trees(c, "envFrom") {
		n.add(secretVertex, rules.String(rules.Nested(from, "secretRef"), "name"))
		n.add(configMapVertex, rules.String(rules.Nested(from, "configMapRef"), "name"))
	}
	for _, env := range rules.Trees(c, "env") {
		from := rules.Nested(env, "valueFrom")
		n.add(secretVertex, rules.String(rules.Nested(from, "secretKeyRef"), "name"))
		n.add(configMapVertex, rules.String(rules.Nested(from, "configMapKeyRef"), "name"))
	}
}

func (n *refCollector) volume(v schema.Tree, podName string) {
	n.add(pvcVertex, rules.String(rules.Nested(v, "persistentVolumeClaim"), "claimName"))
	if rules.Has(v, "ephemeral") {
		n.add(pvcVertex, podName+"-"+rules.String(v, "name"))
	}
	n.add(configMapVertex, rules.String(rules.Nested(v, "configMap"), "name"))
	n.add(secretVertex, rules.String(rules.Nested(v, "secret"), "secretName"))
	n.add(secretVertex, rules.String(rules.Nested(v, "azureFile"), "secretName"))
	n.add(secretVertex, rules.String(rules.Nested(v, "csi", "nodePublishSecretRef"), "name"))
	for _, source := range secretSources {
		n.add(secretVertex, rules.String(rules.Nested(v, source, "secretRef"), "name"))
	}
	for _, source := range rules.Trees(rules.Nested(v, "projected"), "sources") {
		n.add(secretVertex, rules.String(rules.Nested(source, "secret"), "name"))
		n.add(configMapVertex, rules.String(rules.Nested(source, "configMap"), "name"))
	}
}

// readVolume reads a PersistentVolume; bound is false if it is for no claim. Secrets without a
// namespace are in that of the claim. Those for the controller of a driver are none of the node's.
func readVolume(t schema.Tree) (v volume, bound bool) {
	spec := rules.Nested(t, "spec")
	ref := rules.Nested(spec, "claimRef")
	v.claim = vertex{pvcVertex, rules.String(ref, "namespace"), rules.String(ref, "name")}
	if v.claim.name == "" {
		return volume{}, false
	}
	add := func(namespace, name string) {
		if namespace == "" {
			namespace = v.claim.namespace
		}
		if name != "" {
			v.secrets = append(v.secrets, vertex{secretVertex, namespace, name})
		}
	}
	azure := rules.Nested(spec, "azureFile")
	add(rules.String(azure, "secretNamespace"), rules.String(azure, "secretName"))
	for _, source := range secretSources {
		secret := rules.Nested(spec, source, "secretRef")
		add(rules.String(secret, "namespace"), rules.String(secret, "name"))
	}
	for _, name := range []string{"nodeStageSecretRef", "nodePublishSecretRef", "nodeExpandSecretRef"} {
		secret := rules.Nested(spec, "csi", name)
		add(rules.String(secret, "namespace"), rules.String(secret, "name"))
	}
	return v, true
}
