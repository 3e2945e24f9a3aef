package plan

import (
	"cmp"
	"context"
	"fmt"
	"net/http"
	"sync"

	"golang.org/x/sync/errgroup"

	"github.com/troupe-api/troupe/cmd/troupe/internal/client/discovery"
	"github.com/troupe-api/troupe/cmd/troupe/internal/client/document"
	"github.com/troupe-api/troupe/cmd/troupe/internal/client/rest"
	"github.com/troupe-api/troupe/kinds/tree"
)

// A liveReader reads the part of a server's state that determines the result of a plan: the objects
// in the input and their namespaces, all CustomResourceDefinitions, and the admission policies with
// their bindings and params. It only sends GET requests.
type liveReader struct {
	*rest.Client
	planner *planner
	kinds   *discovery.Catalog

	mu      sync.Mutex
	known   map[string]bool // paths read before
	objects [][]byte
}

func (l *liveReader) read(ctx context.Context) (_ [][]byte, err error) {
	if l.kinds, err = discovery.Load(ctx, l.Client); err != nil {
		return nil, err
	}
	l.known = map[string]bool{}
	var all []tree.Tree
	for _, from := range [][2]string{
		{"apiextensions", "customresourcedefinitions"}, // first, because other objects need them
		{"admissionregistration", "validatingadmissionpolicies"}, {"admissionregistration", "validatingadmissionpolicybindings"},
		{"admissionregistration", "mutatingadmissionpolicies"}, {"admissionregistration", "mutatingadmissionpolicybindings"},
	} {
		r, err := l.kinds.Own(from[0], from[1])
		if err != nil {
			continue // the server does not have it
		}
		found, err := l.get(ctx, r, "", "")
		if err != nil {
			return nil, err
		}
		all = append(all, found...)
	}
	g, ctx := errgroup.WithContext(ctx)
	g.SetLimit(atOnce)
	get := func(apiVersion, kind, namespace, name string) {
		if r := l.kinds.ForKind(apiVersion, kind); r != nil {
			g.Go(func() error {
				_, err := l.get(ctx, r, namespace, name)
				return err
			})
		}
	}
	for _, o := range l.planner.objects {
		get("v1", "Namespace", "", o.Namespace)
		if o.Name != "" {
			get(o.APIVersion, o.Kind, o.Namespace, o.Name)
		}
		for _, t := range all {
			for _, p := range paramReferences(t, all) {
				get(p.apiVersion, p.kind, cmp.Or(p.namespace, o.Namespace), p.name)
			}
		}
	}
	err = g.Wait()
	return l.objects, err
}

// get reads an object, or all objects in a namespace if name is empty. It returns none if they do
// not exist or were read before. Missing permission is a warning.
func (l *liveReader) get(ctx context.Context, r *discovery.Resource, namespace, name string) (all []tree.Tree, err error) {
	path := r.Path(namespace, name)
	l.mu.Lock()
	known := l.known[path]
	l.known[path] = true
	l.mu.Unlock()
	switch {
	case known:
		return nil, nil
	case name == "":
		all, err = r.Objects(ctx, l.Client, namespace, nil, discovery.PageSize)
	default:
		all = make([]tree.Tree, 1)
		all[0], err = l.Get(ctx, path, nil)
	}
	if err != nil {
		return nil, l.failed(err)
	}
	l.mu.Lock()
	defer l.mu.Unlock()
	for _, one := range all {
		l.objects = append(l.objects, document.JSON(one))
	}
	return all, nil
}

func (l *liveReader) failed(err error) error {
	switch {
	case rest.IsNotFound(err):
		return nil
	case !rest.HasCode(err, http.StatusForbidden):
		return fmt.Errorf("reading the live state: %w", err)
	}
	l.mu.Lock()
	defer l.mu.Unlock()
	other := &l.planner.report.other
	*other = append(*other, Finding{l.Server(), 0, Warning, "Forbidden", "", "left out of the live state: " + err.Error(), ""})
	return nil
}
