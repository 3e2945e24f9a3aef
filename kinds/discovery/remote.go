package discovery

import (
	"encoding/json"
	"errors"
	"strings"
)

// A RemoteVersion contains the resources of one group version that another server serves.
type RemoteVersion struct{ resources []discoveryResource }

type GroupVersion struct{ Group, Version string }

// String returns the apiVersion, such as "v1" or "apps/v1".
func (v GroupVersion) String() string {
	if v.Group == "" {
		return v.Version
	}
	return v.Group + "/" + v.Version
}

// ServiceName returns the name of the version's APIService, such as "v1.apps".
func (v GroupVersion) ServiceName() string { return v.Version + "." + v.Group }

// Path returns the URL path of the version.
func (v GroupVersion) Path() string {
	if v.Group == "" {
		return "/api/" + v.Version
	}
	return "/apis/" + v.String()
}

// ReadDiscovery decodes another server's APIGroupDiscoveryList and returns the versions for which
// wanted returns true. Unknown fields are ignored.
func ReadDiscovery(body []byte, wanted func(GroupVersion) bool) (map[GroupVersion]RemoteVersion, error) {
	var list discoveryList
	if err := json.Unmarshal(body, &list); err != nil {
		return nil, err
	}
	if list.Kind != "APIGroupDiscoveryList" {
		return nil, errors.New("it is not an APIGroupDiscoveryList")
	}
	all := map[GroupVersion]RemoteVersion{}
	for _, g := range list.Items {
		for _, v := range g.Versions {
			if of := (GroupVersion{g.Metadata.Name, v.Version}); wanted(of) {
				all[of] = RemoteVersion{v.Resources}
			}
		}
	}
	return all, nil
}

// ReadResourceList decodes the APIResourceList of a server without aggregated discovery.
func ReadResourceList(body []byte) (RemoteVersion, error) {
	var list resourceListDocument
	if err := json.Unmarshal(body, &list); err != nil {
		return RemoteVersion{}, err
	}
	if list.Kind != "APIResourceList" {
		return RemoteVersion{}, errors.New("it is not an APIResourceList")
	}
	var v RemoteVersion
	index := map[string]int{}
	find := func(name string) *discoveryResource {
		i, ok := index[name]
		if !ok {
			i = len(v.resources)
			index[name] = i
			v.resources = append(v.resources, discoveryResource{Resource: name, Verbs: []string{}})
		}
		return &v.resources[i]
	}
	for _, r := range list.Resources {
		name, sub, isSub := strings.Cut(r.Name, "/")
		of, kind := find(name), discoveryKind{Group: r.Group, Version: r.Version, Kind: r.Kind}
		if isSub {
			of.Subresources = append(of.Subresources, discoverySubresource{Subresource: sub, ResponseKind: kind, Verbs: append([]string{}, r.Verbs...)})
			continue
		}
		of.ResponseKind, of.SingularResource, of.Verbs = kind, r.SingularName, append([]string{}, r.Verbs...)
		of.ShortNames, of.Categories, of.Scope = r.ShortNames, r.Categories, scopeName(r.Namespaced)
	}
	return v, nil
}

// A Freshness states whether the last attempt to fetch another server's resources succeeded.
type Freshness string

const (
	Current Freshness = "Current"
	Stale   Freshness = "Stale" // the server's resources may differ from those shown
)

// Document returns the version's entry in an APIGroupDiscoveryList.
func (v RemoteVersion) Document(version string, freshness Freshness) []byte {
	d := discoveryVersion{Version: version, Resources: v.resources, Freshness: freshness}
	if d.Resources == nil {
		d.Resources = []discoveryResource{}
	}
	return mustJSON(d)
}

// Resources calls do with the name, scope and verbs of each resource.
func (v RemoteVersion) Resources(do func(name string, namespaced bool, verbs []string)) {
	for _, r := range v.resources {
		do(r.Resource, r.Scope == "Namespaced", r.Verbs)
	}
}

func scopeName(namespaced bool) string {
	if namespaced {
		return "Namespaced"
	}
	return "Cluster"
}
