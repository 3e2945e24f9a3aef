package policy

import (
	"fmt"
	"maps"
	"math/rand/v2"
	"slices"
	"testing"

	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/types"

	"github.com/troupe-api/troupe/kinds/meta"
	"github.com/troupe-api/troupe/kinds/request"
	"github.com/troupe-api/troupe/kinds/schema"
	"github.com/troupe-api/troupe/kinds/selector"
	"github.com/troupe-api/troupe/policy/authn"
	"github.com/troupe-api/troupe/policy/authz"
	nodeauthz "github.com/troupe-api/troupe/policy/authz/node"
	"github.com/troupe-api/troupe/test/client"
)

// A nodeOracle knows which objects each Pod and volume was generated to refer to, and decides by
// the published rules of the Node authorizer.
type nodeOracle struct {
	pods    map[meta.Key]oraclePod
	volumes map[meta.Key]oracleVolume
	named   map[meta.Key]string // objects with spec.nodeName
}

type oraclePod struct {
	node   string
	mirror bool // grants no access to what it refers to
	refs   map[meta.Key]bool
}

type oracleVolume struct {
	claim   meta.Key
	secrets map[meta.Key]bool
}

func coreKey(resource, namespace, name string) meta.Key {
	group := map[string]string{
		"volumeattachments": "storage.platform.io", "resourceslices": "resource.platform.io",
		"resourceclaims": "resource.platform.io", "podcertificaterequests": "certificates.platform.io",
	}[resource]
	return meta.Key{GroupResource: meta.GroupResource{Group: group, Resource: resource}, Namespace: namespace, Name: name}
}

// refersTo reports whether a Pod on a node refers to an object. Mirror Pods do not count.
func (o *nodeOracle) refersTo(node string, key meta.Key) bool {
	for _, p := range o.pods {
		if p.node == node && !p.mirror && p.refs[key] {
			return true
		}
	}
	return false
}

func (o *nodeOracle) isRelated(node string, key meta.Key) bool {
	switch key.Resource {
	case "pods":
		p, ok := o.pods[key]
		return ok && p.node == node
	case "volumeattachments", "resourceslices", "podcertificaterequests":
		return o.named[key] == node
	}
	if key.Resource != "persistentvolumes" && o.refersTo(node, key) {
		return true
	}
	for name, v := range o.volumes {
		if (key == name || v.secrets[key]) && o.refersTo(node, v.claim) {
			return true
		}
	}
	return false
}

// nodeVerbs lists the verbs for objects that are related to the node, and those for lists that
// select the node's objects.
var nodeVerbs = map[string]struct{ related, selected, any []string }{
	"secrets":                {related: []string{"get", "list", "watch"}},
	"configmaps":             {related: []string{"get", "list", "watch"}},
	"persistentvolumeclaims": {related: []string{"get"}},
	"persistentvolumes":      {related: []string{"get"}},
	"serviceaccounts":        {related: []string{"get"}},
	"resourceclaims":         {related: []string{"get"}},
	"volumeattachments":      {related: []string{"get"}},
	"pods":                   {related: []string{"get", "list", "watch"}, selected: []string{"list", "watch"}, any: []string{"create", "delete"}},
	"podcertificaterequests": {related: []string{"get"}, selected: []string{"list", "watch"}, any: []string{"create"}},
	"resourceslices":         {related: []string{"get", "update", "patch", "delete"}, selected: []string{"list", "watch", "deletecollection"}, any: []string{"create"}},
}

func (o *nodeOracle) allows(node string, a authz.Attributes) bool {
	verbs := nodeVerbs[a.Resource]
	selected, _ := a.Selectors.Field("spec.nodeName")
	return slices.Contains(verbs.any, a.Verb) || slices.Contains(verbs.selected, a.Verb) && selected == node ||
		slices.Contains(verbs.related, a.Verb) && a.Name != "" && o.isRelated(node, coreKey(a.Resource, a.Namespace, a.Name))
}

// A podReference adds a reference to an object of a resource to a Pod.
type podReference struct {
	resource string
	add      func(p *corev1.Pod, name string)
}

