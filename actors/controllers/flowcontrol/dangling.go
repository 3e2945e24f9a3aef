package flowcontrol

import (
	"context"
	"fmt"

	"github.com/troupe-api/troupe/actors/controllers/internal/reconcile"
	"github.com/troupe-api/troupe/kinds/meta"
	"github.com/troupe-api/troupe/kinds/tree"
)

// syncDangling updates the Dangling condition of a FlowSchema. It compares conditions without
// timestamps, because its own write would otherwise trigger another one. A separate field manager
// keeps other conditions unchanged. The uid precondition prevents a write to a FlowSchema that was
// deleted and recreated.
func (c *Configuration) syncDangling(ctx context.Context, o *meta.Object) error {
	kind := c.kinds[schemas]
	obj, err := kind.Decode(o)
	if err != nil {
		return err
	}
	level := obj.Object("spec", "priorityLevelConfiguration").String("name")
	c.note(o.Key.Name, level)
	at, err := c.kinds[levels].Get(ctx, c.kinds[levels].Key("", level))
	if err != nil {
		return err
	}
	want := danglingCondition(level, at != nil)
	for _, have := range obj.Object("status").Objects("conditions") {
		if have.String("type") == want.String("type") && have.String("status") == want.String("status") && have.String("message") == want.String("message") {
			return nil
		}
	}
	return reconcile.Except(kind.As(consumer).Apply(ctx, o.Key, "status", tree.Tree{
		"metadata": tree.Tree{"uid": o.Meta.UID}, "status": tree.Tree{"conditions": []any{want}},
	}), reconcile.IsNotFound)
}

// note records the priority level that a FlowSchema refers to. It must be called before the level
// is read from the store, so that onLevel does not miss later changes.
func (c *Configuration) note(name, level string) {
	c.mu.Lock()
	defer c.mu.Unlock()
	c.levelOf[name] = meta.NewText(level)
}

// danglingCondition returns the Dangling condition of a FlowSchema. Reasons and messages are the
// same as in Kubernetes.
func danglingCondition(level string, exists bool) tree.Tree {
	status, reason, rest := "True", "NotFound", "but there is no such object"
	if exists {
		status, reason, rest = "False", "Found", "and it exists"
	}
	return tree.Tree{
		"type": "Dangling", "status": status, "reason": reason, "lastTransitionTime": reconcile.Timestamp(),
		"message": fmt.Sprintf("This FlowSchema references the PriorityLevelConfiguration object named %q %s", level, rest),
	}
}
