package plugins

import (
	"github.com/troupe-api/troupe/kinds/meta"
	"github.com/troupe-api/troupe/kinds/request"
	"github.com/troupe-api/troupe/policy/admission"
)

// A MetaReader reads what is known of an object without parsing it. Resources are named in platform form.
type MetaReader interface {
	GetMeta(r meta.GroupResource, namespace, name string) (meta.ObjectMeta, bool)
}

// PodTopologyLabels gives a Pod that is put on a node the labels that say in which zone and region that is.
// A container can then learn its zone through the downward API without a right to read nodes.
func PodTopologyLabels(naming *meta.Naming, objects MetaReader) admission.Registration {
	return admission.Registration{
		Name: "PodTopologyLabels", Resources: []string{"/pods", "/pods/binding"},
		Plugin: request.Plugin{Operations: request.OnCreate | request.OnUpdate, SkipsNoOps: true, Mutator: topologyLabels{objects, []string{naming.Translate("topology.platform.io/zone"), naming.Translate("topology.platform.io/region")}}},
	}
}

// topologyLabels needs only the labels of nodes, which are known without parsing the object.
type topologyLabels struct {
	objects MetaReader
	keys    []string
}

// Handles implements request.Mutator. A Pod gets its node by a binding, or has one from the start.
func (p topologyLabels) Handles(a *request.Attributes) bool {
	return nodeOf(a) != "" && (a.IsCreate() || a.Subresource != "")
}

func nodeOf(a *request.Attributes) string { return a.New.Object("spec").String("nodeName") }

// Admit implements request.Mutator. It replaces labels of the same names that a client has given. An unknown node
// adds nothing.
func (p topologyLabels) Admit(a *request.Attributes) error {
	head, _ := p.objects.GetMeta(meta.GroupResource{Resource: "nodes"}, "", nodeOf(a))
	for _, key := range p.keys {
		if value, ok := head.Labels.Get(key); ok {
			a.Edit("metadata", "labels")[key] = value
		}
	}
	return nil
}