var podReferences = []podReference{
	{"serviceaccounts", func(p *corev1.Pod, name string) { p.Spec.ServiceAccountName = name }},
	{"secrets", func(p *corev1.Pod, name string) {
		p.Spec.ImagePullSecrets = append(p.Spec.ImagePullSecrets, corev1.LocalObjectReference{Name: name})
	}},
	{"secrets", func(p *corev1.Pod, name string) {
		addEnv(p, corev1.EnvVarSource{SecretKeyRef: &corev1.SecretKeySelector{LocalObjectReference: corev1.LocalObjectReference{Name: name}}})
	}},
	{"configmaps", func(p *corev1.Pod, name string) {
		addEnv(p, corev1.EnvVarSource{ConfigMapKeyRef: &corev1.ConfigMapKeySelector{LocalObjectReference: corev1.LocalObjectReference{Name: name}}})
	}},
	{"secrets", func(p *corev1.Pod, name string) {
		from := corev1.EnvFromSource{SecretRef: &corev1.SecretEnvSource{LocalObjectReference: corev1.LocalObjectReference{Name: name}}}
		p.Spec.InitContainers = append(p.Spec.InitContainers, corev1.Container{EnvFrom: []corev1.EnvFromSource{from}})
	}},
	{"configmaps", func(p *corev1.Pod, name string) {
		from := corev1.EnvFromSource{ConfigMapRef: &corev1.ConfigMapEnvSource{LocalObjectReference: corev1.LocalObjectReference{Name: name}}}
		c := corev1.EphemeralContainer{EphemeralContainerCommon: corev1.EphemeralContainerCommon{EnvFrom: []corev1.EnvFromSource{from}}}
		p.Spec.EphemeralContainers = append(p.Spec.EphemeralContainers, c)
	}},
	podVolume("secrets", func(v *corev1.VolumeSource, name string) { v.Secret = &corev1.SecretVolumeSource{SecretName: name} }),
	podVolume("configmaps", func(v *corev1.VolumeSource, name string) {
		v.ConfigMap = &corev1.ConfigMapVolumeSource{LocalObjectReference: corev1.LocalObjectReference{Name: name}}
	}),
	podVolume("secrets", func(v *corev1.VolumeSource, name string) {
		v.Projected = &corev1.ProjectedVolumeSource{Sources: []corev1.VolumeProjection{{Secret: &corev1.SecretProjection{LocalObjectReference: corev1.LocalObjectReference{Name: name}}}}}
	}),
	podVolume("configmaps", func(v *corev1.VolumeSource, name string) {
		v.Projected = &corev1.ProjectedVolumeSource{Sources: []corev1.VolumeProjection{{ConfigMap: &corev1.ConfigMapProjection{LocalObjectReference: corev1.LocalObjectReference{Name: name}}}}}
	}),
	podVolume("secrets", func(v *corev1.VolumeSource, name string) {
		v.AzureFile = &corev1.AzureFileVolumeSource{SecretName: name}
	}),
	podVolume("secrets", func(v *corev1.VolumeSource, name string) {
		v.CSI = &corev1.CSIVolumeSource{NodePublishSecretRef: &corev1.LocalObjectReference{Name: name}}
	}),
	podVolume("secrets", func(v *corev1.VolumeSource, name string) {
		v.CephFS = &corev1.CephFSVolumeSource{SecretRef: &corev1.LocalObjectReference{Name: name}}
	}),
	podVolume("secrets", func(v *corev1.VolumeSource, name string) {
		v.Cinder = &corev1.CinderVolumeSource{SecretRef: &corev1.LocalObjectReference{Name: name}}
	}),
	podVolume("secrets", func(v *corev1.VolumeSource, name string) {
		v.FlexVolume = &corev1.FlexVolumeSource{SecretRef: &corev1.LocalObjectReference{Name: name}}
	}),
	podVolume("secrets", func(v *corev1.VolumeSource, name string) {
		v.ISCSI = &corev1.ISCSIVolumeSource{SecretRef: &corev1.LocalObjectReference{Name: name}}
	}),
	podVolume("secrets", func(v *corev1.VolumeSource, name string) {
		v.RBD = &corev1.RBDVolumeSource{SecretRef: &corev1.LocalObjectReference{Name: name}}
	}),
	podVolume("secrets", func(v *corev1.VolumeSource, name string) {
		v.ScaleIO = &corev1.ScaleIOVolumeSource{SecretRef: &corev1.LocalObjectReference{Name: name}}
	}),
	podVolume("secrets", func(v *corev1.VolumeSource, name string) {
		v.StorageOS = &corev1.StorageOSVolumeSource{SecretRef: &corev1.LocalObjectReference{Name: name}}
	}),
	podVolume("persistentvolumeclaims", func(v *corev1.VolumeSource, name string) {
		v.PersistentVolumeClaim = &corev1.PersistentVolumeClaimVolumeSource{ClaimName: name}
	}),
	{"resourceclaims", func(p *corev1.Pod, name string) {
		p.Spec.ResourceClaims = append(p.Spec.ResourceClaims, corev1.PodResourceClaim{Name: name, ResourceClaimName: &name})
	}},
	{"resourceclaims", func(p *corev1.Pod, name string) {
		p.Status.ResourceClaimStatuses = append(p.Status.ResourceClaimStatuses, corev1.PodResourceClaimStatus{Name: name, ResourceClaimName: &name})
	}},
	{"resourceclaims", func(p *corev1.Pod, name string) {
		p.Status.ExtendedResourceClaimStatus = &corev1.PodExtendedResourceClaimStatus{ResourceClaimName: name}
	}},
}

