package plugins

import (
	"github.com/troupe-api/troupe/kinds/meta"
	"github.com/troupe-api/troupe/kinds/request"
	"github.com/troupe-api/troupe/policy/admission"
)

// A MetaReader returns object metadata without decoding the objects. Resource names are in the
// platform naming profile.
type MetaReader interface {
	GetMeta(r meta.GroupResource, namespace, name string) (meta.ObjectMeta, bool)
}

// PodTopologyLabels returns the plugin that copies a node's zone and region labels to its Pods.
// Containers can then read them through the downward API, without access to nodes.
func PodTopologyLabels(naming *meta.Naming, objects MetaReader) admission.Registration {
	return admission.Register("PodTopologyLabels", topologyLabels{objects, []string{naming.Translate("topology.platform.io/zone"), naming.Translate("topology.platform.io/region")}})
}

type topologyLabels struct {
	objects MetaReader
	keys    []string
}

// Handles reports whether the request may assign a node, by creating or binding a Pod.
func (p topologyLabels) Handles(a *request.Attributes) bool {
	return nodeOf(a) != "" && (a.IsCreate() || a.Subresource != "")
}

func nodeOf(a *request.Attributes) string { return a.New.Object("spec").String("nodeName") }

// Admit overwrites labels set by the client. For an unknown node, it adds no labels.
func (p topologyLabels) Admit(a *request.Attributes) error {
	head, _ := p.objects.GetMeta(meta.GroupResource{Resource: "nodes"}, "", nodeOf(a))
	for _, key := range p.keys {
		if value, ok := head.Labels.Get(key); ok {
			a.Edit("metadata", "labels")[key] = value
		}
	}
	return nil
}
