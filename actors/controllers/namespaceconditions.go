package controllers

import (
	"context"
	"errors"
	"fmt"
	"maps"
	"slices"
	"strings"

	"github.com/troupe-api/troupe/kinds/codec"
	"github.com/troupe-api/troupe/kinds/meta"
	"github.com/troupe-api/troupe/kinds/rules"
	"github.com/troupe-api/troupe/kinds/schema"
)

// A remainder is what is left of a namespace's content after everything was asked to go: how many
// objects of each resource, and how many each finalizer holds.
type remainder struct {
	resources  map[string]int // by "<resource>.<group>"
	finalizers map[string]int
	failures   []error // of resources that could not be emptied
}

func newRemainder() *remainder {
	return &remainder{resources: map[string]int{}, finalizers: map[string]int{}}
}

// add counts the objects of one resource that are left.
func (r *remainder) add(k *schema.Kind, left []*meta.Object) {
	if len(left) == 0 {
		return
	}
	r.resources[k.Resource+"."+k.Group] += len(left)
	for _, o := range left {
		for _, f := range o.Head.Finalizers {
			r.finalizers[f]++
		}
	}
}

// empty tells whether nothing is left, for all that is known.
func (r *remainder) empty() bool { return len(r.resources) == 0 && len(r.failures) == 0 }

// err is why not all of it is known.
func (r *remainder) err() error { return errors.Join(r.failures...) }

// conditions say of a namespace what holds it, in the words and in the order that users know.
func (r *remainder) conditions() []schema.Tree {
	return []schema.Tree{
		condition("NamespaceDeletionDiscoveryFailure", "ResourcesDiscovered", "All resources successfully discovered", "", ""),
		condition("NamespaceDeletionGroupVersionParsingFailure", "ParsedGroupVersions", "All legacy kube types successfully parsed", "", ""),
		condition("NamespaceDeletionContentFailure", "ContentDeleted", "All content successfully deleted, may be waiting on finalization",
			"ContentDeletionFailed", r.failed()),
		condition("NamespaceContentRemaining", "ContentRemoved", "All content successfully removed",
			"SomeResourcesRemain", counted("Some resources are remaining: ", r.resources, "%s has %d resource instances")),
		condition("NamespaceFinalizersRemaining", "ContentHasNoFinalizers", "All content-preserving finalizers finished",
			"SomeFinalizersRemain", counted("Some content in the namespace has finalizers remaining: ", r.finalizers, "%s in %d resource instances")),
	}
}

// condition is true for a reason if there is something to tell about it, and false otherwise.
func condition(kind, fine, fineMessage, reason, message string) schema.Tree {
	if message == "" {
		return schema.Tree{"type": kind, "status": "False", "reason": fine, "message": fineMessage}
	}
	return schema.Tree{"type": kind, "status": "True", "reason": reason, "message": message}
}

func (r *remainder) failed() string {
	if len(r.failures) == 0 {
		return ""
	}
	texts := make([]string, len(r.failures))
	for i, err := range r.failures {
		texts[i] = err.Error()
	}
	slices.Sort(texts)
	return fmt.Sprintf("Failed to delete all resource types, %d remaining: %s", len(texts), strings.Join(texts, ", "))
}

// counted lists counts by name; "" if there are none.
func counted(head string, counts map[string]int, form string) string {
	var parts []string
	for _, name := range slices.Sorted(maps.Keys(counts)) {
		parts = append(parts, fmt.Sprintf(form, name, counts[name]))
	}
	if parts == nil {
		return ""
	}
	return head + strings.Join(parts, ", ")
}

// report writes into the status of a namespace what holds it, where that is news. A namespace that
// was empty at once is told nothing.
func (n *Namespaces) report(ctx context.Context, ns incarnation, left *remainder) error {
	current, err := n.find(ctx, ns)
	if current == nil {
		return err
	}
	tree, err := codec.DecodeStored(n.kind.Message, current.JSON)
	if err != nil {
		return err
	}
	status := rules.Sub(tree, "status")
	told := ofCondition(status, "NamespaceContentRemaining") != nil
	if left.empty() && !told {
		return nil
	}
	conditions, news := keepOthers(status), false
	for _, c := range left.conditions() {
		old := ofCondition(status, c["type"].(string))
		if same := rules.Clone(c).(schema.Tree); old != nil {
			rules.Carry(same, old, "lastTransitionTime")
			if rules.Equal(same, old) {
				conditions = append(conditions, old)
				continue
			}
		}
		c["lastTransitionTime"], news = now(), true
		conditions = append(conditions, c)
	}
	if !news {
		return nil
	}
	return amend(ctx, n.store, n.kind, current, "status", schema.Tree{"status": schema.Tree{"conditions": conditions}})
}

// keepOthers are the conditions of a namespace that say nothing of its end.
func keepOthers(status schema.Tree) []any {
	ours := newRemainder().conditions()
	others := []any{}
	for _, c := range rules.Trees(status, "conditions") {
		if !slices.ContainsFunc(ours, func(o schema.Tree) bool { return o["type"] == c["type"] }) {
			others = append(others, c)
		}
	}
	return others
}