func addEnv(p *corev1.Pod, from corev1.EnvVarSource) {
	p.Spec.Containers = append(p.Spec.Containers, corev1.Container{Env: []corev1.EnvVar{{Name: "a", ValueFrom: &from}}})
}

func podVolume(resource string, set func(*corev1.VolumeSource, string)) podReference {
	return podReference{resource, func(p *corev1.Pod, name string) {
		v := corev1.Volume{Name: fmt.Sprint("v", len(p.Spec.Volumes))}
		set(&v.VolumeSource, name)
		p.Spec.Volumes = append(p.Spec.Volumes, v)
	}}
}

// volumeSecrets adds a reference to a Secret to a PersistentVolume. An empty namespace is that of
// the claim. Nodes do not need the Secrets of the last two.
var volumeSecrets = []func(s *corev1.PersistentVolumeSource, ref *corev1.SecretReference){
	func(s *corev1.PersistentVolumeSource, ref *corev1.SecretReference) {
		s.AzureFile = &corev1.AzureFilePersistentVolumeSource{SecretName: ref.Name}
		if ref.Namespace != "" {
			s.AzureFile.SecretNamespace = &ref.Namespace
		}
	},
	func(s *corev1.PersistentVolumeSource, ref *corev1.SecretReference) {
		s.CephFS = &corev1.CephFSPersistentVolumeSource{SecretRef: ref}
	},
	func(s *corev1.PersistentVolumeSource, ref *corev1.SecretReference) {
		s.Cinder = &corev1.CinderPersistentVolumeSource{SecretRef: ref}
	},
	func(s *corev1.PersistentVolumeSource, ref *corev1.SecretReference) {
		s.FlexVolume = &corev1.FlexPersistentVolumeSource{SecretRef: ref}
	},
	func(s *corev1.PersistentVolumeSource, ref *corev1.SecretReference) {
		s.ISCSI = &corev1.ISCSIPersistentVolumeSource{SecretRef: ref}
	},
	func(s *corev1.PersistentVolumeSource, ref *corev1.SecretReference) {
		s.RBD = &corev1.RBDPersistentVolumeSource{SecretRef: ref}
	},
	func(s *corev1.PersistentVolumeSource, ref *corev1.SecretReference) {
		s.ScaleIO = &corev1.ScaleIOPersistentVolumeSource{SecretRef: ref}
	},
	func(s *corev1.PersistentVolumeSource, ref *corev1.SecretReference) {
		s.StorageOS = &corev1.StorageOSPersistentVolumeSource{SecretRef: &corev1.ObjectReference{Namespace: ref.Namespace, Name: ref.Name}}
	},
	func(s *corev1.PersistentVolumeSource, ref *corev1.SecretReference) {
		s.CSI = &corev1.CSIPersistentVolumeSource{NodeStageSecretRef: ref}
	},
	func(s *corev1.PersistentVolumeSource, ref *corev1.SecretReference) {
		s.CSI = &corev1.CSIPersistentVolumeSource{NodePublishSecretRef: ref}
	},
	func(s *corev1.PersistentVolumeSource, ref *corev1.SecretReference) {
		s.CSI = &corev1.CSIPersistentVolumeSource{NodeExpandSecretRef: ref}
	},
	func(s *corev1.PersistentVolumeSource, ref *corev1.SecretReference) {
		s.CSI = &corev1.CSIPersistentVolumeSource{ControllerPublishSecretRef: ref}
	},
	func(s *corev1.PersistentVolumeSource, ref *corev1.SecretReference) {
		s.CSI = &corev1.CSIPersistentVolumeSource{ControllerExpandSecretRef: ref}
	},
}

