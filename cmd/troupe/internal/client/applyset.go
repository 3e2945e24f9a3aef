package client

import (
	"crypto/sha256"
	"encoding/base64"
	"errors"
	"fmt"
	"net/http"
	"net/url"
	"slices"
	"strings"

	"github.com/troupe-api/troupe/cmd/troupe/internal/client/discovery"
	"github.com/troupe-api/troupe/cmd/troupe/internal/client/document"
	"github.com/troupe-api/troupe/cmd/troupe/internal/client/rest"
	"github.com/troupe-api/troupe/kinds/meta"
	"github.com/troupe-api/troupe/kinds/tree"
)

// An applySet is a set of objects that are applied together: what leaves the files is deleted. The objects bear a label with the id of the set;
// its parent, an object of any type, remembers in annotations which types and namespaces the set is in, so that they need not all be searched.
// Labels and annotations are those that kubectl uses.
type applySet struct {
	parent    selection
	id        string
	naming    *meta.Naming
	types     map[string]*discovery.Resource // by kind.group; of before and of now
	unknown   []string                       // of before, which the server has no longer
	spaces    map[string]bool                // namespaces, of before and of now
	nowTypes  map[string]bool
	nowSpaces map[string]bool
	applied   map[string]bool // paths of the objects of now
}

const applySetTooling = "troupe/v1"

func (a *applySet) key(name string) string { return a.naming.Translate("applyset.platform.io/" + name) }

// openSet finds or makes the parent of a set, and reads what it remembers.
func (s *session) openSet(o *applyOptions) (*applySet, error) {
	c, err := s.served()
	if err != nil {
		return nil, err
	}
	word, name, slashed := strings.Cut(o.set, "/")
	if !slashed {
		word, name = "secrets", o.set
	}
	r, err := c.Find(word)
	if err != nil {
		return nil, err
	}
	a := &applySet{
		parent: selection{resource: r, namespace: s.namespaceOf(r, false), names: []string{name}}, naming: c.Naming,
		types: map[string]*discovery.Resource{}, spaces: map[string]bool{}, nowTypes: map[string]bool{}, nowSpaces: map[string]bool{}, applied: map[string]bool{},
	}
	sum := sha256.Sum256(fmt.Appendf(nil, "%s.%s.%s.%s", name, a.parent.namespace, r.Kind, r.Group))
	a.id = "applyset-" + base64.RawURLEncoding.EncodeToString(sum[:]) + "-v1"
	answer, err := s.get(r, a.parent.namespace, name)
	switch {
	case rest.IsNotFound(err) && (r.Name == "secrets" || r.Name == "configmaps") && r.Group == "":
		return a, nil // it is made when it is first written
	case err != nil:
		return nil, err
	}
	parent, err := answer.Tree()
	if err != nil {
		return nil, err
	}
	return a, a.read(c, parent)
}

// read reads what a parent remembers.
func (a *applySet) read(c *discovery.Catalog, parent tree.Tree) error {
	m := parent.Object("metadata")
	if id := m.Object("labels").String(a.key("id")); id != "" && id != a.id {
		return fmt.Errorf("%s is the parent of another set (%s)", a.parent, id)
	}
	annotations := m.Object("annotations")
	if tool, _, _ := strings.Cut(annotations.String(a.key("tooling")), "/"); tool != "" && tool != "troupe" && tool != "kubectl" {
		return fmt.Errorf("the set of %s is kept by another tool: %s", a.parent, tool)
	}
	for kind := range strings.SplitSeq(annotations.String(a.key("contains-group-kinds")), ",") {
		if kind == "" {
			continue
		}
		name, group, _ := strings.Cut(kind, ".")
		i := slices.IndexFunc(c.Preferred(), func(r *discovery.Resource) bool { return r.Kind == name && r.Group == group })
		if i < 0 {
			a.unknown = append(a.unknown, kind)
			continue
		}
		a.types[kind] = c.Preferred()[i]
	}
	for namespace := range strings.SplitSeq(annotations.String(a.key("additional-namespaces")), ",") {
		if namespace != "" {
			a.spaces[namespace] = true
		}
	}
	if len(a.unknown) > 0 {
		return fmt.Errorf("the set of %s has objects of kinds that the server has no longer: %s", a.parent, strings.Join(a.unknown, ", "))
	}
	return nil
}

