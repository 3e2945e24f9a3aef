package node

import (
	"github.com/troupe-api/troupe/kinds/tree"
	"github.com/troupe-api/troupe/policy"
)

// secretSources lists the volume sources that refer to a Secret by secretRef.
var secretSources = []string{"cephfs", "cinder", "flexVolume", "iscsi", "rbd", "scaleIO", "storageos"}

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

// SecretsOf returns the names of the Secrets to which a Pod refers.
func SecretsOf(pod tree.Tree) (names []string) {
	for _, v := range podReferences(&policy.Object{Tree: pod}) {
		if v.kind == secretVertex {
			names = append(names, v.name)
		}
	}
	return names
}

// podReferences returns the objects to which a Pod refers. The list must match the objects that
// kubelets read for the Pod, because it determines node access.
func podReferences(p *policy.Object) []vertex {
	n := &refCollector{namespace: p.Key.Namespace, seen: map[vertex]bool{}}
	spec := p.Tree.Object("spec")
	n.add(serviceAccountVertex, spec.String("serviceAccountName"))
	for _, secret := range spec.Objects("imagePullSecrets") {
		n.add(secretVertex, secret.String("name"))
	}
	for _, list := range []string{"initContainers", "containers", "ephemeralContainers"} {
		for _, c := range spec.Objects(list) {
			n.container(c)
		}
	}
	for _, v := range spec.Objects("volumes") {
		n.volume(v, p.Key.Name)
	}
	for _, c := range spec.Objects("resourceClaims") {
		n.add(resourceClaimVertex, c.String("resourceClaimName"))
	}
	status := p.Tree.Object("status")
	for _, c := range status.Objects("resourceClaimStatuses") {
		n.add(resourceClaimVertex, c.String("resourceClaimName"))
	}
	n.add(resourceClaimVertex, status.Object("extendedResourceClaimStatus").String("resourceClaimName"))
	return n.refs
}

func (n *refCollector) container(c tree.Tree) {
	for _, from := range c.Objects("envFrom") {
		n.add(secretVertex, from.Object("secretRef").String("name"))
		n.add(configMapVertex, from.Object("configMapRef").String("name"))
	}
	for _, env := range c.Objects("env") {
		from := env.Object("valueFrom")
		n.add(secretVertex, from.Object("secretKeyRef").String("name"))
		n.add(configMapVertex, from.Object("configMapKeyRef").String("name"))
	}
}

// volume collects the references of a Pod's volume. For a generic ephemeral volume, this is the
// claim <pod>-<volume>, which a controller creates.
func (n *refCollector) volume(v tree.Tree, podName string) {
	n.add(pvcVertex, v.Object("persistentVolumeClaim").String("claimName"))
	if v.Has("ephemeral") {
		n.add(pvcVertex, podName+"-"+v.String("name"))
	}
	n.add(configMapVertex, v.Object("configMap").String("name"))
	n.add(secretVertex, v.Object("secret").String("secretName"))
	n.add(secretVertex, v.Object("azureFile").String("secretName"))
	n.add(secretVertex, v.Object("csi", "nodePublishSecretRef").String("name"))
	for _, source := range secretSources {
		n.add(secretVertex, v.Object(source, "secretRef").String("name"))
	}
	for _, source := range v.Object("projected").Objects("sources") {
		n.add(secretVertex, source.Object("secret").String("name"))
		n.add(configMapVertex, source.Object("configMap").String("name"))
	}
}

// readVolume returns a PersistentVolume's claim and the Secrets that a node needs to mount the
// volume. bound is false if the volume has no claim. Secrets default to the claim's namespace.
// Secrets that only a CSI controller needs are omitted.
func readVolume(t tree.Tree) (v volume, bound bool) {
	spec := t.Object("spec")
	ref := spec.Object("claimRef")
	v.claim = vertex{pvcVertex, ref.String("namespace"), ref.String("name")}
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
	azure := spec.Object("azureFile")
	add(azure.String("secretNamespace"), azure.String("secretName"))
	for _, source := range secretSources {
		secret := spec.Object(source, "secretRef")
		add(secret.String("namespace"), secret.String("name"))
	}
	for _, name := range []string{"nodeStageSecretRef", "nodePublishSecretRef", "nodeExpandSecretRef"} {
		secret := spec.Object("csi", name)
		add(secret.String("namespace"), secret.String("name"))
	}
	return v, true
}