const mirrorAnnotation = "platform.io/config.mirror"

var (
	oracleNodes      = []string{"n1", "n2", "n3"}
	oracleNamespaces = []string{"a", "b"}
)

// changeGraph creates, replaces or deletes a random object of the graph.
func (g roleGenerator) changeGraph(t *testing.T, o *nodeOracle, store *memoryStore) {
	t.Helper()
	namespace, name, remove := oneOf(g, oracleNamespaces), oneOf(g, oracleNames), g.IntN(5) == 0
	switch g.IntN(4) {
	case 0, 1:
		key := coreKey("pods", namespace, name)
		if remove {
			delete(o.pods, key)
			store.put(t, key, nil)
			return
		}
		p := oraclePod{node: oneOf(g, append(oracleNodes, "")), mirror: g.IntN(6) == 0, refs: map[meta.Key]bool{}}
		pod := corev1.Pod{ObjectMeta: metav1.ObjectMeta{Namespace: namespace, Name: name, UID: types.UID("uid-of-" + name)}, Spec: corev1.PodSpec{NodeName: p.node}}
		if p.mirror {
			pod.Annotations = map[string]string{mirrorAnnotation: ""}
		}
		used := map[int]bool{}
		for range g.IntN(6) {
			i, other := g.IntN(len(podReferences)), oneOf(g, oracleNames)
			if !used[i] { // some references can be set only once
				podReferences[i].add(&pod, other)
				p.refs[coreKey(podReferences[i].resource, namespace, other)] = true
			}
			used[i] = true
		}
		if g.IntN(4) == 0 {
			pod.Spec.Volumes = append(pod.Spec.Volumes, corev1.Volume{Name: "e", VolumeSource: corev1.VolumeSource{Ephemeral: &corev1.EphemeralVolumeSource{}}})
			p.refs[coreKey("persistentvolumeclaims", namespace, name+"-e")] = true
		}
		o.pods[key] = p
		store.put(t, key, pod)
	case 2:
		key := coreKey("persistentvolumes", "", name)
		if remove {
			delete(o.volumes, key)
			store.put(t, key, nil)
			return
		}
		var volume corev1.PersistentVolume
		v := oracleVolume{secrets: map[meta.Key]bool{}}
		if g.IntN(5) > 0 {
			v.claim = coreKey("persistentvolumeclaims", namespace, oneOf(g, append(oracleNames, "a-e")))
			volume.Spec.ClaimRef = &corev1.ObjectReference{Namespace: namespace, Name: v.claim.Name}
		}
		i, ref := g.IntN(len(volumeSecrets)), corev1.SecretReference{Namespace: oneOf(g, append(oracleNamespaces, "")), Name: oneOf(g, oracleNames)}
		if volumeSecrets[i](&volume.Spec.PersistentVolumeSource, &ref); i < len(volumeSecrets)-2 {
			if ref.Namespace == "" {
				ref.Namespace = namespace
			}
			v.secrets[coreKey("secrets", ref.Namespace, ref.Name)] = true
		}
		o.volumes[key] = v
		store.put(t, key, volume)
	default:
		key := coreKey(oneOf(g, []string{"volumeattachments", "resourceslices", "podcertificaterequests"}), "", name)
		if key.Resource == "podcertificaterequests" {
			key.Namespace = namespace
		}
		if o.named[key] = oneOf(g, oracleNodes); remove {
			delete(o.named, key)
			store.put(t, key, nil)
			return
		}
		store.put(t, key, map[string]any{"spec": map[string]any{"nodeName": o.named[key]}})
	}
}

