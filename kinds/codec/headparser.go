package codec

import (
	"strconv"
	"strings"

	"github.com/troupe-api/troupe/kinds/meta"
	"github.com/troupe-api/troupe/kinds/schema"
)

// A headParser reads a head from JSON and skips everything else.
type headParser struct {
	scanner
	kind  *schema.Kind
	head  meta.Head
	place Place
}

// members calls read for each key of the object at hand; read consumes the value.
// What is not an object is skipped.
func (p *headParser) members(read func(key string) error) error {
	if p.peek() != '{' {
		return p.skip()
	}
	if err := p.open(); err != nil {
		return err
	}
	for first := true; ; first = false {
		key, more, err := p.key(first)
		if err != nil || !more {
			return err
		}
		if err := read(key); err != nil {
			return err
		}
	}
}

// elements calls read for each element of the list at hand; read consumes it.
func (p *headParser) elements(read func() error) error {
	if p.peek() != '[' {
		return p.skip()
	}
	if err := p.open(); err != nil {
		return err
	}
	for first := true; ; first = false {
		more, err := p.element(first)
		if err != nil || !more {
			return err
		}
		if err := read(); err != nil {
			return err
		}
	}
}

// object reads the object at prefix ("" or a dotted path that ends in a dot): the
// metadata of the whole one, and the selectable fields.
func (p *headParser) object(prefix string) error {
	return p.members(func(key string) error {
		if prefix == "" && key == "metadata" {
			return p.members(p.metadata)
		}
		return p.selectable(prefix, key)
	})
}

// selectable reads a value that is a selectable field or leads to one.
func (p *headParser) selectable(prefix, key string) error {
	for i := range p.kind.SelectFields {
		path := p.kind.SelectFields[i].Path
		rest, ok := strings.CutPrefix(path, prefix)
		if !ok || !strings.HasPrefix(rest, key) {
			continue
		}
		if len(rest) == len(key) {
			return p.scalar(&p.head.Fields[i])
		}
		if rest[len(key)] == '.' {
			return p.object(path[:len(prefix)+len(key)+1])
		}
	}
	return p.skip()
}

// scalar reads a value as text; lists, objects and null leave to empty.
func (p *headParser) scalar(to *string) error {
	c := p.peek()
	if c == '"' {
		return p.string(to)
	}
	start := p.pos
	if err := p.skip(); err != nil {
		return err
	}
	if c != '{' && c != '[' && c != 'n' {
		*to = p.text[start:p.pos]
	}
	return nil
}

// string reads a string; anything else leaves to as it is.
func (p *headParser) string(to *string) error {
	if p.peek() != '"' {
		return p.skip()
	}
	s, err := p.str()
	*to = s
	return err
}

// flag reads true or false; anything else leaves to as it is.
func (p *headParser) flag(to *bool) error {
	*to = p.peek() == 't'
	return p.skip()
}

func (p *headParser) metadata(key string) error {
	switch key {
	case "name":
		return p.string(&p.place.Name)
	case "namespace":
		return p.string(&p.place.Namespace)
	case "uid":
		return p.string(&p.head.UID)
	case "resourceVersion":
		var s string
		err := p.string(&s)
		p.place.Version, _ = strconv.ParseUint(s, 10, 64)
		return err
	case "generation":
		var s string
		err := p.scalar(&s)
		p.head.Generation, _ = strconv.ParseInt(s, 10, 64)
		return err
	case "deletionTimestamp":
		p.head.Terminating = p.peek() == '"'
	case "labels":
		return p.labels()
	case "ownerReferences":
		return p.elements(p.owner)
	case "finalizers":
		return p.elements(p.finalizer)
	}
	return p.skip()
}

func (p *headParser) labels() error {
	err := p.members(func(key string) error {
		var v string
		if err := p.string(&v); err != nil {
			return err
		}
		p.head.Labels = append(p.head.Labels, meta.Label{Key: key, Value: v})
		return nil
	})
	p.head.Labels.Sort()
	return err
}

func (p *headParser) finalizer() error {
	var s string
	if err := p.string(&s); err != nil {
		return err
	}
	p.head.Finalizers = append(p.head.Finalizers, s)
	return nil
}

func (p *headParser) owner() error {
	var o meta.Owner
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
			return p.flag(&o.Controller)
		case "blockOwnerDeletion":
			return p.flag(&o.BlockDeletion)
		}
		return p.skip()
	})
	p.head.Owners = append(p.head.Owners, o)
	return err
}
