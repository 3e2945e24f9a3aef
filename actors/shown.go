package actors

import (
	"github.com/troupe-api/troupe/kinds/convert"
	"github.com/troupe-api/troupe/kinds/meta"
	"github.com/troupe-api/troupe/kinds/request"
	"github.com/troupe-api/troupe/kinds/schema"
)

// What the store gives out has the form of the kind that it was asked for. Collections
// know the stored form only; the way from one to the other is here.

// shown is a stored object as a kind, or a sub-resource of it, shows it; nil if there is
// nothing to see.
func shown(k *schema.Kind, subresource string, o *meta.Object) (*meta.Object, error) {
	if subresource == "" && k.Stored == k {
		return o, nil
	}
	return convert.Object(k, k.Subresource(subresource), o)
}

// showAll puts the shown form in the place of each object.
func showAll(k *schema.Kind, objects []*meta.Object) (err error) {
	for i := range objects {
		if objects[i], err = shown(k, "", objects[i]); err != nil {
			return err
		}
	}
	return nil
}

// showing is a sink whose client watches another form than the stored one.
type showing struct {
	kind *schema.Kind
	request.Sink
}

// Events implements request.Sink.
func (s *showing) Events(events []request.Event) error {
	for i := range events {
		if events[i].Object == nil {
			continue
		}
		o, err := shown(s.kind, "", events[i].Object)
		if err != nil {
			return err
		}
		events[i].Object = o
	}
	return s.Sink.Events(events)
}
