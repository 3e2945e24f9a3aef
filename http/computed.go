package http

import (
	"context"

	"github.com/troupe-api/troupe/kinds/codec"
	"github.com/troupe-api/troupe/kinds/meta"
	"github.com/troupe-api/troupe/kinds/request"
	"github.com/troupe-api/troupe/kinds/tree"
)

// A Reader computes the objects of a kind that is not stored. It returns the named object, or if
// name is empty, all objects sorted by name. Every error is a *meta.Status, such as 404 for an
// unknown name.
type Reader func(ctx context.Context, name string) ([]tree.Tree, error)

func (s *Server) runReader(x *requestContext, read Reader) error {
	if x.info.Verb == "list" {
		return s.listComputed(x, read)
	}
	objects, err := s.computed(x, read)
	if err != nil {
		return err
	}
	return s.writeObject(x, objects[0])
}

// listComputed responds with all matching objects in a single page without a resourceVersion.
func (s *Server) listComputed(x *requestContext, read Reader) error {
	o, err := s.parseList(x)
	if err != nil {
		return err
	}
	objects, err := s.computed(x, read)
	if err != nil {
		return err
	}
	matching := objects[:0]
	for _, obj := range objects {
		if o.Labels.Matches(obj.Meta.Labels) && o.Fields.Matches(obj) {
			matching = append(matching, obj)
		}
	}
	return s.writeListing(x, request.ListResult{Items: matching})
}

func (s *Server) computed(x *requestContext, read Reader) ([]*meta.Object, error) {
	trees, err := read(x.deadlineCtx, x.info.Name)
	objects := make([]*meta.Object, 0, len(trees))
	for _, t := range trees {
		t["kind"], t["apiVersion"] = x.kind.Kind, x.kind.APIVersion()
		key := meta.Key{GroupResource: x.kind.Storage, Name: t.Name()}
		encoded := codec.EncodeJSON(x.kind, t)
		obj, err := codec.NewObject(x.kind, key, 0, encoded.Unversioned())
		if err != nil {
			return nil, err
		}
		objects = append(objects, obj)
	}
	return objects, err
}
