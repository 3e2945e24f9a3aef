package plan

import (
	"cmp"
	"context"
	"fmt"
	"net/http"
	"slices"
	"strings"
	"sync"

	"golang.org/x/sync/errgroup"

	"github.com/troupe-api/troupe/cmd/troupe/internal/client/discovery"
	"github.com/troupe-api/troupe/cmd/troupe/internal/client/document"
	"github.com/troupe-api/troupe/cmd/troupe/internal/client/rest"
	"github.com/troupe-api/troupe/kinds/tree"
)

// liveCollections are the groups and resources whose objects are all read.
var liveCollections = [][2]string{
	{"apiextensions", "customresourcedefinitions"}, // first, because other objects need them
	{"admissionregistration", "validatingadmissionpolicies"}, {"admissionregistration", "validatingadmissionpolicybindings"},
	{"admissionregistration", "mutatingadmissionpolicies"}, {"admissionregistration", "mutatingadmissionpolicybindings"},
}

// readLive returns the part of a server's state that determines the result of a plan: the objects
// in the input and their namespaces, all CustomResourceDefinitions, and the admission policies with
// their bindings and params. It only sends GET requests. It fails if the user may not read an
// object of the input, because the plan would show the object as created.
func (p *planner) readLive(ctx context.Context) (objects [][]byte, err error) {
	kinds, err := discovery.Load(ctx, p.Live)
	if err != nil {
		return nil, err
	}
	p.Config.Naming = kinds.Naming.Profile
	var mu sync.Mutex
	var all []tree.Tree
	var forbidden []string // resources of the input
	read := func(ctx context.Context, r *discovery.Resource, namespace, name string, isInput bool) (err error) {
		found := make([]tree.Tree, 1)
		if name == "" {
			found, err = r.Objects(ctx, p.Live, namespace, nil, discovery.PageSize)
		} else {
			found[0], err = p.Live.Get(ctx, r.Path(namespace, name), nil)
		}
		mu.Lock()
		defer mu.Unlock()
		switch {
		case err == nil:
			all = append(all, found...)
		case rest.HasCode(err, http.StatusForbidden) && isInput:
			forbidden = append(forbidden, r.FullName())
		case rest.HasCode(err, http.StatusForbidden):
			p.other = append(p.other, Finding{p.Live.Server(), 0, levelWarning, "Forbidden", "", "left out of the live state: " + err.Error(), ""})
		case !rest.IsNotFound(err):
			return fmt.Errorf("reading the live state: %w", err)
		}
		return nil
	}
	for _, from := range liveCollections {
		if r, err := kinds.Own(from[0], from[1]); err == nil { // otherwise the server cannot contain it
			if err := read(ctx, r, "", "", false); err != nil {
				return nil, err
			}
		}
	}
	params, known := paramReferences(all), map[string]bool{} // by path
	g, ctx := errgroup.WithContext(ctx)
	g.SetLimit(atOnce)
	get := func(o reference, isInput bool) {
		r := kinds.ForKind(o.APIVersion, o.Kind)
		if r != nil && !known[r.Path(o.Namespace, o.Name)] {
			known[r.Path(o.Namespace, o.Name)] = true
			g.Go(func() error { return read(ctx, r, o.Namespace, o.Name, isInput) })
		}
	}
	for _, o := range p.all {
		get(reference{"v1", "Namespace", "", o.Namespace}, !o.extra)
		if o.Name != "" {
			get(o.reference, !o.extra)
		}
	}
	for _, o := range p.all {
		for _, param := range params {
			param.Namespace = cmp.Or(param.Namespace, o.Namespace)
			get(param, false)
		}
	}
	if err = g.Wait(); err == nil && len(forbidden) > 0 {
		slices.Sort(forbidden)
		err = fmt.Errorf("reading the live state: the user needs the permission to get %s", strings.Join(slices.Compact(forbidden), ", "))
	}
	copied := map[string]bool{} // UIDs, because an object has a path per version, and may already be listed
	for _, one := range all {
		if uid := one.Object("metadata").String("uid"); !copied[uid] {
			copied[uid] = true
			objects = append(objects, document.JSON(one))
		}
	}
	return objects, err
}
