package codec

import (
	"errors"
	"strconv"
	"strings"

	"github.com/troupe-api/troupe/kinds/jsontext"
	"github.com/troupe-api/troupe/kinds/meta"
	"github.com/troupe-api/troupe/kinds/schema"
)

// A metaParser reads the metadata and selectable fields of an object from its JSON. Recovery parses
// every object, and complete decoding would take many times as long. The results share the memory
// of the JSON. Values of unexpected types are skipped, because checkDecodable rejects them.
type metaParser struct {
	jsontext.Scanner
	kind *schema.Kind
	meta meta.ObjectMeta
	ref  ObjectRef
	// metadataOnly ends parsing after the metadata, with errDone.
	metadataOnly bool
}

var errDone = errors.New("the rest need not be read")

func (p *metaParser) members(read func(key string) error) error {
	if p.Peek() != '{' {
		return p.Skip()
	}
	if err := p.Open(); err != nil {
		return err
	}
	for first := true; ; first = false {
		key, more, err := p.Key(first)
		if err != nil || !more {
			return err
		}
		if err := read(key); err != nil {
			return err
		}
	}
}

func (p *metaParser) elements(read func() error) error {
	if p.Peek() != '[' {
		return p.Skip()
	}
	if err := p.Open(); err != nil {
		return err
	}
	for first := true; ; first = false {
		more, err := p.Element(first)
		if err != nil || !more {
			return err
		}
		if err := read(); err != nil {
			return err
		}
	}
}

// object reads the metadata and the selectable fields below prefix, which is empty or a dotted path
// with a final dot.
func (p *metaParser) object(prefix string) error {
	return p.members(func(key string) error {
		if prefix == "" && key == "metadata" {
			if err := p.members(p.metadata); err != nil || !p.metadataOnly {
				return err
			}
			return errDone
		}
		return p.selectable(prefix, key)
	})
}

// selectable reads a value that is or contains a selectable field. For the fields spec.nodeName and
// status.phase, it enters spec and status and skips all other keys.
func (p *metaParser) selectable(prefix, key string) error {
	for i := range p.kind.SelectFields {
		path := p.kind.SelectFields[i].Path
		rest, ok := strings.CutPrefix(path, prefix)
		if !ok || !strings.HasPrefix(rest, key) {
			continue
		}
		if len(rest) == len(key) {
			return p.scalar(&p.meta.Fields[i])
		}
		if rest[len(key)] == '.' {
			return p.object(path[:len(prefix)+len(key)+1])
		}
	}
	return p.Skip()
}

// scalar reads a value as a string. Lists, objects and null leave *to empty. For numbers and
// booleans it copies the JSON text, because the encoder writes equal values in only one way.
func (p *metaParser) scalar(to *string) error {
	c := p.Peek()
	if c == '"' {
		return p.string(to)
	}
	start := p.Pos
	if err := p.Skip(); err != nil {
		return err
	}
	if c != '{' && c != '[' && c != 'n' {
		*to = p.Text[start:p.Pos]
	}
	return nil
}

func (p *metaParser) string(to *string) error {
	if p.Peek() != '"' {
		return p.Skip()
	}
	s, err := p.ReadString()
	*to = s
	return err
}

func (p *metaParser) bool(to *bool) error {
	*to = p.Peek() == 't'
	return p.Skip()
}

func (p *metaParser) metadata(key string) error {
	switch key {
	case "name":
		return p.string(&p.ref.Name)
	case "namespace":
		return p.string(&p.ref.Namespace)
	case "uid":
		return p.string(&p.meta.UID)
	case "resourceVersion":
		var s string
		err := p.string(&s)
		p.ref.Version, _ = strconv.ParseUint(s, 10, 64)
		return err
	case "generation":
		var s string
		err := p.scalar(&s)
		p.meta.Generation, _ = strconv.ParseInt(s, 10, 64)
		return err
	case "deletionTimestamp":
		p.meta.Terminating = p.Peek() == '"'
	case "labels":
		return p.labels()
	case "ownerReferences":
		return p.elements(p.owner)
	case "finalizers":
		return p.elements(p.finalizer)
	}
	return p.Skip()
}

// labels reads the labels and sorts them, because selectors use binary search.
func (p *metaParser) labels() error {
	err := p.members(func(key string) error {
		var v string
		if err := p.string(&v); err != nil {
			return err
		}
		p.meta.Labels = append(p.meta.Labels, meta.Label{Key: key, Value: v})
		return nil
	})
	p.meta.Labels.Sort()
	return err
}

func (p *metaParser) finalizer() error {
	var s string
	if err := p.string(&s); err != nil {
		return err
	}
	p.meta.Finalizers = append(p.meta.Finalizers, s)
	return nil
}

func (p *metaParser) owner() error {
	var o meta.OwnerReference
	err := p.members(func(key string) error {
		switch key {
		case "apiVersion":
			return p.string(&o.APIVersion)
		case "kind":
			return p.string(&o.Kind)
		case "name":
			return p.string(&o.Name)
		case "uid":
			return p.string(&o.UID)
		case "controller":
			return p.bool(&o.Controller)
		case "blockOwnerDeletion":
			return p.bool(&o.BlockOwnerDeletion)
		}
		return p.Skip()
	})
	p.meta.OwnerReferences = append(p.meta.OwnerReferences, o)
	return err
}
