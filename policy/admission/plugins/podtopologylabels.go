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
		Name:      "PodTopologyLabels",
		Resources: []string{"/pods", "/pods/binding"}, Operations: []request.Verb{request.Create, request.Update}, SkipsNoOps: true,
		Plugin: topologyLabels{objects, []string{naming.Translate("topology.platform.io/zone"), naming.Translate("topology.platform.io/region")}},
	}
}

// topologyLabels needs only the labels of nodes, which are known without parsing the object.
type topologyLabels struct {
	objects MetaReader
	keys    []string
}

// Admit implements admission.Admitter. Labels of the same names that a client has given count for nothing. A
// Pod gets its node by a binding, or has one from the start. A node that is not known adds nothing.
func (p topologyLabels) Admit(a *admission.Attributes) error {
	node := a.New.Object("spec").String("nodeName")
	if node == "" || !a.IsCreate() && a.Subresource == "" {
		return nil
	}
	head, _ := p.objects.GetMeta(meta.GroupResource{Resource: "nodes"}, "", node)
	for _, key := range p.keys {
		if value, ok := head.Labels.Get(key); ok {
			a.Edit("metadata", "labels")[key] = value
		}
	}
	return nil
}
