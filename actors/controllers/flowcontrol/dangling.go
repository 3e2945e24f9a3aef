package flowcontrol

import (
	"context"
	"fmt"

	"github.com/troupe-api/troupe/actors/controllers/internal/reconcile"
	"github.com/troupe-api/troupe/kinds/meta"
	"github.com/troupe-api/troupe/kinds/tree"
)

// syncDangling tells in the status of a schema whether its level is there.
//
// Nothing is written if the condition says so already, whatever its time: otherwise each write would be a change that
// calls for the next. The write applies the condition under a manager of its own, which leaves other conditions to
// those who own them, and names the uid, so that it is not about another schema of the same name.
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

// note keeps which level a schema names, before that is looked up: what happens to the level afterwards is told to onLevel.
func (c *Configuration) note(name, level string) {
	c.mu.Lock()
	defer c.mu.Unlock()
	c.levelOf[name] = meta.NewText(level)
}

// danglingCondition is the condition as clients know it: True says that something is wrong.
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
