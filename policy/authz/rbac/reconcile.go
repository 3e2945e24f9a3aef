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
	"github.com/troupe-api/troupe/kinds/schema"
	"github.com/troupe-api/troupe/kinds/tree"
)

// Pages lists paths that exist only in some server configurations.
type Pages struct {
	Monitoring []string // for system:monitoring
	Everybody  []string // for everyone, including anonymous users
}

// A Store reads and writes the default roles and bindings.
type Store interface {
	Get(ctx context.Context, r request.Get) (*meta.Object, error)
	Mutate(ctx context.Context, m request.Mutation) (request.Result, error)
}

// Reconcile creates missing default roles and bindings. It adds missing rules, subjects, labels and
// annotations to existing objects, and keeps additions by operators. It recreates bindings to a
// wrong role, and skips objects with the autoupdate annotation "false". It writes changed objects
// concurrently. The error contains the first failures.
//
// pages extends the paths in the roles.
func Reconcile(ctx context.Context, store Store, kinds *catalog.Catalog, pages Pages) error {
	b := roleBuilder{kinds.Naming()}
	r := &reconciler{store: store, manager: b.Translate("platform-apiserver"), autoupdateAnnotation: b.Translate(autoupdateAnnotation), kinds: map[string]*schema.Kind{}}
	for _, k := range kinds.StorageKinds() {
		if k.Group == b.Translate(group) {
			r.kinds[k.Kind] = k
		}
	}
	for _, s := range defaultRoles(kinds, pages) {
		prefix := ""
		if s.Namespace == "" {
			prefix = "Cluster"
		}
		r.reconcile(ctx, prefix+"Role", b.role(s), repairRole)
		if binding := b.bindingOf(s); binding != nil {
			r.reconcile(ctx, prefix+"RoleBinding", binding, repairBinding)
		}
	}
	r.writers.Wait()
	if more := len(r.errs) - maxReportedErrors; more > 0 {
		r.errs = append(r.errs[:maxReportedErrors], fmt.Errorf("and %d more", more))
	}
	return errors.Join(r.errs...)
}

const maxReportedErrors = 3

// A reconciler compares objects one after another and writes the changed ones concurrently.
type reconciler struct {
	store                Store
	manager              string // field manager of the writes
	autoupdateAnnotation string // "false" protects an object from repairs
	kinds                map[string]*schema.Kind

	writers sync.WaitGroup
	mu      sync.Mutex // guards errs
	errs    []error
}

// A repairFunc adds the parts of wanted that are missing in has, the stored object. changed reports
// whether it modified has. anew reports whether the object must be recreated instead.
type repairFunc func(has, wanted tree.Tree) (changed, anew bool)

// reconcile compares one object and, if it differs, starts a concurrent write. Concurrent writes
// share fsyncs.
func (r *reconciler) reconcile(ctx context.Context, kind string, wanted tree.Tree, fix repairFunc) {
	k := r.kinds[kind]
	if k == nil {
		return // the kind is disabled
	}
	metadata := wanted.Object("metadata")
	key := meta.Key{GroupResource: k.Storage, Namespace: metadata.String("namespace"), Name: metadata.String("name")}
	write, err := r.plan(ctx, k, key, wanted, fix)
	if write == nil && err == nil {
		return
	}
	r.writers.Go(func() {
		for try := 0; err == nil && write != nil && try < maxAttempts; try++ {
			if err = write(); err == nil || !isRetriable(err) {
				break
			}
			write, err = r.plan(ctx, k, key, wanted, fix)
		}
		if err != nil {
			r.mu.Lock()
			defer r.mu.Unlock()
			r.errs = append(r.errs, fmt.Errorf("%s: %w", key, err))
		}
	})
}

const maxAttempts = 5

func isRetriable(err error) bool {
	var status *meta.Status
	return errors.As(err, &status) &&
		slices.Contains([]meta.Reason{meta.ReasonConflict, meta.ReasonAlreadyExists, meta.ReasonNotFound}, status.Reason)
}

// plan returns the write that repairs an object, or nil. It keeps operators' additions. It
// recreates a binding to the wrong role, because roleRef is immutable. A UID precondition protects
// a binding that another server has already recreated.
func (r *reconciler) plan(ctx context.Context, k *schema.Kind, key meta.Key, wanted tree.Tree, fix repairFunc) (func() error, error) {
	mutate := func(m request.Mutation) error {
		m.Kind, m.Key, m.FieldManager = k, key, r.manager
		_, err := r.store.Mutate(ctx, m)
		return err
	}
	create := func() error { return mutate(request.Mutation{Change: request.Create{Object: wanted}}) }
	stored, err := r.store.Get(ctx, request.Get{Kind: k, Key: key})
	if err != nil {
		if isRetriable(err) {
			return create, nil
		}
		return nil, err
	}
	has, err := codec.DecodeStored(k.Message(), stored.JSON)
	if err != nil || has.Annotations().String(r.autoupdateAnnotation) == "false" {
		return nil, err
	}
	changed := addMissingEntries(has, wanted, "labels")
	changed = addMissingEntries(has, wanted, "annotations") || changed
	repaired, anew := fix(has, wanted)
	switch {
	case anew:
		precondition := request.Delete{UID: &stored.Meta.UID}
		return func() error {
			if err := mutate(request.Mutation{Change: precondition}); err != nil {
				return err
			}
			return create()
		}, nil
	case changed || repaired:
		return func() error { return mutate(request.Mutation{Change: request.Update{Object: has}}) }, nil
	}
	return nil, nil
}

func addMissingEntries(has, wanted tree.Tree, field string) (changed bool) {
	for name, value := range wanted.Object("metadata", field) {
		if _, ok := has.Object("metadata", field)[name]; !ok {
			has.EnsureObject("metadata", field)[name] = value
			changed = true
		}
	}
	return changed
}

// repairRole adds missing rules, unless the role aggregates them. A rule is not missing if other
// rules cover it, because operators may simplify roles.
func repairRole(has, wanted tree.Tree) (changed, recreate bool) {
	gathered, gather := has.Object("aggregationRule"), wanted.Object("aggregationRule")
	if gathered == nil || gather == nil {
		for _, lack := range uncovered(newRules(has), newRules(wanted)) {
			has["rules"] = append(has.List("rules"), any(lack.tree()))
			changed = true
		}
	}
	if gathered != nil && gather == nil {
		delete(has, "aggregationRule")
		return true, false
	}
	if gather != nil {
		const field = "clusterRoleSelectors"
		changed = addMissingItems(has.EnsureObject("aggregationRule"), gather, field) || changed
	}
	return changed, false
}

func repairBinding(has, wanted tree.Tree) (changed, recreate bool) {
	if !maps.EqualFunc(has.Object("roleRef"), wanted.Object("roleRef"), tree.SemanticEqual) {
		return false, true
	}
	return addMissingItems(has, wanted, "subjects"), false
}

func addMissingItems(has, wanted tree.Tree, field string) (changed bool) {
	for _, item := range wanted.List(field) {
		list := has.List(field)
		if !slices.ContainsFunc(list, func(other any) bool { return tree.SemanticEqual(other, item) }) {
			has[field] = append(list, item)
			changed = true
		}
	}
	return changed
}
