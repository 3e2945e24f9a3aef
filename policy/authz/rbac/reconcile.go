package rbac

import (
	"context"
	"errors"
	"fmt"
	"maps"
	"slices"
	"sync"

	"github.com/troupe-api/troupe/kinds/catalog"
	"github.com/troupe-api/troupe/kinds/codec"
	"github.com/troupe-api/troupe/kinds/meta"
	"github.com/troupe-api/troupe/kinds/request"
	"github.com/troupe-api/troupe/kinds/rules"
	"github.com/troupe-api/troupe/kinds/schema"
)

// A Store is where the default roles and bindings are kept.
type Store interface {
	Get(ctx context.Context, r request.Get) (*meta.Object, error)
	Mutate(ctx context.Context, m request.Mutation) (request.Result, error)
}

// Reconcile makes the default roles and bindings that are missing, and gives those that are
// there the permissions, subjects and labels that they lack; what they have beyond that stays.
// A binding to another role is made anew. One that is annotated against it is left alone. It
// writes only what differs, and all at a time. An error names the first objects that it is about.
func Reconcile(ctx context.Context, store Store, kinds *catalog.Catalog) error {
	b := builder{kinds.Naming()}
	r := &reconciler{store: store, manager: b.Name("platform-apiserver"), protect: b.Name(autoupdate), kinds: map[string]*schema.Kind{}}
	for _, k := range kinds.Stored() {
		if k.Group == b.Name(group) {
			r.kinds[k.Kind] = k
		}
	}
	for _, s := range standards() {
		prefix := ""
		if s.namespace == "" {
			prefix = "Cluster"
		}
		r.compare(ctx, prefix+"Role", b.role(s), repairRole)
		if binding := b.bindingOf(s); binding != nil {
			r.compare(ctx, prefix+"RoleBinding", binding, repairBinding)
		}
	}
	r.writing.Wait()
	if more := len(r.faults) - mostFaults; more > 0 {
		r.faults = append(r.faults[:mostFaults], fmt.Errorf("and %d more", more))
	}
	return errors.Join(r.faults...)
}

// mostFaults is how many objects an error names at most.
const mostFaults = 3

// A reconciler compares one object after the other, and writes many at a time.
type reconciler struct {
	store   Store
	manager string // of the fields that it writes
	protect string // the annotation that "false" makes it leave an object alone
	kinds   map[string]*schema.Kind

	writing sync.WaitGroup
	mu      sync.Mutex // guards faults
	faults  []error
}

// A repair is what an object lacks of what is wanted, put into it. anew tells that it cannot
// be repaired. It changes has.
type repair func(has, wanted schema.Tree) (changed, anew bool)

// compare looks at one object, and starts to write it if it is not as wanted.
func (r *reconciler) compare(ctx context.Context, kind string, wanted schema.Tree, fix repair) {
	k := r.kinds[kind]
	if k == nil {
		return // switched off
	}
	metadata := rules.Sub(wanted, "metadata")
	key := meta.Key{GroupResource: k.Storage, Namespace: rules.Text(metadata, "namespace"), Name: rules.Text(metadata, "name")}
	write, err := r.plan(ctx, k, key, wanted, fix)
	if write == nil && err == nil {
		return
	}
	r.writing.Go(func() {
		for try := 0; err == nil && write != nil && try < mostTries; try++ {
			if err = write(); err == nil || !passing(err) {
				break
			}
			write, err = r.plan(ctx, k, key, wanted, fix)
		}
		if err != nil {
			r.mu.Lock()
			defer r.mu.Unlock()
			r.faults = append(r.faults, fmt.Errorf("%s: %w", key, err))
		}
	})
}

// mostTries is how often an object is looked at anew because somebody else was quicker.
const mostTries = 5

// passing tells of errors that another look at the object cures.
func passing(err error) bool {
	var status *meta.Status
	return errors.As(err, &status) &&
		slices.Contains([]meta.Reason{meta.ReasonConflict, meta.ReasonAlreadyExists, meta.ReasonNotFound}, status.Reason)
}

// plan is what has to be written; nil if nothing has.
func (r *reconciler) plan(ctx context.Context, k *schema.Kind, key meta.Key, wanted schema.Tree, fix repair) (func() error, error) {
	mutate := func(m request.Mutation) error {
		m.Kind, m.Key, m.FieldManager = k, key, r.manager
		_, err := r.store.Mutate(ctx, m)
		return err
	}
	create := func() error { return mutate(request.Mutation{Verb: request.Create, Object: wanted}) }
	stored, err := r.store.Get(ctx, request.Get{Kind: k, Key: key})
	if err != nil {
		if passing(err) {
			return create, nil
		}
		return nil, err
	}
	has, err := codec.DecodeStored(k.Message, stored.JSON)
	if err != nil || rules.Text(rules.Sub(has, "metadata", "annotations"), r.protect) == "false" {
		return nil, err
	}
	changed := supply(has, wanted, "labels")
	changed = supply(has, wanted, "annotations") || changed
	repaired, anew := fix(has, wanted)
	switch {
	case anew:
		precondition := request.DeleteOptions{UID: stored.Head.UID}
		return func() error {
			if err := mutate(request.Mutation{Verb: request.Delete, Delete: precondition}); err != nil {
				return err
			}
			return create()
		}, nil
	case changed || repaired:
		return func() error { return mutate(request.Mutation{Verb: request.Update, Object: has}) }, nil
	}
	return nil, nil
}

// supply gives an object the labels, or annotations, that it lacks.
func supply(has, wanted schema.Tree, field string) (changed bool) {
	for name, value := range rules.Sub(wanted, "metadata", field) {
		if _, ok := rules.Sub(has, "metadata", field)[name]; !ok {
			rules.Grow(has, "metadata", field)[name] = value
			changed = true
		}
	}
	return changed
}

// repairRole adds the permissions that a role lacks. Those of a role that gathers others are
// not its own.
func repairRole(has, wanted schema.Tree) (changed, anew bool) {
	gathered, gather := rules.Sub(has, "aggregationRule"), rules.Sub(wanted, "aggregationRule")
	if gathered == nil || gather == nil {
		for _, lack := range missing(newRules(has), newRules(wanted)) {
			has["rules"] = append(rules.Items(has, "rules"), any(lack.tree()))
			changed = true
		}
	}
	if gathered != nil && gather == nil {
		delete(has, "aggregationRule")
		return true, false
	}
	if gather != nil {
		const field = "clusterRoleSelectors"
		changed = extend(rules.Grow(has, "aggregationRule"), gather, field) || changed
	}
	return changed, false
}

// repairBinding adds the subjects that a binding lacks.
func repairBinding(has, wanted schema.Tree) (changed, anew bool) {
	if !maps.EqualFunc(rules.Sub(has, "roleRef"), rules.Sub(wanted, "roleRef"), rules.Equal) {
		return false, true
	}
	return extend(has, wanted, "subjects"), false
}

// extend adds to a list what it lacks of that of wanted.
func extend(has, wanted schema.Tree, field string) (changed bool) {
	for _, item := range rules.Items(wanted, field) {
		list := rules.Items(has, field)
		if !slices.ContainsFunc(list, func(other any) bool { return rules.Equal(other, item) }) {
			has[field] = append(list, item)
			changed = true
		}
	}
	return changed
}
