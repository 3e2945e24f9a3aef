package present

import (
	"crypto/sha256"
	"encoding/base64"
	"slices"

	"github.com/troupe-api/troupe/kinds/schema"
)

// Discovery as it was before aggregation: documents of one group, or one version, each.

type versionsDocument struct {
	Kind     string                      `json:"kind"`
	Versions []string                    `json:"versions"`
	Servers  []serverAddressByClientCIDR `json:"serverAddressByClientCIDRs"`
}

// serverAddressByClientCIDR names the server's address for clients of a network.
type serverAddressByClientCIDR struct {
	ClientCIDR    string `json:"clientCIDR"`
	ServerAddress string `json:"serverAddress"`
}

type groupListDocument struct {
	Kind       string     `json:"kind"`
	APIVersion string     `json:"apiVersion"`
	Groups     []apiGroup `json:"groups"`
}

type apiGroup struct {
	Kind             string                     `json:"kind,omitempty"`
	APIVersion       string                     `json:"apiVersion,omitempty"`
	Name             string                     `json:"name"`
	Versions         []groupVersionForDiscovery `json:"versions"`
	PreferredVersion groupVersionForDiscovery   `json:"preferredVersion"`
}

type groupVersionForDiscovery struct {
	GroupVersion string `json:"groupVersion"`
	Version      string `json:"version"`
}

type resourceListDocument struct {
	Kind         string        `json:"kind"`
	APIVersion   string        `json:"apiVersion"`
	GroupVersion string        `json:"groupVersion"`
	Resources    []apiResource `json:"resources"`
}

// SingularName and Verbs are written even if they are empty, as other servers do.
type apiResource struct {
	Name         string   `json:"name"`
	SingularName string   `json:"singularName"`
	Namespaced   bool     `json:"namespaced"`
	Group        string   `json:"group,omitempty"`
	Version      string   `json:"version,omitempty"`
	Kind         string   `json:"kind"`
	Verbs        []string `json:"verbs"`
	ShortNames   []string `json:"shortNames,omitempty"`
	Categories   []string `json:"categories,omitempty"`
	// StorageVersionHash tells clients which resources of two groups or versions are the same stored
	// objects: the first 8 bytes of the SHA-256 of the stored kind's name, in base64.
	StorageVersionHash string `json:"storageVersionHash,omitempty"`
}

// apiVersions lists the versions of the core group.
func apiVersions(address string, groups []*group) versionsDocument {
	d := versionsDocument{Kind: "APIVersions", Versions: []string{}, Servers: []serverAddressByClientCIDR{{ClientCIDR: "0.0.0.0/0", ServerAddress: address}}}
	for _, g := range groups {
		if g.name != "" {
			continue
		}
		for _, v := range g.versions {
			d.Versions = append(d.Versions, v.name)
		}
	}
	return d
}

// groupList lists all groups but the core group. Those of the same priority stand in the order of their APIServices' names:
// one of which v1 is served before one of which there is only v1beta1.
func groupList(p *Priorities, groups []*group) groupListDocument {
	d := groupListDocument{Kind: "APIGroupList", APIVersion: "v1", Groups: []apiGroup{}}
	groups = slices.Clone(groups)
	sortByPriority(p, groups, (*group).firstServiceName)
	for _, g := range groups {
		if g.name != "" {
			d.Groups = append(d.Groups, groupDocument(g, false))
		}
	}
	return d
}

// firstServiceName is the name of the group's first APIService, in the order of names.
func (g *group) firstServiceName() string {
	names := make([]string, len(g.versions))
	for i, v := range g.versions {
		names[i] = GroupVersion{g.name, v.name}.ServiceName()
	}
	return slices.Min(names)
}

// groupDocument describes a group. As a document of its own (alone) it has a kind and an apiVersion. In the
// list of groups it has neither.
func groupDocument(g *group, alone bool) apiGroup {
	d := apiGroup{Name: g.name}
	if alone {
		d.Kind, d.APIVersion = "APIGroup", "v1"
	}
	for _, v := range g.versions {
		d.Versions = append(d.Versions, groupVersionForDiscovery{v.groupVersionText(), v.name})
	}
	d.PreferredVersion = d.Versions[0]
	return d
}

// resourceList lists the resources of one version, each followed by its sub-resources.
func resourceList(v *version) resourceListDocument {
	d := resourceListDocument{
		Kind: "APIResourceList", APIVersion: "v1", GroupVersion: v.groupVersionText(), Resources: []apiResource{},
	}
	for _, k := range v.kinds {
		d.Resources = append(d.Resources, apiResource{
			Name: k.Resource, SingularName: k.Names.Singular, Namespaced: k.Namespaced, Kind: k.Kind,
			Verbs: listedVerbs(k), ShortNames: k.Names.Short, Categories: k.Names.Categories,
			StorageVersionHash: storageVersionHash(k),
		})
		for _, s := range sortedSubresources(k) {
			d.Resources = append(d.Resources, subresource(k, s))
		}
	}
	return d
}

// subresource is an entry such as pods/status. It names a group and version only where
// they are not those of the list.
func subresource(k *schema.Kind, s schema.Subresource) apiResource {
	r := apiResource{Name: k.Resource + "/" + s.Name, Namespaced: k.Namespaced, Kind: k.Kind, Verbs: sortedVerbs(s.Verbs)}
	if s.Kind.Kind != "" {
		r.Kind = s.Kind.Kind
		if s.Kind.Group != k.Group || s.Kind.Version != k.Version {
			r.Group, r.Version = s.Kind.Group, s.Kind.Version
		}
	}
	return r
}

// storageVersionHash is "" for kinds whose objects are not stored.
func storageVersionHash(k *schema.Kind) string {
	if k.Virtual() || k.Stored == nil {
		return ""
	}
	sum := sha256.Sum256([]byte(k.Stored.Group + "/" + k.Stored.Version + "/" + k.Stored.Kind))
	return base64.StdEncoding.EncodeToString(sum[:8])
}