func (g roleGenerator) nodeRequest() authz.Attributes {
	a := authz.Attributes{
		ResourceRequest: true, Version: "v1", Verb: oneOf(g, []string{"get", "get", "list", "watch", "create", "update", "patch", "delete", "deletecollection"}),
		Namespace: oneOf(g, oracleNamespaces), Name: oneOf(g, append(oracleNames, "", "a-e", "b-e")),
	}
	key := coreKey(oneOf(g, sortedResources), "", "")
	a.Group, a.Resource = key.Group, key.Resource
	switch a.Resource {
	case "persistentvolumes", "volumeattachments", "resourceslices":
		a.Namespace = ""
	}
	if g.IntN(4) == 0 {
		a.Selectors = &authz.Selectors{Fields: []selector.Requirement{{Key: "spec.nodeName", Operator: "In", Values: []string{oneOf(g, oracleNodes)}}}}
	}
	return a
}

var sortedResources = []string{
	"configmaps", "persistentvolumeclaims", "persistentvolumes", "podcertificaterequests", "pods",
	"resourceclaims", "resourceslices", "secrets", "serviceaccounts", "volumeattachments",
}

func nodeUser(name string) *authn.User {
	return &authn.User{Name: "system:node:" + name, Groups: []string{"system:nodes"}}
}

// TestNodesAgainstOracle compares the Node authorizer with the published rules, on random Pods,
// volumes and other objects of nodes that change between the requests.
func TestNodesAgainstOracle(t *testing.T) {
	t.Parallel()
	seed := client.Seed(t, 41)
	asked, allowed, writes, admitted := 0, 0, 0, 0
	for round := range client.Rounds(t, 40, 20) {
		g := roleGenerator{rand.New(rand.NewPCG(seed, uint64(round)))}
		o, store := &nodeOracle{map[meta.Key]oraclePod{}, map[meta.Key]oracleVolume{}, map[meta.Key]string{}}, newMemoryStore()
		a, err := nodeauthz.New(t.Context(), store, meta.Platform)
		if err != nil {
			t.Fatal(err)
		}
		restriction := nodeauthz.Restriction(meta.Platform, store, a, false)[0].Mutator
		for _, name := range oracleNodes {
			store.put(t, coreKey("nodes", "", name), corev1.Node{ObjectMeta: metav1.ObjectMeta{Name: name, UID: types.UID("uid-of-" + name)}})
		}
		for range 60 {
			g.changeGraph(t, o, store)
			for range 80 {
				name, q := oneOf(g, oracleNodes), g.nodeRequest()
				q.User = nodeUser(name)
				d, reason := a.Authorize(q)
				want := o.allows(name, q)
				if asked++; want {
					allowed++
				}
				if (d == authz.Allow) != want {
					t.Fatalf("%s: %+v: got %v %q, want it allowed: %t\n%+v", name, q, d, reason, want, o)
				}
			}
			for range 5 {
				write, want := g.nodeWrite(t, o)
				err := restriction.Admit(write)
				if writes++; want {
					admitted++
				}
				if (err == nil) != want {
					t.Fatalf("%s: %s/%s from %v to %v: got %v, want it admitted: %t\n%+v", write.User.Name, write.Key, write.Subresource, write.Old, write.New, err, want, o)
				}
			}
		}
	}
	if allowed < asked/50 || admitted < writes/20 || admitted > writes*19/20 {
		t.Errorf("of %d requests %d are allowed, of %d writes %d", asked, allowed, writes, admitted)
	}
	client.Figures(t, "%d requests (%d allowed), %d writes (%d admitted)", asked, allowed, writes, admitted)
}

