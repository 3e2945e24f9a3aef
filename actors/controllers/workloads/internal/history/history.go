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

// A Revision is one template of an object.
// It is read from a ControllerRevision and does not change; raising its number gives another one.
type Revision struct {
	reconcile.Head
	Number int64
	Hash   string // its label
	Data   tree.Tree

	item    *reconcile.Item
	created time.Time
}

// Template is the template of the revision.
// The caller gets a copy without the directive of the patch, which would not be valid in a Pod template.
func (r *Revision) Template() tree.Tree {
	template := r.Data.Object("spec", "template").Copy()
	delete(template, "$patch")
	return template
}

// A History holds the revisions of one kind.
// It keeps nothing itself: the revisions are in the cache that all controllers share.
type History struct {
	cluster   *cluster.Cluster
	revisions *reconcile.Cache[*reconcile.Item]
	hashLabel string // of revisions
}

// New makes a History whose revisions have their hash in a label.
func New(c *cluster.Cluster, hashLabel string) *History {
	return &History{cluster: c, revisions: c.Items("apps", "v1", "ControllerRevision"), hashLabel: hashLabel}
}

// Cache is what a controller with revisions needs.
func (h *History) Cache() *reconcile.Cache[*reconcile.Item] { return h.revisions }

// List are the revisions of an object, the lowest number first, after it has adopted those that it selects.
// Whatever it controls stays its own, though the labels of an earlier template may no longer be selected: releasing such
// a revision would lose history that clients undo to.
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

// read decodes a revision. One without a number has the number 0 and comes first.
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

// dataOf is the data of a revision with a template.
func dataOf(template tree.Tree) tree.Tree {
	template = template.Copy()
	template["$patch"] = "replace"
	return tree.Tree{"spec": tree.Tree{"template": template}}
}

// Current finds or makes the revision of a template, as the one with the highest number. collisions counts how often
// a name was taken.
// all has to be in the order of List. Going back to an earlier template raises the number of its revision instead of
// making a second one, so no two revisions of an object have the same data.
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

// written is the revision that a write has answered. It is read from the cache, into which the write has brought its
// answer; somebody may have deleted it since.
func (h *History) written(o *meta.Object) (*Revision, error) {
	if i := h.revisions.Get(o.Key); i != nil && i.UID == o.Meta.UID {
		return h.read(i)
	}
	return nil, fmt.Errorf("revision %s is gone again", o.Key.Name)
}

// create makes a revision. It tries other names, by counting collisions in the hash, as long as a name is taken by
// something else. The caller has to store the count, or the next revision would run into the same names.
func (h *History) create(ctx context.Context, owner *reconcile.Item, annotations, template, data tree.Tree, number int64, collisions *int64) (*Revision, error) {
	for {
		hash := hashOf(data, *collisions)
		name := owner.Key.Name[:min(len(owner.Key.Name), maxNamePrefix)] + "-" + hash
		labels := template.Object("metadata", "labels").Copy()
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

// same is the revision of a name if it has some data and is the owner's: another process may have made it.
// Without this look a process that was ended after its create would make a second revision of the same data. What was
// read is brought into the cache, which may not have seen it yet.
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

// maxNamePrefix is how much of the name of an object is in the names of its revisions.
// With the dash and the hash the name stays within the 253 characters that names may have.
const maxNamePrefix = 223

// hashOf is the FNV-1 hash, of 32 bits, of the data and the number of collisions.
func hashOf(data tree.Tree, collisions int64) string {
	text, err := json.Marshal(data) // names of fields are sorted
	if err != nil {
		panic(err) // a decoded object can always be encoded
	}
	sum := fnv.New32()
	sum.Write(text)
	sum.Write(strconv.AppendInt(nil, collisions, 10))
	return cluster.SafeEncode(strconv.FormatUint(uint64(sum.Sum32()), 10))
}

// Truncate deletes the revisions with the lowest numbers that nobody uses, beyond a limit.
// all has to be in the order of List. Revisions in use do not count towards the limit.
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
