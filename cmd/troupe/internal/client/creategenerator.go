package client

import (
	"fmt"
	"strings"

	"github.com/troupe-api/troupe/cmd/troupe/internal/client/discovery"
	"github.com/troupe-api/troupe/kinds/tree"
)

// A generator holds the flags for creating an object of a common kind. build returns the object
// without its kind and name.
type generator interface {
	build(g *generated) (tree.Tree, error)
}

// generated holds the inputs of a generator besides its flags.
type generated struct {
	catalog *discovery.Catalog
	name    string
}

type generate struct {
	generator
	createOptions
	declaration
}

func (o *generate) run(s *session, args []string) error {
	if len(args) != 1 {
		return usageError(fmt.Sprintf("exactly one NAME is required, got %d", len(args)))
	}
	r, err := s.own(o.API, o.Resource)
	if err != nil {
		return err
	}
	t, err := o.build(&generated{s.catalog, args[0]})
	if err != nil {
		return err
	}
	t["apiVersion"], t["kind"] = r.APIVersion(), r.Kind
	m := t.EnsureObject("metadata")
	m["name"] = args[0]
	if r.Namespaced && s.flags.Namespace != "" {
		m["namespace"] = s.Namespace
	}
	made, err := s.post(&o.createOptions, r, s.namespaceOf(r, false), t)
	if err != nil {
		return failedTo("create "+strings.ToLower(r.Kind), err)
	}
	return s.printAs(o.createOptions.Options, object{resource: r, tree: made}, "created"+o.DryRun.suffix())
}

type plainObject struct{}

func (plainObject) build(*generated) (tree.Tree, error) { return tree.Tree{}, nil }
