package actors

import (
	"github.com/troupe-api/troupe/kinds/convert"
	"github.com/troupe-api/troupe/kinds/meta"
	"github.com/troupe-api/troupe/kinds/request"
	"github.com/troupe-api/troupe/kinds/schema"
)

// What the store gives out has the form of the kind that it was asked for. Collections
// know the stored form only, which of custom objects is the one that they were written in; the way
// from one to the other is here.

// needsConversion tells whether stored objects are not always what a kind shows.
func needsConversion(k *schema.Kind) bool { return k.Stored != k || k.StoredAsWritten }

// converted is a stored object as a kind, or a sub-resource of it, shows it; nil if there is
// nothing to see.
func (s *Store) converted(k *schema.Kind, subresource string, o *meta.Object) (*meta.Object, error) {
	sub := k.Subresource(subresource)
	if !k.StoredAsWritten || sub != nil && sub.BodyKind != nil {
		return convert.Object(k, sub, o)
	}
	if k.Stored == k && o.ConformsTo(k.Message.Custom.SchemaID) {
		return o, nil
	}
	key := conversionKey{o, k.Message.Custom.SchemaID}
	if cached := s.conversionCache.get(key); cached != nil {
		return cached, nil
	}
	out, err := convert.Object(k, nil, o)
	if err == nil && out != o {
		s.conversionCache.add(key, out)
	}
	return out, err
}

// Convert is a stored object as a kind shows it; the object itself if that is its form.
func (s *Store) Convert(k *schema.Kind, o *meta.Object) (*meta.Object, error) {
	return s.converted(k, "", o)
}

// convertingSink is a sink whose client watches another form than the stored one.
type convertingSink struct {
	store *Store
	kind  *schema.Kind
	request.Sink
}

// Events implements request.Sink.
func (s *convertingSink) Events(events []request.Event) error {
	for i := range events {
		if events[i].Object == nil {
			continue
		}
		o, err := s.store.converted(s.kind, "", events[i].Object)
		if err != nil {
			return err
		}
		events[i].Object = o
	}
	return s.Sink.Events(events)
}
