package node

import (
	"github.com/troupe-api/troupe/kinds/rules"
	"github.com/troupe-api/troupe/kinds/schema"
	"github.com/troupe-api/troupe/policy"
)

// secretSources are the sources of volumes that name their Secret as secretRef.
var secretSources = []string{"cephfs", "cinder", "flexVolume", "iscsi", "rbd", "scaleIO", "storageos"}

// needs are what one Pod names, each once.
type needs struct {
	namespace string
	seen      map[vertex]bool
	all       []vertex
}

func (n *needs) add(sort sort, name string) {
	v := vertex{sort, n.namespace, name}
	if name != "" && !n.seen[v] {
		n.seen[v] = true
		n.all = append(n.all, v)
	}
}

// podNeeds are the objects that a Pod names.
func podNeeds(p *policy.Object) []vertex {
	n := &needs{namespace: p.Key.Namespace, seen: map[vertex]bool{}}
	spec := rules.Sub(p.Tree, "spec")
	n.add(ofAccount, rules.Text(spec, "serviceAccountName"))
	for _, secret := range rules.Trees(spec, "imagePullSecrets") {
		n.add(ofSecret, rules.Text(secret, "name"))
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
		n.add(ofResourceClaim, rules.Text(c, "resourceClaimName"))
	}
	status := rules.Sub(p.Tree, "status")
	for _, c := range rules.Trees(status, "resourceClaimStatuses") {
		n.add(ofResourceClaim, rules.Text(c, "resourceClaimName"))
	}
	n.add(ofResourceClaim, rules.Text(rules.Sub(status, "extendedResourceClaimStatus"), "resourceClaimName"))
	return n.all
}

func (n *needs) container(c schema.Tree) {
	for _, from := range rules.Trees(c, "envFrom") {
		n.add(ofSecret, rules.Text(rules.Sub(from, "secretRef"), "name"))
		n.add(ofConfigMap, rules.Text(rules.Sub(from, "configMapRef"), "name"))
	}
	for _, env := range rules.Trees(c, "env") {
		from := rules.Sub(env, "valueFrom")
		n.add(ofSecret, rules.Text(rules.Sub(from, "secretKeyRef"), "name"))
		n.add(ofConfigMap, rules.Text(rules.Sub(from, "configMapKeyRef"), "name"))
	}
}

func (n *needs) volume(v schema.Tree, podName string) {
	n.add(ofClaim, rules.Text(rules.Sub(v, "persistentVolumeClaim"), "claimName"))
	if rules.Has(v, "ephemeral") {
		n.add(ofClaim, podName+"-"+rules.Text(v, "name"))
	}
	n.add(ofConfigMap, rules.Text(rules.Sub(v, "configMap"), "name"))
	n.add(ofSecret, rules.Text(rules.Sub(v, "secret"), "secretName"))
	n.add(ofSecret, rules.Text(rules.Sub(v, "azureFile"), "secretName"))
	n.add(ofSecret, rules.Text(rules.Sub(v, "csi", "nodePublishSecretRef"), "name"))
	for _, source := range secretSources {
		n.add(ofSecret, rules.Text(rules.Sub(v, source, "secretRef"), "name"))
	}
	for _, source := range rules.Trees(rules.Sub(v, "projected"), "sources") {
		n.add(ofSecret, rules.Text(rules.Sub(source, "secret"), "name"))
		n.add(ofConfigMap, rules.Text(rules.Sub(source, "configMap"), "name"))
	}
}

// readVolume reads a PersistentVolume; bound is false if it is for no claim. Secrets without a
// namespace are in that of the claim. Those for the controller of a driver are none of the node's.
func readVolume(t schema.Tree) (v volume, bound bool) {
	spec := rules.Sub(t, "spec")
	ref := rules.Sub(spec, "claimRef")
	v.claim = vertex{ofClaim, rules.Text(ref, "namespace"), rules.Text(ref, "name")}
	if v.claim.name == "" {
		return volume{}, false
	}
	add := func(namespace, name string) {
		if namespace == "" {
			namespace = v.claim.namespace
		}
		if name != "" {
			v.secrets = append(v.secrets, vertex{ofSecret, namespace, name})
		}
	}
	azure := rules.Sub(spec, "azureFile")
	add(rules.Text(azure, "secretNamespace"), rules.Text(azure, "secretName"))
	for _, source := range secretSources {
		secret := rules.Sub(spec, source, "secretRef")
		add(rules.Text(secret, "namespace"), rules.Text(secret, "name"))
	}
	for _, name := range []string{"nodeStageSecretRef", "nodePublishSecretRef", "nodeExpandSecretRef"} {
		secret := rules.Sub(spec, "csi", name)
		add(rules.Text(secret, "namespace"), rules.Text(secret, "name"))
	}
	return v, true
}
