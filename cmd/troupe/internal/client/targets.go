package client

import (
	"cmp"
	"errors"
	"fmt"
	"maps"
	"net/url"
	"strings"

	"github.com/troupe-api/troupe/cmd/troupe/internal/client/discovery"
	"github.com/troupe-api/troupe/cmd/troupe/internal/client/manifest"
	"github.com/troupe-api/troupe/cmd/troupe/internal/client/rest"
	"github.com/troupe-api/troupe/kinds/tree"
)

// targetFlags select a command's objects, in addition to its arguments.
type targetFlags struct {
	manifest.Options
	Selector, FieldSelector string
	All                     bool // all objects of the types
	AllNamespaces           bool
	past                    url.Values // query parameters for reading a past state
}

func (f *targetFlags) stdinUse() string {
	if f.UsesStdin() {
		return "-f -"
	}
	return ""
}

// A selection identifies objects of a resource by name or, without names, by the flags.
type selection struct {
	resource  *discovery.Resource
	namespace string // "" for all namespaces and cluster-scoped types
	names     []string
	// manifest is set if the selection is an object from a file.
	manifest *manifest.Manifest
}

// selections parses arguments such as "pods", "pods,services", "pod a b" or "pod/a service/b".
// mixed reports whether there are several types, which names must then include.
func (s *session) selections(f *targetFlags, args []string) (all []selection, mixed bool, err error) {
	if f.IsSet() {
		if len(args) > 0 {
			return nil, false, usageError("when files are given with -f or -k, resource arguments are not allowed")
		}
		return s.fromFiles(f)
	}
	if len(args) == 0 {
		return nil, false, usageError("you must specify the resource: a type (pods), a type and names (pod a b), or type/name (pod/a); troupe api-resources lists the types")
	}
	c, err := s.served()
	if err != nil {
		return nil, false, err
	}
	if strings.Contains(args[0], "/") {
		return s.slashed(c, f, args)
	}
	for _, name := range args[1:] {
		if strings.Contains(name, "/") {
			return nil, false, usageError(fmt.Sprintf("%q is in resource/name form, but follows the resource %q: use one form", name, args[0]))
		}
	}
	types, err := expand(c, args[0])
	if err != nil {
		return nil, false, err
	}
	if len(args) > 1 && (f.Selector != "" || f.All) {
		return nil, false, usageError("name cannot be provided when a selector or --all is specified")
	}
	if len(args) > 1 && f.AllNamespaces {
		return nil, false, usageError("a resource cannot be retrieved by name across all namespaces")
	}
	for _, r := range types {
		all = append(all, selection{resource: r, namespace: s.namespaceOf(r, f.AllNamespaces), names: args[1:]})
	}
	return all, len(types) > 1, nil
}

// checkNamed requires names, a selector or --all, so that no command affects all objects by
// accident.
func (f *targetFlags) checkNamed(selections []selection) error {
	for _, one := range selections {
		if len(one.names) == 0 && one.manifest == nil && f.Selector == "" && f.FieldSelector == "" && !f.All {
			return usageError("resource(s) were provided, but no name was specified: give names, or -l, --field-selector or --all")
		}
	}
	return nil
}

// expand resolves a comma-separated list of types and categories, such as pods,services.
func expand(c *discovery.Catalog, list string) (types []*discovery.Resource, err error) {
	for word := range strings.SplitSeq(list, ",") {
		if word == "" {
			return nil, usageError("invalid resource/name argument or empty type in a list: " + list)
		}
		if group := c.Category(word); len(group) > 0 {
			types = append(types, group...)
			continue
		}
		r, err := c.Find(word)
		if err != nil {
			return nil, err
		}
		types = append(types, r)
	}
	return types, nil
}

// slashed parses arguments of the form type/name. Consecutive names of one type become one
// selection.
func (s *session) slashed(c *discovery.Catalog, f *targetFlags, args []string) (all []selection, mixed bool, err error) {
	if f.Selector != "" || f.All || f.AllNamespaces {
		return nil, false, usageError("names cannot be given together with a selector, --all or --all-namespaces")
	}
	for _, arg := range args {
		word, name, ok := strings.Cut(arg, "/")
		if ok && (word == "" || name == "" || strings.Contains(name, "/")) {
			return nil, false, usageError("arguments in resource/name form must have a single resource and name: " + arg)
		}
		if !ok {
			return nil, false, usageError(fmt.Sprintf("there is no need to specify a resource type as a separate argument when passing arguments in resource/name form (e.g. 'troupe get resource/<resource_name>' instead of 'troupe get resource resource/<resource_name>'): %q", arg))
		}
		r, err := c.Find(word)
		if err != nil {
			return nil, false, err
		}
		if n := len(all); n > 0 && all[n-1].resource == r {
			all[n-1].names = append(all[n-1].names, name)
			continue
		}
		all = append(all, selection{resource: r, namespace: s.namespaceOf(r, false), names: []string{name}})
	}
	return all, len(all) > 1, nil
}

func (s *session) namespaceOf(r *discovery.Resource, everywhere bool) string {
	if !r.Namespaced || everywhere {
		return ""
	}
	return s.Namespace
}

func (s *session) fromFiles(f *targetFlags) (all []selection, mixed bool, err error) {
	err = s.eachManifest(f, func(one selection) error {
		if mixed = mixed || len(all) > 0 && all[0].resource != one.resource; len(one.names) == 0 {
			return one.unnamed()
		}
		all = append(all, one)
		return nil
	})
	return all, mixed, err
}