// mark is a configuration with the label of the set.
func (a *applySet) mark(config tree.Tree) tree.Tree {
	marked := tree.Clone(config).(tree.Tree)
	marked.EnsureObject("metadata", "labels")[a.key("part-of")] = a.id
	return marked
}

// add notes an object that is applied now.
func (a *applySet) add(one selection) {
	kind := meta.GroupKind{Group: one.resource.Group, Kind: one.resource.Kind}.String()
	a.types[kind], a.nowTypes[kind] = one.resource, true
	if one.namespace != "" {
		a.spaces[one.namespace], a.nowSpaces[one.namespace] = true, true
	}
	a.applied[one.resource.Path(one.namespace, one.names[0])] = true
}

// pruneSet deletes what is in the set and was not applied, and has the parent remember where the set is now.
//
// Before anything is deleted the parent remembers what was and what is, so that a command that is cut off leaves nothing behind that the next
// one would not find.
func (s *session) pruneSet(o *applyOptions, a *applySet) error {
	if o.dryRun == dryRunClient {
		return nil
	}
	if err := s.writeParent(o, a, keysOf(a.types), keysOf(a.spaces)); err != nil {
		return err
	}
	q := url.Values{"labelSelector": {a.key("part-of") + "=" + a.id}}
	var faults []error
	for _, kind := range keysOf(a.types) {
		r := a.types[kind]
		spaces := []string{""}
		if r.Namespaced {
			spaces = keysOf(a.spaces)
		}
		for _, namespace := range spaces {
			found, err := s.list(r, namespace, q)
			faults = append(faults, unjoin(err)...)
			for _, one := range found {
				if a.applied[one.path()] {
					continue
				}
				if err := s.deleteOne(one.path(), one.tree.Object("metadata").String("uid"), deleteOptions{dryRun: o.dryRun}); err != nil && !rest.IsNotFound(err) {
					faults = append(faults, err)
					continue
				}
				s.printf("%s pruned%s\n", one, o.dryRun.suffix())
			}
		}
	}
	if err := errors.Join(faults...); err != nil {
		return err
	}
	return s.writeParent(o, a, keysOf(a.nowTypes), keysOf(a.nowSpaces))
}

// writeParent has the parent remember kinds and namespaces.
func (s *session) writeParent(o *applyOptions, a *applySet, kinds, namespaces []string) error {
	p := a.parent
	namespaces = slices.DeleteFunc(slices.Clone(namespaces), func(n string) bool { return n == p.namespace })
	config := tree.Tree{
		"apiVersion": p.resource.APIVersion(), "kind": p.resource.Kind,
		"metadata": tree.Tree{
			"name":   p.names[0],
			"labels": tree.Tree{a.key("id"): a.id},
			"annotations": tree.Tree{
				a.key("tooling"):               applySetTooling,
				a.key("contains-group-kinds"):  strings.Join(kinds, ","),
				a.key("additional-namespaces"): strings.Join(namespaces, ","),
			},
		},
	}
	q := url.Values{"fieldManager": {o.manager + "-applyset"}, "force": {"true"}}
	if o.dryRun == dryRunServer {
		q.Set("dryRun", "All")
	}
	_, err := s.Do(s.ctx, rest.Request{
		Method: http.MethodPatch, Path: p.resource.Path(p.namespace, p.names[0]), Query: q, ContentType: rest.ApplyPatch, Body: document.JSON(config),
	})
	return err
}

// keysOf are the keys of a map, in order.
func keysOf[V any](m map[string]V) []string {
	var all []string
	for k := range m {
		all = append(all, k)
	}
	slices.Sort(all)
	return all
}
