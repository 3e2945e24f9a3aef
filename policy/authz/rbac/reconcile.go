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

// Pages are paths that are served only by some servers.
type Pages struct {
	Monitoring []string // for members of system:monitoring
	Everybody  []string // also for those who have not signed in
}

// A Store is where the default roles and bindings are kept.
type Store interface {
	Get(ctx context.Context, r request.Get) (*meta.Object, error)
	Mutate(ctx context.Context, m request.Mutation) (request.Result, error)
}

// Reconcile makes the default roles and bindings that are missing, and gives those that are
// there the permissions, subjects and labels that they lack; what they have beyond that stays.
// A binding to another role is made anew. One that is annotated against it is left alone. It
// writes only what differs, and all at a time. An error names the first objects that it is about.
//
// The roles allow pages besides the paths that are always there.
func Reconcile(ctx context.Context, store Store, kinds *catalog.Catalog, pages Pages) error {
	b := roleBuilder{kinds.Naming()}
	r := &reconciler{store: store, manager: b.Translate("platform-apiserver"), autoupdateAnnotation: b.Translate(autoupdateAnnotation), kinds: map[string]*schema.Kind{}}
	for _, k := range kinds.StorageKinds() {
		if k.Group == b.Translate(group) {
			r.kinds[k.Kind] = k
		}
	}
	for _, s := range slices.Concat(defaultRoles(pages), trustBundleRoles(kinds), migratorRoles(kinds)) {
		prefix := ""
		if s.namespace == "" {
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

// maxReportedErrors is how many objects an error names at most.
const maxReportedErrors = 3

// A reconciler compares one object after the other, and writes many at a time.
type reconciler struct {
	store                Store
	manager              string // of the fields that it writes
	autoupdateAnnotation string // the annotation that "false" makes it leave an object alone
	kinds                map[string]*schema.Kind

	writers sync.WaitGroup
	mu      sync.Mutex // guards faults
	errs    []error
}

// A repairFunc is what an object lacks of what is wanted, put into it. anew tells that it cannot
// be repaired. It changes has.
type repairFunc func(has, wanted tree.Tree) (changed, anew bool)

// reconcile reads one object, and starts to write it if it differs from what is wanted.
//
// The comparison is made one object after the other and costs reads of memory; writes wait for the disk, and go out
// together so that they share its syncs. On a cluster that has all of them nothing is written.
func (r *reconciler) reconcile(ctx context.Context, kind string, wanted tree.Tree, fix repairFunc) {
	k := r.kinds[kind]
	if k == nil {
		return // switched off
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

// maxAttempts is how often an object is looked at anew because somebody else was quicker.
const maxAttempts = 5

// isRetriable tells whether an error goes away when the object is read and written again.
func isRetriable(err error) bool {
	var status *meta.Status
	return errors.As(err, &status) &&
		slices.Contains([]meta.Reason{meta.ReasonConflict, meta.ReasonAlreadyExists, meta.ReasonNotFound}, status.Reason)
}

// plan is what has to be written; nil if nothing has.
//
// Missing entries are added and nothing is taken away, for an operator may have given a default role more than it
// had. The delete before a new binding names the UID, so that a binding that somebody else has made meanwhile is not
// hit: roleRef cannot be updated.
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
	if err != nil || has.Object("metadata", "annotations").String(r.autoupdateAnnotation) == "false" {
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

// addMissingEntries gives an object the labels, or annotations, that it lacks.
func addMissingEntries(has, wanted tree.Tree, field string) (changed bool) {
	for name, value := range wanted.Object("metadata", field) {
		if _, ok := has.Object("metadata", field)[name]; !ok {
			has.EnsureObject("metadata", field)[name] = value
			changed = true
		}
	}
	return changed
}

// repairRole adds the permissions that a role lacks. Those of a role that gathers others are
// not its own.
//
// A rule counts as there if other rules of the role cover it, however they are written; that keeps a role that an
// operator has tidied up from growing on each start.
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

// repairBinding adds the subjects that a binding lacks.
//
// Its subjects are only added to: a user that an operator has bound stays bound.
func repairBinding(has, wanted tree.Tree) (changed, recreate bool) {
	if !maps.EqualFunc(has.Object("roleRef"), wanted.Object("roleRef"), tree.SemanticEqual) {
		return false, true
	}
	return addMissingItems(has, wanted, "subjects"), false
}

// addMissingItems adds to a list what it lacks of that of wanted.
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
