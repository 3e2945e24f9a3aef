package discovery

import (
	"context"
	"fmt"
	"net/http"
	"strings"

	"github.com/troupe-api/troupe/cmd/troupe/internal/client/rest"
	"github.com/troupe-api/troupe/kinds/meta"
	"github.com/troupe-api/troupe/kinds/tree"
)

// A Catalog contains a server's parsed discovery documents. Groups are ordered by priority, and a
// group's preferred version comes first.
type Catalog struct {
	Naming    *meta.Naming // the naming profile of the server
	Resources []*Resource
	// Versions lists all served group versions in apiVersion format.
	Versions []string
	// Broken lists group versions whose discovery failed.
	Broken []string
}

// Load reads a server's discovery documents.
func Load(ctx context.Context, c *rest.Client) (*Catalog, error) {
	catalog := &Catalog{}
	for _, path := range []string{"/api", "/apis"} {
		answer, err := c.Do(ctx, rest.Request{Method: http.MethodGet, Path: path, Accept: accept})
		if err != nil {
			return nil, err
		}
		t, err := answer.Tree()
		if err != nil {
			return nil, err
		}
		switch t.String("kind") {
		case "APIGroupDiscoveryList":
			catalog.addAggregated(t)
		case "APIVersions":
			err = catalog.addVersions(ctx, c, "", t.Strings("versions"))
		case "APIGroupList":
			for _, group := range t.Objects("groups") {
				var versions []string
				preferred := group.Object("preferredVersion").String("version")
				for _, v := range group.Objects("versions") {
					if name := v.String("version"); name == preferred {
						versions = append([]string{name}, versions...)
					} else {
						versions = append(versions, name)
					}
				}
				if err = catalog.addVersions(ctx, c, group.String("name"), versions); err != nil {
					break
				}
			}
		default:
			err = fmt.Errorf("the server at %s has no discovery: %s is a %q", c.Server(), path, t.String("kind"))
		}
		if err != nil {
			return nil, err
		}
	}
	catalog.Naming = catalog.naming()
	return catalog, nil
}

// accept is the Accept header for aggregated discovery under either naming profile, with plain
// discovery as a fallback.
var accept = func() string {
	var all []string
	for _, naming := range []*meta.Naming{meta.Platform, meta.Kubernetes} {
		all = append(all, "application/json;g="+naming.Group("apidiscovery")+";v=v2;as=APIGroupDiscoveryList")
	}
	return strings.Join(append(all, "application/json"), ",")
}()

func (c *Catalog) naming() *meta.Naming {
	for _, r := range c.Resources {
		for _, naming := range []*meta.Naming{meta.Platform, meta.Kubernetes} {
			if r.Group == naming.Group("authorization") || r.Group == naming.Group("rbac.authorization") || r.Group == naming.Group("authentication") {
				return naming
			}
		}
	}
	return meta.Kubernetes // all other servers use Kubernetes names
}

func (c *Catalog) addAggregated(list tree.Tree) {
	for _, group := range list.Objects("items") {
		name := group.Name()
		for _, version := range group.Objects("versions") {
			gv := meta.GroupVersionKind{Group: name, Version: version.String("version")}
			if version.String("freshness") == "Stale" {
				c.Broken = append(c.Broken, gv.APIVersion())
			}
			c.Versions = append(c.Versions, gv.APIVersion())
			for _, r := range version.Objects("resources") {
				one := &Resource{
					Group: gv.Group, Version: gv.Version, Name: r.String("resource"), Singular: r.String("singularResource"),
					Kind: r.Object("responseKind").String("kind"), ShortNames: r.Strings("shortNames"), Categories: r.Strings("categories"),
					Verbs: r.Strings("verbs"), Namespaced: r.String("scope") == "Namespaced",
				}
				for _, sub := range r.Objects("subresources") {
					one.Subresources = append(one.Subresources, sub.String("subresource"))
				}
				c.Resources = append(c.Resources, one)
			}
		}
	}
}

// addVersions reads the plain discovery of a group, one document per version.
func (c *Catalog) addVersions(ctx context.Context, client *rest.Client, group string, versions []string) error {
	for _, version := range versions {
		gv := meta.GroupVersionKind{Group: group, Version: version}
		path := "/apis/" + gv.APIVersion()
		if group == "" {
			path = "/api/" + version
		}
		list, err := client.Get(ctx, path, nil)
		if ctx.Err() != nil {
			return err
		}
		if c.Versions = append(c.Versions, gv.APIVersion()); err != nil {
			c.Broken = append(c.Broken, gv.APIVersion())
			continue
		}
		byName := map[string]*Resource{}
		for _, r := range list.Objects("resources") {
			parent, sub, isSub := strings.Cut(r.String("name"), "/")
			if isSub {
				if one := byName[parent]; one != nil {
					one.Subresources = append(one.Subresources, sub)
				}
				continue
			}
			one := &Resource{
				Group: group, Version: version, Name: parent, Singular: r.String("singularName"), Kind: r.String("kind"),
				ShortNames: r.Strings("shortNames"), Categories: r.Strings("categories"), Verbs: r.Strings("verbs"), Namespaced: r.Bool("namespaced"),
			}
			byName[parent] = one
			c.Resources = append(c.Resources, one)
		}
	}
	return nil
}
