package apiservices

import (
	"context"
	"maps"
	"reflect"
	"slices"
	"strings"
	"sync"

	"github.com/troupe-api/troupe/actors/controllers/internal/reconcile"
	"github.com/troupe-api/troupe/kinds/discovery"
	"github.com/troupe-api/troupe/kinds/meta"
	"github.com/troupe-api/troupe/kinds/schema"
	"github.com/troupe-api/troupe/kinds/tree"
)

// Registration maintains an APIService for each group version that this server serves itself, so
// that discovery lists them with their priorities.
//
// A label determines when an APIService is corrected. APIServices of built-in groups are created
// and corrected once after each start, so administrators may change them while the server runs.
// APIServices of CRDs are always corrected. APIServices without the label belong to users and are
// never changed.
type Registration struct {
	*reconcile.Controller[string]
	services   reconcile.Client
	priorities *discovery.Priorities
	label      string
	ready      chan struct{} // closed when all versions served at the start have been processed

	mu      sync.Mutex              // guards the rest
	known   map[string]*meta.Object // existing APIServices
	atStart map[string]bool         // APIServices that existed before the first sync
	synced  map[string]bool         // processed at least once
	pending map[string]bool         // versions served at the start that are not processed yet; nil when ready
}

// Values of the label that marks managed APIServices.
const (
	managedOnStart = "onstart"
	managedAlways  = "true"
)

func NewRegistration(env *reconcile.Env) *Registration {
	r := &Registration{
		services: apiServices(env), priorities: discovery.NewPriorities(env.Naming), ready: make(chan struct{}),
		label: env.Translate("platform-aggregator.platform.io/automanaged"),
		known: map[string]*meta.Object{}, atStart: map[string]bool{}, synced: map[string]bool{}, pending: map[string]bool{},
	}
	r.Controller = reconcile.New(env, "APIServiceRegistrationController", r.sync, "cannot maintain an APIService", "apiservice")
	r.Watch(r.services, r.onService).Synced = r.onSynced
	r.Go(r.followCatalog)
	return r
}

func apiServices(env *reconcile.Env) reconcile.Client {
	return env.Client("apiregistration.platform.io", "v1", "APIService").As(env.Translate("platform-apiserver"))
}

// Ready returns a channel that is closed once the APIService of each group version served at
// startup exists or writing it has failed.
func (r *Registration) Ready() <-chan struct{} { return r.ready }

func (r *Registration) onService(e reconcile.Event) {
	r.mu.Lock()
	if e.Deleted {
		delete(r.known, e.Key.Name)
	} else {
		r.known[e.Key.Name] = e.Object
	}
	r.mu.Unlock()
	r.Add(e.Key.Name)
}

// onSynced records the APIServices and group versions that exist at startup. It runs after the
// informer has synced, because existing APIServices would otherwise seem to be missing.
func (r *Registration) onSynced() {
	r.mu.Lock()
	defer r.mu.Unlock()
	for name := range r.known {
		r.atStart[name] = true
	}
	for _, k := range r.Kinds.Kinds() {
		r.pending[k.Version+"."+k.Group] = true
	}
}

func (r *Registration) followCatalog(ctx context.Context) {
	before := map[string]bool{}
	for {
		changed := r.Kinds.Changed()
		now := map[string]bool{}
		for _, k := range r.Kinds.Kinds() {
			name := k.Version + "." + k.Group
			if !now[name] && !before[name] {
				r.Add(name)
			}
			now[name] = true
		}
		for name := range before {
			if !now[name] {
				r.Add(name)
			}
		}
		before = now
		select {
		case <-changed:
		case <-ctx.Done():
			return
		}
	}
}

// desired returns the desired spec of an APIService, or nil if it should not exist. The group of
// APIServices itself has no APIService, because it is served unconditionally.
func (r *Registration) desired(name string) tree.Tree {
	version, group, _ := strings.Cut(name, ".")
	served := slices.ContainsFunc(r.Kinds.Kinds(), func(k *schema.Kind) bool {
		return k.Group == group && k.Version == version && k.Resource != ""
	})
	if !served || group == r.services.Group {
		return nil
	}
	priority := r.priorities.Of(group, version)
	spec := tree.Tree{"version": version, "groupPriorityMinimum": priority.Group, "versionPriority": priority.Version}
	if group != "" {
		spec["group"] = group
	}
	return spec
}

func (r *Registration) management(group string) string {
	if r.Kinds.IsBuiltInGroup(group) {
		return managedOnStart
	}
	return managedAlways
}

func (r *Registration) sync(ctx context.Context, name string) error {
	r.mu.Lock()
	o, syncedBefore, wasAtStart := r.known[name], r.synced[name], r.atStart[name]
	r.mu.Unlock()
	err := r.keep(ctx, name, o, syncedBefore, wasAtStart)
	// A concurrent change triggers another event, so these errors need no retry.
	err = reconcile.Except(err, reconcile.IsNotFound, reconcile.IsConflict, reconcile.IsAlreadyExists)
	r.mu.Lock()
	defer r.mu.Unlock()
	r.synced[name] = r.synced[name] || err == nil
	if delete(r.pending, name); r.pending != nil && len(r.pending) == 0 {
		r.pending = nil
		close(r.ready)
	}
	return err
}

// keep creates, corrects or deletes one APIService. o is nil if the APIService does not exist. An
// APIService with the label value "onstart" belongs to administrators after the first sync, and one
// without the label is never changed.
func (r *Registration) keep(ctx context.Context, name string, o *meta.Object, syncedBefore, wasAtStart bool) error {
	want := r.desired(name)
	management := r.management(want.String("group"))
	switch {
	case want == nil && o == nil, want != nil && management == managedOnStart && syncedBefore:
		return nil
	case o == nil:
		return r.create(ctx, name, want, management)
	}
	current, _ := o.Meta.Labels.Get(r.label)
	switch {
	case current != managedOnStart && current != managedAlways:
		return nil
	case current == managedOnStart && (!wasAtStart || syncedBefore):
		return nil
	case want == nil:
		return r.services.Delete(ctx, o)
	}
	return r.correct(ctx, o, want)
}

func (r *Registration) create(ctx context.Context, name string, spec tree.Tree, management string) error {
	_, err := r.services.Create(ctx, tree.Tree{"metadata": tree.Tree{"name": name, "labels": tree.Tree{r.label: management}}, "spec": spec})
	return err
}

// correct sets the spec to want and removes all other fields.
func (r *Registration) correct(ctx context.Context, o *meta.Object, want tree.Tree) error {
	object, err := r.services.Decode(o)
	if err != nil {
		return err
	}
	spec := object.Object("spec")
	patch := tree.Tree{}
	for field := range spec {
		patch[field] = nil
	}
	maps.Copy(patch, want)
	for field, value := range patch {
		if reflect.DeepEqual(spec[field], value) {
			delete(patch, field)
		}
	}
	if len(patch) == 0 {
		return nil
	}
	return r.services.Patch(ctx, o, "", tree.Tree{"spec": patch})
}
