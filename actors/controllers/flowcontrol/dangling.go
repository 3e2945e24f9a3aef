package flowcontrol

import (
	"context"
	"fmt"
	"time"

	"github.com/troupe-api/troupe/actors/controllers/internal/reconcile"
	"github.com/troupe-api/troupe/kinds/codec"
	"github.com/troupe-api/troupe/kinds/meta"
	"github.com/troupe-api/troupe/kinds/request"
	"github.com/troupe-api/troupe/kinds/tree"
)

// syncDangling tells in the status of a schema whether its level is there.
//
// Nothing is written if the condition says so already, whatever its time: otherwise each write would be a change that
// calls for the next. The write applies the condition under a manager of its own, which leaves other conditions to
// those who own them, and names the uid, so that it is not about another schema of the same name.
func (c *Configuration) syncDangling(ctx context.Context, o *meta.Object) error {
	kind := c.kinds[schemas]
	obj, err := codec.DecodeStored(kind.Message(), o.JSON)
	if err != nil {
		return err
	}
	level := obj.Object("spec", "priorityLevelConfiguration").String("name")
	c.note(o.Key.Name, level)
	exists, err := c.exists(ctx, level)
	if err != nil {
		return err
	}
	want := danglingCondition(level, exists)
	for _, have := range obj.Object("status").Objects("conditions") {
		if have.String("type") == want.String("type") && have.String("status") == want.String("status") && have.String("message") == want.String("message") {
			return nil
		}
	}
	_, err = c.store.Mutate(ctx, request.Mutation{
		Kind: kind, Key: o.Key, Subresource: "status", FieldManager: consumer,
		Change: request.Apply{Config: tree.Tree{
			"apiVersion": kind.APIVersion(), "kind": kind.Kind, "metadata": tree.Tree{"name": o.Key.Name, "uid": o.Meta.UID},
			"status": tree.Tree{"conditions": []any{want}},
		}, Force: true},
	})
	if reconcile.IsNotFound(err) {
		return nil
	}
	return err
}

// note keeps which level a schema names, before that is looked up: what happens to the level afterwards is told to onLevel.
func (c *Configuration) note(name, level string) {
	c.mu.Lock()
	defer c.mu.Unlock()
	c.levelOf[name] = meta.NewText(level)
}

// exists asks the store itself, and not the events, which may be behind: a level that was made just before its schema
// is there.
func (c *Configuration) exists(ctx context.Context, level string) (bool, error) {
	kind := c.kinds[levels]
	_, err := c.store.Get(ctx, request.Get{Kind: kind, Key: meta.Key{GroupResource: kind.Storage, Name: level}})
	if reconcile.IsNotFound(err) {
		return false, nil
	}
	return err == nil, err
}

// danglingCondition is the condition as clients know it: True says that something is wrong.
func danglingCondition(level string, exists bool) tree.Tree {
	status, reason, rest := "True", "NotFound", "but there is no such object"
	if exists {
		status, reason, rest = "False", "Found", "and it exists"
	}
	return tree.Tree{
		"type": "Dangling", "status": status, "reason": reason, "lastTransitionTime": time.Now().UTC().Format(time.RFC3339),
		"message": fmt.Sprintf("This FlowSchema references the PriorityLevelConfiguration object named %q %s", level, rest),
	}
}
