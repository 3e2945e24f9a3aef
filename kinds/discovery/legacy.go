package discovery

import (
	"crypto/sha256"
	"encoding/base64"
	"slices"

	"github.com/troupe-api/troupe/kinds/schema"
)

// Unaggregated discovery has one document per group and per version.

type versionsDocument struct {
	Kind     string                      `json:"kind"`
	Versions []string                    `json:"versions"`
	Servers  []serverAddressByClientCIDR `json:"serverAddressByClientCIDRs"`
}

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

// An apiResource always contains singularName and verbs in JSON, even if empty, as in
// kube-apiserver.
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
	// StorageVersionHash is equal for resources of different groups or versions that share stored
	// objects. It is the first 8 bytes of the SHA-256 of the stored kind's name, in base64.
	StorageVersionHash string `json:"storageVersionHash,omitempty"`
}

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

// groupList lists all groups except the core group. Groups of equal priority are ordered by the
// names of their APIServices, such as v1.apps, which start with the version.
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

func (g *group) firstServiceName() string {
	names := make([]string, len(g.versions))
	for i, v := range g.versions {
		names[i] = GroupVersion{g.name, v.name}.ServiceName()
	}
	return slices.Min(names)
}

// groupDocument describes a group. Only a standalone document has kind and apiVersion.
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

func storageVersionHash(k *schema.Kind) string {
	if k.Virtual() || k.Stored == nil {
		return ""
	}
	sum := sha256.Sum256([]byte(k.Stored.Group + "/" + k.Stored.Version + "/" + k.Stored.Kind))
	return base64.StdEncoding.EncodeToString(sum[:8])
}
