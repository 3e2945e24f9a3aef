package history

import (
	"cmp"
	"context"
	"encoding/json"
	"fmt"
	"hash/fnv"
	"slices"
	"strconv"
	"strings"
	"time"

	"github.com/troupe-api/troupe/actors/controllers/internal/reconcile"
	"github.com/troupe-api/troupe/actors/controllers/workloads/internal/cluster"
	"github.com/troupe-api/troupe/kinds/meta"
	"github.com/troupe-api/troupe/kinds/tree"
)

// A Revision is a view of a ControllerRevision.
type Revision struct {
	reconcile.Head
	Number int64
	Hash   string // from its label
	Data   tree.Tree

	item    *reconcile.Item
	created time.Time
}

// Template returns a copy of the template. It drops the patch directive, which is invalid in a Pod
// template.
func (r *Revision) Template() tree.Tree {
	template := r.Data.Object("spec", "template").Copy()
	delete(template, "$patch")
	return template
}

// A History manages the revisions of one workload kind in the shared cache.
type History struct {
	cluster   *cluster.Cluster
	revisions *reconcile.Cache[*reconcile.Item]
	hashLabel string // of revisions
}

// New returns a History that stores the hash of a revision in the label hashLabel.
func New(c *cluster.Cluster, hashLabel string) *History {
	return &History{cluster: c, revisions: c.Items("apps", "v1", "ControllerRevision"), hashLabel: hashLabel}
}

// Cache returns the cache of revisions, for use as a Source.
func (h *History) Cache() *reconcile.Cache[*reconcile.Item] { return h.revisions }

// List returns the revisions of an object, lowest number first, and adopts matching orphans. It
// does not release revisions that no longer match the selector, because clients may roll back to
// them.
func (h *History) List(ctx context.Context, owner *reconcile.Item) (all []*Revision, err error) {
	claimer := &reconcile.Claimer{Owner: owner, Selects: func(r *reconcile.Head) bool { return r.ControlledBy(owner.UID) || owner.Selects(r.Labels) }}
	items, err := reconcile.ClaimAll(ctx, claimer, h.revisions)
	if err != nil {
		return nil, err
	}
	for _, i := range items {
		if now := h.revisions.Get(i.Key); now != nil {
			i = now
		}
		r, err := h.read(i)
		if err != nil {
			return nil, err
		}
		all = append(all, r)
	}
	slices.SortFunc(all, func(a, b *Revision) int {
		return cmp.Or(cmp.Compare(a.Number, b.Number), a.created.Compare(b.created), strings.Compare(a.Key.Name, b.Key.Name))
	})
	return all, nil
}

func (h *History) read(i *reconcile.Item) (*Revision, error) {
	t, err := i.Tree()
	if err != nil {
		return nil, err
	}
	r := &Revision{Head: i.Head, item: i, Data: t.Object("data"), created: reconcile.Time(t.Object("metadata"), "creationTimestamp")}
	r.Number, _ = t.Int("revision")
	r.Hash, _ = i.Labels.Get(h.hashLabel)
	return r, nil
}

func dataOf(template tree.Tree) tree.Tree {
	template = template.Copy()
	template["$patch"] = "replace"
	return tree.Tree{"spec": tree.Tree{"template": template}}
}

// Current returns the revision with the given template and makes sure that it has the highest
// number. It creates the revision if necessary. all must be sorted as returned by List. collisions
// is incremented for each name collision.
func (h *History) Current(ctx context.Context, owner *reconcile.Item, annotations, template tree.Tree, all []*Revision, collisions *int64) (*Revision, error) {
	data := dataOf(template)
	var equal *Revision
	for _, r := range all {
		if tree.StoredEqual(r.Data, data) {
			equal = r
		}
	}
	next := int64(1)
	if len(all) > 0 {
		last := all[len(all)-1]
		if next = last.Number + 1; equal == last {
			return last, nil
		}
	}
	if equal != nil {
		o, err := h.revisions.PatchExisting(ctx, equal.Object(), "", tree.Tree{"revision": next})
		if err != nil {
			return nil, err
		}
		return h.written(o)
	}
	return h.create(ctx, owner, annotations, template, data, next, collisions)
}

func (h *History) written(o *meta.Object) (*Revision, error) {
	if i := h.revisions.Get(o.Key); i != nil && i.UID == o.Meta.UID {
		return h.read(i)
	}
	return nil, fmt.Errorf("revision %s was deleted", o.Key.Name)
}

// create creates a revision. While a different revision uses the name, it increments collisions,
// which changes the hash in the name. The caller must store collisions in the status.
func (h *History) create(ctx context.Context, owner *reconcile.Item, annotations, template, data tree.Tree, number int64, collisions *int64) (*Revision, error) {
	for {
		hash := hashOf(data, *collisions)
		name := owner.Key.Name[:min(len(owner.Key.Name), maxNamePrefix)] + "-" + hash
		labels := template.Labels().Copy()
		labels[h.hashLabel] = hash
		metadata := tree.Tree{"namespace": owner.Key.Namespace, "name": name, "labels": labels, "ownerReferences": []any{owner.ControllerReference()}}
		if len(annotations) > 0 {
			metadata["annotations"] = tree.Clone(annotations)
		}
		o, err := h.revisions.Create(ctx, tree.Tree{"metadata": metadata, "data": tree.Clone(data), "revision": number})
		if err == nil {
			return h.written(o)
		}
		if !reconcile.IsAlreadyExists(err) {
			return nil, err
		}
		if same, err := h.same(ctx, owner, name, data); same != nil || err != nil {
			return same, err
		}
		*collisions++
	}
}

// same returns the named revision if it belongs to owner and has equal data, which may happen after
// a crash. It adds the revision to the cache, which may lag behind.
func (h *History) same(ctx context.Context, owner *reconcile.Item, name string, data tree.Tree) (*Revision, error) {
	o, err := h.revisions.GetNamed(ctx, owner.Key.Namespace, name)
	if err != nil || o == nil {
		return nil, err
	}
	t, err := h.revisions.Decode(o)
	if err != nil || !tree.StoredEqual(t.Object("data"), data) {
		return nil, err
	}
	if !slices.ContainsFunc(o.Meta.OwnerReferences, func(r meta.OwnerReference) bool { return r.Controller && r.UID == owner.UID }) {
		return nil, nil
	}
	h.revisions.Written(reconcile.Event{Object: o})
	return h.written(o)
}

// maxNamePrefix limits the part of a revision's name before the dash and hash, so that the name has
// at most 253 characters.
const maxNamePrefix = 223

func hashOf(data tree.Tree, collisions int64) string {
	text, err := json.Marshal(data) // field names are sorted
	if err != nil {
		panic(err) // a decoded object can always be encoded
	}
	sum := fnv.New32()
	sum.Write(text)
	sum.Write(strconv.AppendInt(nil, collisions, 10))
	return cluster.SafeEncode(strconv.FormatUint(uint64(sum.Sum32()), 10))
}

// Truncate deletes the oldest unused revisions in excess of limit. Used revisions do not count
// toward the limit. all must be sorted as returned by List.
func (h *History) Truncate(ctx context.Context, all []*Revision, limit int64, used func(*Revision) bool) error {
	var idle []*Revision
	for _, r := range all {
		if !used(r) && !r.Terminating {
			idle = append(idle, r)
		}
	}
	return reconcile.ForEachParallel(idle[:max(0, len(idle)-int(max(0, limit)))], func(r *Revision) error {
		return h.revisions.Remove(ctx, &r.Head, "Background")
	})
}