// nodeWrite returns a random write of a node, and whether the published rules of NodeRestriction
// admit it.
func (g roleGenerator) nodeWrite(t *testing.T, o *nodeOracle) (*request.Attributes, bool) {
	t.Helper()
	name := oneOf(g, oracleNodes)
	usually := func() bool { return g.IntN(8) > 0 }
	node := func() string { // mostly the node itself
		if usually() {
			return name
		}
		return oneOf(g, append(oracleNodes, ""))
	}
	a := &request.Attributes{User: nodeUser(name), Key: coreKey("pods", oneOf(g, oracleNamespaces), oneOf(g, oracleNames))}
	own, exists := o.pods[a.Key]
	var before, after any
	want := false
	switch g.IntN(8) {
	case 0: // a mirror Pod
		pod := corev1.Pod{Spec: corev1.PodSpec{NodeName: node()}}
		owner := metav1.OwnerReference{APIVersion: "v1", Kind: "Node", Name: node(), UID: types.UID("uid-of-" + name)}
		controller, annotated, foreign, blocking, refers := usually(), usually(), !usually(), !usually(), !usually()
		owner.Controller = &controller
		if foreign {
			owner.UID = "another"
		}
		if blocking {
			owner.BlockOwnerDeletion = &blocking
		}
		if annotated {
			pod.Annotations = map[string]string{mirrorAnnotation: "x"}
		}
		if pod.OwnerReferences = []metav1.OwnerReference{owner}; !usually() {
			pod.OwnerReferences = append(pod.OwnerReferences, owner)
		}
		if refers {
			podReferences[g.IntN(len(podReferences)-2)].add(&pod, "a") // the last two are in the status
		}
		after = pod
		want = annotated && pod.Spec.NodeName == name && owner.Name == name && controller && !foreign && !blocking && !refers && len(pod.OwnerReferences) == 1
	case 1: // the deletion of a Pod
		pod := corev1.Pod{Spec: corev1.PodSpec{NodeName: node()}}
		before, want = pod, pod.Spec.NodeName == name
	case 2: // the status of a Pod
		pod := corev1.Pod{ObjectMeta: metav1.ObjectMeta{Labels: map[string]string{"a": "b"}}, Spec: corev1.PodSpec{NodeName: node()}}
		next := *pod.DeepCopy()
		next.Status.Phase = corev1.PodFailed
		relabeled, claims := !usually(), !usually()
		if relabeled {
			next.Labels["c"] = "d"
		}
		if claims {
			next.Status.ResourceClaimStatuses = []corev1.PodResourceClaimStatus{{Name: "a"}}
		}
		a.Subresource, before, after, want = "status", pod, next, pod.Spec.NodeName == name && !relabeled && !claims
	case 3:
		a.Subresource, after, want = "eviction", map[string]any{}, exists && own.node == name
	case 4: // a token
		ref := map[string]any{"kind": "Pod", "apiVersion": "v1", "name": a.Key.Name, "uid": "uid-of-" + a.Key.Name}
		want = exists && own.node == name
		if !usually() {
			ref[oneOf(g, []string{"kind", "apiVersion", "name", "uid"})] = oneOf(g, []string{"", "x"})
			want = false
		}
		a.Key, a.Subresource = coreKey("serviceaccounts", a.Key.Namespace, "robot"), "token"
		after = map[string]any{"spec": map[string]any{"boundObjectRef": ref}}
	case 5: // its Node
		a.Key = coreKey("nodes", "", node())
		old, next := corev1.Node{}, corev1.Node{}
		labels := map[string]bool{
			"platform.io/hostname": true, "topology.platform.io/zone": true, "example.com/x": true, "plain": true, "kubelet.platform.io/x": true,
			"x.node.platform.io/y": true, "platform.io/other": false, "node-restriction.platform.io/x": false, "x.node-restriction.platform.io/y": false, "x.platform.io/y": false,
		}
		label, tainted := oneOf(g, slices.Sorted(maps.Keys(labels))), !usually()
		next.Labels = map[string]string{label: "x"}
		if tainted {
			next.Spec.Taints = []corev1.Taint{{Key: "a", Effect: "NoSchedule"}}
		}
		before, after, want = old, next, a.Key.Name == name && labels[label] && !tainted
	case 6: // its Lease
		namespace := oneOf(g, []string{"platform-node-lease", "platform-node-lease", "a"})
		a.Key = meta.Key{GroupResource: meta.GroupResource{Group: "coordination.platform.io", Resource: "leases"}, Namespace: namespace, Name: node()}
		before, after, want = map[string]any{}, map[string]any{}, namespace == "platform-node-lease" && a.Key.Name == name
	default: // a ResourceSlice
		slice := map[string]any{"spec": map[string]any{"nodeName": node()}}
		a.Key, want = coreKey("resourceslices", "", "x"), slice["spec"].(map[string]any)["nodeName"] == name
		if after = slice; g.IntN(2) == 0 {
			before, after = slice, nil
		}
	}
	a.Kind = &schema.Kind{Resource: a.Key.Resource}
	if before != nil {
		a.Old = treeOf(t, before)
	}
	if after != nil {
		a.New = treeOf(t, after)
	}
	return a, want
}