// manifests returns the readable objects in the files, and the joined errors for the others.
func (s *session) manifests(f *targetFlags) ([]manifest.Manifest, error) {
	if !f.IsSet() {
		return nil, usageError("must specify one of -f and -k")
	}
	o := f.Options
	o.Stdin = s.in
	all, err := manifest.Read(s.ctx, o)
	if err == nil && len(all) == 0 {
		err = errors.New("no objects passed to the command: the files are empty")
	}
	return all, err
}

// eachManifest calls do for each object in the files and continues after errors. The selection has
// no name if the object has none.
func (s *session) eachManifest(f *targetFlags, do func(one selection) error) error {
	manifests, err := s.manifests(f)
	return errors.Join(err, s.each(manifests, do))
}

func (s *session) each(manifests []manifest.Manifest, do func(one selection) error) error {
	var faults []error
	for i := range manifests {
		one, err := s.selectionOf(&manifests[i])
		if err == nil {
			err = do(one)
		}
		if s.ctx.Err() != nil {
			return s.ctx.Err()
		}
		faults = append(faults, err)
	}
	return errors.Join(faults...)
}

func (s selection) unnamed() error {
	return fmt.Errorf("an object in %q has no metadata.name", s.manifest.Source)
}

// eachObject calls do for each selected object and continues after errors.
func (s *session) eachObject(f *targetFlags, args []string, do func(object) error) error {
	selections, _, err := s.selections(f, args)
	if err == nil {
		err = f.checkNamed(selections)
	}
	if err != nil {
		return err
	}
	objects, err := s.find(f, selections)
	faults := []error{err}
	for _, one := range objects {
		faults = append(faults, do(one))
	}
	return errors.Join(faults...)
}

func (s *session) selectionOf(m *manifest.Manifest) (selection, error) {
	c, err := s.served()
	if err != nil {
		return selection{}, err
	}
	o := m.Object
	r := c.ForKind(o.String("apiVersion"), o.String("kind"))
	meta := o.Object("metadata")
	if r == nil {
		return selection{}, fmt.Errorf("resource mapping not found for name: %q namespace: %q from %q: no matches for kind %q in version %q\n%s",
			meta.String("name"), meta.String("namespace"), m.Source, o.String("kind"), o.String("apiVersion"),
			cmp.Or(c.Advice(o.String("apiVersion"), o.String("kind")), "ensure CRDs are installed first"))
	}
	one := selection{resource: r, manifest: m}
	if name := meta.String("name"); name != "" {
		one.names = []string{name}
	}
	if !r.Namespaced {
		return one, nil
	}
	one.namespace = s.Namespace
	if own := meta.String("namespace"); own != "" {
		if s.flags.Namespace != "" && own != s.Namespace {
			return selection{}, usageError(fmt.Sprintf("the namespace from the provided object %q does not match the namespace %q. You must pass '--namespace=%s' to perform this operation.", own, s.Namespace, own))
		}
		one.namespace = own
	}
	return one, nil
}

func (f *targetFlags) query() url.Values {
	q := url.Values{}
	maps.Copy(q, f.past)
	if f.Selector != "" {
		q.Set("labelSelector", f.Selector)
	}
	if f.FieldSelector != "" {
		q.Set("fieldSelector", f.FieldSelector)
	}
	return q
}

type object struct {
	resource *discovery.Resource
	tree     tree.Tree
	source   string // the source file, or ""
}

func (o object) name() string      { return o.tree.Name() }
func (o object) namespace() string { return o.tree.Object("metadata").String("namespace") }
func (o object) path() string      { return o.resource.Path(o.namespace(), o.name()) }

func (o object) String() string { return o.resource.TypeName() + "/" + o.name() }

func (s *session) find(f *targetFlags, selections []selection) ([]object, error) {
	path := func(one selection, name string) string { return one.resource.Path(one.namespace, name) }
	return s.findAt(f, selections, discovery.PageSize, path, false)
}

// findAt is like find, but with a page size for lists and a function that returns the URL path of a
// named object.
func (s *session) findAt(f *targetFlags, selections []selection, size int64, path func(selection, string) string, ignoreNotFound bool) (all []object, err error) {
	var faults []error
	for _, one := range selections {
		if len(one.names) == 0 {
			found, err := s.listBy(one.resource, one.namespace, f.query(), size)
			faults = append(faults, err)
			all = append(all, found...)
			continue
		}
		for _, name := range one.names {
			t, err := s.Get(s.ctx, path(one, name), f.past)
			if rest.IsNotFound(err) && ignoreNotFound {
				continue
			}
			if err != nil {
				faults = append(faults, err)
				continue
			}
			source := ""
			if one.manifest != nil {
				source = one.manifest.Source
			}
			all = append(all, object{one.resource, t, source})
		}
	}
	return all, errors.Join(faults...)
}

func (s *session) list(r *discovery.Resource, namespace string, query url.Values) ([]object, error) {
	return s.listBy(r, namespace, query, discovery.PageSize)
}

func (s *session) listBy(r *discovery.Resource, namespace string, query url.Values, size int64) (all []object, err error) {
	items, err := r.Objects(s.ctx, s.Client, namespace, query, size)
	for _, item := range items {
		all = append(all, object{resource: r, tree: item})
	}
	return all, err
}
