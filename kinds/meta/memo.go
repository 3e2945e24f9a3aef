package meta

import "slices"

// An objectMemo caches data about an object. It is immutable and replaced as a whole.
type objectMemo struct {
	noOpApplies []Digest  // see IsNoOpApply
	schema      *SchemaID // see ConformsTo
	forms       []form    // see Form
}

// remember stores a copy of the memo with change applied, unless change returns false. It returns
// the result of change.
func (o *Object) remember(change func(m *objectMemo) bool) (changed bool) {
	for {
		known := o.memo.Load()
		fresh := &objectMemo{}
		if known != nil {
			*fresh = *known
		}
		if !change(fresh) {
			return false
		}
		if len(fresh.noOpApplies) == 0 && len(fresh.forms) == 0 {
			fresh = fresh.schema.shared()
		}
		if o.memo.CompareAndSwap(known, fresh) {
			return true
		}
	}
}

// A SchemaID identifies one compiled schema of a custom kind. A CRD update creates a new SchemaID.
type SchemaID struct{ memo objectMemo }

// NewSchemaID returns an ID that differs from all other IDs.
func NewSchemaID() *SchemaID {
	id := &SchemaID{}
	id.memo.schema = id
	return id
}

// shared returns the memo for objects that record only this schema. They share it, because there
// may be millions of them.
func (id *SchemaID) shared() *objectMemo {
	if id == nil {
		return nil
	}
	return &id.memo
}

// ConformsTo reports whether the object is known to conform to a schema, so that it need not be
// pruned or defaulted again.
func (o *Object) ConformsTo(id *SchemaID) bool {
	known := o.memo.Load()
	return known != nil && known.schema == id
}

// SetConformsTo records that the object conforms to a schema, replacing an earlier record.
func (o *Object) SetConformsTo(id *SchemaID) {
	if o.memo.CompareAndSwap(nil, id.shared()) {
		return // the usual case
	}
	o.remember(func(m *objectMemo) bool {
		m.schema = id
		return true
	})
}

// A Digest is a hash of everything that determines the result of an apply, except the object.
type Digest [16]byte

// maxNoOpApplies limits the digests per object. Few objects have more apply managers.
const maxNoOpApplies = 4

// IsNoOpApply reports whether an apply, such as a controller's repeated one, is known not to change
// this object. It calls digest only if there are digests to compare.
func (o *Object) IsNoOpApply(digest func() Digest) bool {
	known := o.memo.Load()
	return known != nil && len(known.noOpApplies) > 0 && slices.Contains(known.noOpApplies, digest())
}

// AddNoOpApply records that an apply does not change this object. Beyond maxNoOpApplies, it drops
// the oldest record.
func (o *Object) AddNoOpApply(d Digest) {
	o.remember(func(m *objectMemo) bool {
		m.noOpApplies = append([]Digest{d}, m.noOpApplies[:min(len(m.noOpApplies), maxNoOpApplies-1)]...)
		return true
	})
}

// A FormID identifies an additional encoding that is cached in the object. The cache's owner
// assigns the numbers.
type FormID uint8

type form struct {
	id    FormID
	bytes []byte
}

// Form returns the encoding that SetForm stored, or nil. The caller must not modify it.
func (o *Object) Form(id FormID) []byte {
	if known := o.memo.Load(); known != nil {
		for _, f := range known.forms {
			if f.id == id {
				return f.bytes
			}
		}
	}
	return nil
}

// SetForm stores b as an additional encoding of the object, unless one with this id exists. A nil b
// removes the encoding. SetForm reports whether the encodings changed. The caller must bound the
// memory of all forms.
func (o *Object) SetForm(id FormID, b []byte) (changed bool) {
	return o.remember(func(m *objectMemo) bool {
		at := slices.IndexFunc(m.forms, func(f form) bool { return f.id == id })
		switch {
		case at < 0 && b != nil:
			m.forms = append(slices.Clip(m.forms), form{id, b})
		case at >= 0 && b == nil:
			m.forms = slices.Delete(slices.Clone(m.forms), at, at+1)
		default:
			return false
		}
		return true
	})
}
