package namespaces

import (
	"context"
	"errors"
	"fmt"
	"maps"
	"slices"
	"strings"

	"github.com/troupe-api/troupe/actors/controllers/internal/reconcile"
	"github.com/troupe-api/troupe/kinds/meta"
	"github.com/troupe-api/troupe/kinds/tree"
)

// remainingContent describes the objects that remain in a namespace after an attempt to delete its
// content, for the namespace's status.
type remainingContent struct {
	resources  map[string]int // number of objects by "<resource>.<group>"
	finalizers map[string]int // number of objects by finalizer
	failures   []error        // errors per resource
	// undiscovered lists the API group versions whose extension API server did not respond to
	// discovery.
	undiscovered []string
}

func newRemainingContent() *remainingContent {
	return &remainingContent{resources: map[string]int{}, finalizers: map[string]int{}}
}

func (r *remainingContent) add(resource meta.GroupResource, left []*meta.Object) {
	if len(left) == 0 {
		return
	}
	r.resources[resource.Resource+"."+resource.Group] += len(left)
	for _, o := range left {
		for _, f := range o.Meta.Finalizers {
			r.finalizers[f]++
		}
	}
}

func (r *remainingContent) isEmpty() bool {
	return len(r.resources) == 0 && len(r.failures) == 0 && len(r.undiscovered) == 0
}

func (r *remainingContent) err() error { return errors.Join(r.failures...) }

// conditions returns a terminating namespace's conditions. Their types, reasons, messages and order
// match Kubernetes.
func (r *remainingContent) conditions() []tree.Tree {
	return []tree.Tree{
		namespaceCondition("NamespaceDeletionDiscoveryFailure", "ResourcesDiscovered", "All resources successfully discovered",
			"DiscoveryFailed", r.discoveryText()),
		namespaceCondition("NamespaceDeletionGroupVersionParsingFailure", "ParsedGroupVersions", "All legacy kube types successfully parsed", "", ""),
		namespaceCondition("NamespaceDeletionContentFailure", "ContentDeleted", "All content successfully deleted, may be waiting on finalization",
			"ContentDeletionFailed", r.failureText()),
		namespaceCondition("NamespaceContentRemaining", "ContentRemoved", "All content successfully removed",
			"SomeResourcesRemain", countsText("Some resources are remaining: ", r.resources, "%s has %d resource instances")),
		namespaceCondition("NamespaceFinalizersRemaining", "ContentHasNoFinalizers", "All content-preserving finalizers finished",
			"SomeFinalizersRemain", countsText("Some content in the namespace has finalizers remaining: ", r.finalizers, "%s in %d resource instances")),
	}
}

func namespaceCondition(kind, fine, fineMessage, reason, message string) tree.Tree {
	if message == "" {
		return tree.Tree{"type": kind, "status": "False", "reason": fine, "message": fineMessage}
	}
	return tree.Tree{"type": kind, "status": "True", "reason": reason, "message": message}
}

func (r *remainingContent) discoveryText() string {
	if len(r.undiscovered) == 0 {
		return ""
	}
	texts := make([]string, len(r.undiscovered))
	for i, version := range r.undiscovered {
		texts[i] = fmt.Sprintf("%s: stale GroupVersion discovery: %[1]s", version)
	}
	return fmt.Sprintf("Discovery failed for some groups, %d failing: unable to retrieve the complete list of server APIs: %s",
		len(texts), strings.Join(texts, ", "))
}

// failureText joins the failures in sorted order, so that the condition does not change needlessly.
func (r *remainingContent) failureText() string {
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

func countsText(head string, counts map[string]int, form string) string {
	var parts []string
	for _, name := range slices.Sorted(maps.Keys(counts)) {
		parts = append(parts, fmt.Sprintf(form, name, counts[name]))
	}
	if parts == nil {
		return ""
	}
	return head + strings.Join(parts, ", ")
}

// updateConditions reports the remaining content in the status of a namespace, if it has changed. A
// condition keeps its lastTransitionTime while its status is unchanged.
func (c *Controller) updateConditions(ctx context.Context, ns namespaceInstance, left *remainingContent) error {
	current, object, err := c.read(ctx, ns)
	if current == nil || err != nil {
		return err
	}
	status := object.Object("status")
	conditions, changed := otherConditions(status), false
	for _, c := range left.conditions() {
		is := tree.FindCondition(status, c.String("type"))
		c["lastTransitionTime"] = reconcile.Timestamp()
		if is.String("status") == c.String("status") {
			c.CopyField(is, "lastTransitionTime")
		}
		changed = changed || !tree.SemanticEqual(c, is)
		conditions = append(conditions, c)
	}
	if !changed {
		return nil
	}
	return c.namespaces.PatchStatus(ctx, current, tree.Tree{"conditions": conditions})
}

func otherConditions(status tree.Tree) []any {
	ours := newRemainingContent().conditions()
	return slices.DeleteFunc(slices.Clone(status.List("conditions")), func(c any) bool {
		is, _ := c.(tree.Tree)
		return tree.ConditionIn(ours, is.String("type")) != nil
	})
}
