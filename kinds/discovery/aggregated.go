package discovery

import (
	"github.com/troupe-api/troupe/kinds/meta"
	"github.com/troupe-api/troupe/kinds/schema"
)

// This file encodes aggregated discovery: one document with all groups, which saves clients further
// requests.

// A discoveryList has its fields in kube-apiserver's order.
type discoveryList struct {
	Kind       string           `json:"kind"`
	APIVersion string           `json:"apiVersion"`
	Metadata   struct{}         `json:"metadata"`
	Items      []discoveryGroup `json:"items"`
}

type discoveryGroup struct {
	Metadata struct {
		Name string `json:"name,omitempty"`
	} `json:"metadata"`
	Versions []discoveryVersion `json:"versions"`
}

type discoveryVersion struct {
	Version   string              `json:"version"`
	Resources []discoveryResource `json:"resources"`
	Freshness Freshness           `json:"freshness"`
}

type discoveryResource struct {
	Resource         string                 `json:"resource"`
	ResponseKind     discoveryKind          `json:"responseKind"`
	Scope            string                 `json:"scope"`
	SingularResource string                 `json:"singularResource"`
	Verbs            []string               `json:"verbs"`
	ShortNames       []string               `json:"shortNames,omitempty"`
	Categories       []string               `json:"categories,omitempty"`
	Subresources     []discoverySubresource `json:"subresources,omitempty"`
}

type discoverySubresource struct {
	Subresource  string        `json:"subresource"`
	ResponseKind discoveryKind `json:"responseKind"`
	Verbs        []string      `json:"verbs"`
}

// A discoveryKind identifies a kind. For built-in kinds, Group and Version are empty if they equal
// the group and version under which the kind is listed.
type discoveryKind struct {
	Group   string `json:"group"`
	Version string `json:"version"`
	Kind    string `json:"kind"`
}

func aggregate(n *meta.Naming, core bool, groups []*group) discoveryList {
	d := discoveryList{
		Kind: "APIGroupDiscoveryList", APIVersion: n.Group("apidiscovery") + "/v2",
		Items: []discoveryGroup{},
	}
	for _, g := range groups {
		if (g.name == "") != core {
			continue
		}
		var out discoveryGroup
		out.Metadata.Name = g.name
		for _, v := range g.versions {
			dv := discoveryVersion{Version: v.name, Resources: []discoveryResource{}, Freshness: Current}
			for _, k := range v.kinds {
				dv.Resources = append(dv.Resources, aggregateKind(k))
			}
			out.Versions = append(out.Versions, dv)
		}
		d.Items = append(d.Items, out)
	}
	return d
}

func aggregateKind(k *schema.Kind) discoveryResource {
	own := discoveryKind{Kind: k.Kind}
	if k.IsCustom() {
		own.Group, own.Version = k.Group, k.Version
	}
	r := discoveryResource{
		Resource: k.Resource, ResponseKind: own, Scope: scopeName(k.Namespaced), SingularResource: k.Names.Singular,
		Verbs: listedVerbs(k), ShortNames: k.Names.Short, Categories: k.Names.Categories,
	}
	for _, s := range sortedSubresources(k) {
		sub := subresource(k, s)
		kind := own
		if s.Kind.Kind != "" {
			kind = discoveryKind{Group: sub.Group, Version: sub.Version, Kind: sub.Kind}
		}
		r.Subresources = append(r.Subresources, discoverySubresource{Subresource: s.Name, ResponseKind: kind, Verbs: sub.Verbs})
	}
	return r
}
