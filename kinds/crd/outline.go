package crd

import (
	"github.com/troupe-api/troupe/kinds/codec"
	"github.com/troupe-api/troupe/kinds/jsontext"
	"github.com/troupe-api/troupe/kinds/meta"
	"github.com/troupe-api/troupe/kinds/schema"
	"github.com/troupe-api/troupe/kinds/tree"
)

// Outline decodes a stored CRD of kind k without the schemas, which are most of its size. The
// result contains the name, the approval annotation, spec and status. Schemas remain encoded and
// share the object's memory, so only Compile can use them.
func (c *Compiler) Outline(k *schema.Kind, o *meta.Object) (tree.Tree, error) {
	w := outliner{approval: c.approval, Scanner: jsontext.Over(o.JSON), json: o.JSON, out: make([]byte, 0, 1<<10)}
	w.Limit = jsontext.MaxStoredDepth
	if err := w.object(w.root); err != nil {
		return nil, err
	}
	t, err := codec.DecodeStored(k.Message(), w.out)
	if err != nil {
		return nil, err
	}
	t.EnsureObject("metadata")["name"] = o.Key.Name
	for i, v := range t.Object("spec").Objects("versions") {
		if i < len(w.schemas) && w.schemas[i] != nil {
			v["schema"] = tree.Tree{"openAPIV3Schema": w.schemas[i]}
		}
	}
	return t, nil
}

type outliner struct {
	jsontext.Scanner
	json     []byte
	approval string // the only annotation to copy, in quotes
	out      []byte
	schemas  []schemaText // schemas of the versions; nil if a version has none
}

// object copies a JSON object. It calls member to copy or skip the value of each key.
func (w *outliner) object(member func(key string) error) error {
	if w.Peek() != '{' {
		return w.copyValue()
	}
	if err := w.Open(); err != nil {
		return err
	}
	w.out = append(w.out, '{')
	for first := true; ; first = false {
		key, more, err := w.RawKey(first)
		if err != nil {
			return err
		}
		if !more {
			break
		}
		if err := member(key); err != nil {
			return err
		}
	}
	if last := len(w.out) - 1; w.out[last] == ',' {
		w.out = w.out[:last]
	}
	w.out = append(w.out, '}')
	return nil
}

func (w *outliner) member(key string, value func() error) error {
	w.out = append(append(w.out, key...), ':')
	if err := value(); err != nil {
		return err
	}
	w.out = append(w.out, ',')
	return nil
}

func (w *outliner) copyValue() error {
	from, err := w.skip()
	w.out = append(w.out, from...)
	return err
}

func (w *outliner) skip() ([]byte, error) {
	w.Peek() // skips white space
	from := w.Pos
	err := w.Skip()
	return w.json[from:w.Pos:w.Pos], err
}

// root copies only the approval annotation of the metadata, because annotations may be large. For
// example, kubectl apply stores the whole CRD in one.
func (w *outliner) root(key string) error {
	switch key {
	case `"metadata"`:
		return w.member(key, func() error {
			return w.object(w.only(`"annotations"`, func() error { return w.object(w.only(w.approval, w.copyValue)) }))
		})
	case `"spec"`:
		return w.member(key, func() error { return w.object(w.spec) })
	}
	return w.member(key, w.copyValue)
}

func (w *outliner) only(wanted string, value func() error) (member func(key string) error) {
	return func(key string) error {
		if key != wanted {
			return w.Skip()
		}
		return w.member(key, value)
	}
}

func (w *outliner) spec(key string) error {
	if key == `"versions"` && w.Peek() == '[' {
		return w.member(key, w.versions)
	}
	return w.member(key, w.copyValue)
}

func (w *outliner) versions() error {
	if err := w.Open(); err != nil {
		return err
	}
	w.out = append(w.out, '[')
	for first := true; ; first = false {
		more, err := w.Element(first)
		if err != nil {
			return err
		}
		if !more {
			break
		}
		if !first {
			w.out = append(w.out, ',')
		}
		w.schemas = append(w.schemas, nil)
		if err := w.object(w.version); err != nil {
			return err
		}
	}
	w.out = append(w.out, ']')
	return nil
}

func (w *outliner) version(key string) error {
	if key != `"schema"` {
		return w.member(key, w.copyValue)
	}
	return w.member(key, func() error {
		return w.object(func(key string) error {
			text, err := w.skip()
			if key == `"openAPIV3Schema"` && string(text) != "null" {
				w.schemas[len(w.schemas)-1] = text
			}
			return err
		})
	})
}
