package apiserver

import (
	"context"

	"github.com/troupe-api/troupe/actors/controllers/internal/reconcile"
	"github.com/troupe-api/troupe/kinds/tree"
)

// SystemObjects recreates the system's namespaces and priority classes after they are deleted. It
// also retries creations that failed at startup.
type SystemObjects struct {
	*reconcile.Controller[int] // queue of indexes into objects
	objects                    []systemObject
}

type systemObject struct {
	reconcile.Client
	name string
	body tree.Tree // nil if only metadata is needed
}

func NewSystemObjects(env *reconcile.Env) *SystemObjects {
	s := &SystemObjects{}
	for _, name := range env.SystemNamespaces() {
		s.objects = append(s.objects, systemObject{Client: env.Core("Namespace"), name: name})
	}
	s.objects = append(s.objects, systemPriorities(env)...)
	s.Controller = reconcile.New(env, "", func(ctx context.Context, i int) error { return s.objects[i].create(ctx) }, "", "")
	s.Failed = func(i int, err error) {
		env.Log.Warn("cannot create a system object", "kind", s.objects[i].Kind.Kind, "name", s.objects[i].name, "error", err)
	}
	for i, o := range s.objects {
		seen := false
		f := s.Watch(o.Client, func(e reconcile.Event) {
			if seen = !e.Deleted; e.Deleted {
				s.Add(i)
			}
		})
		f.Name, f.Synced = o.name, func() {
			if !seen {
				s.Add(i)
			}
		}
	}
	return s
}

func (o systemObject) create(ctx context.Context) error {
	object := tree.Tree{"metadata": tree.Tree{"name": o.name}}
	for field := range o.body {
		object.CopyField(o.body, field)
	}
	_, err := o.Create(ctx, object)
	return reconcile.Except(err, reconcile.IsAlreadyExists)
}
