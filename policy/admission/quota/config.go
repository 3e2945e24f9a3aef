package quota

import (
	"fmt"
	"slices"
	"strings"

	"github.com/troupe-api/troupe/kinds/amount"
	"github.com/troupe-api/troupe/kinds/meta"
	"github.com/troupe-api/troupe/kinds/tree"
)

// Config holds the resources that require a quota.
type Config struct{ limited limitedResources }

// A limitedResource is a resource that can be used only in namespaces with a quota that covers it.
type limitedResource struct {
	resource meta.GroupResource // resource under which objects are stored
	contains []string           // substrings of usage names
	scopes   []requirement
}

type limitedResources []limitedResource

// NewConfig converts a valid ResourceQuota configuration message to a Config.
func NewConfig(t tree.Tree) (c Config) {
	for _, l := range t.Objects("limitedResources") {
		c.limited = append(c.limited, limitedResource{
			resource: meta.GroupResource{Group: l.String("apiGroup"), Resource: l.String("resource")},
			contains: l.Strings("matchContains"), scopes: requirements(nil, l.Objects("matchScopes")),
		})
	}
	return c
}

// check rejects usage of limited resources that no quota covers. If a quota matches only some of
// the object's scopes, it covers only those scopes.
func (all limitedResources) check(p *proposed, covers []*cover) error {
	if len(all) == 0 {
		return nil
	}
	rising := p.rising()
	if len(rising) == 0 {
		return nil
	}
	names := all.limitedNames(p.resource, rising)
	var scopes, covered []requirement
	for _, l := range all {
		scopes = append(scopes, p.evaluator.matching(l.scopes, p.new)...)
	}
	for _, c := range covers {
		covered = append(covered, p.evaluator.matching(c.account.scopes, p.new)...)
		if c.evaluator.matches(c.account.scopes, p.new) {
			for _, i := range c.indexes {
				names = without(names, c.account.hard[i].Name)
			}
		}
	}
	if len(names) > 0 {
		return refusal("insufficient quota to consume: " + strings.Join(names, ","))
	}
	if uncovered := uncoveredScopes(scopes, covered); len(uncovered) > 0 {
		return refusal(fmt.Sprintf("insufficient quota to match these scopes: %v", uncovered))
	}
	return nil
}

func (p *proposed) rising() []string {
	now := p.evaluator.used(p.new)
	var was amount.List
	if p.old != nil {
		was = p.evaluator.used(p.old)
	}
	var names []string
	for _, n := range now {
		if n.Amount.Cmp(was.Get(n.Name)) > 0 {
			names = append(names, n.Name)
		}
	}
	return names
}

func (all limitedResources) limitedNames(resource meta.GroupResource, rising []string) []string {
	var names []string
	for _, name := range rising {
		contained := func(part string) bool { return strings.Contains(name, part) }
		if slices.ContainsFunc(all, func(l limitedResource) bool {
			return l.resource == resource && slices.ContainsFunc(l.contains, contained)
		}) {
			names = append(names, name)
		}
	}
	slices.Sort(names)
	return names
}

func without(names []string, name string) []string {
	return slices.DeleteFunc(names, func(n string) bool { return n == name })
}

func (e *evaluator) matching(scopes []requirement, object tree.Tree) []requirement {
	var met []requirement
	for _, r := range scopes {
		if e.inScope != nil && e.inScope(r, object) {
			met = append(met, r)
		}
	}
	return met
}

func uncoveredScopes(limited, covered []requirement) []requirement {
	return slices.DeleteFunc(limited, func(l requirement) bool {
		return slices.ContainsFunc(covered, func(c requirement) bool { return c.scope == l.scope })
	})
}
