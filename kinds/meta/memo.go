package meta

import "slices"

// An objectMemo is what an object remembers of earlier questions about it. It never changes; a new one
// takes its place.
type objectMemo struct {
	noOpApplies []Digest  // see IsNoOpApply
	schema      *SchemaID // see ConformsTo
	forms       []form    // see Form
}

// remember replaces what the object remembers by what change makes of it, unless that is false.
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

// A SchemaID identifies one compiled schema of a custom kind. When the definition changes, there is a new
// one.
type SchemaID struct{ memo objectMemo }

// NewSchemaID is an identity that no other schema has.
func NewSchemaID() *SchemaID {
	id := &SchemaID{}
	id.memo.schema = id
	return id
}

// shared is the memory of all objects that remember the schema and nothing else, as there may be millions; nil for none.
func (id *SchemaID) shared() *objectMemo {
	if id == nil {
		return nil
	}
	return &id.memo
}

// ConformsTo tells whether the object is known to be in the form that a schema gives it: reading it as
// such would change nothing.
func (o *Object) ConformsTo(id *SchemaID) bool {
	known := o.memo.Load()
	return known != nil && known.schema == id
}

// SetConformsTo remembers that the object has the form of a schema, and of no other.
func (o *Object) SetConformsTo(id *SchemaID) {
	if o.memo.CompareAndSwap(nil, id.shared()) {
		return // the usual case
	}
	o.remember(func(m *objectMemo) bool {
		m.schema = id
		return true
	})
}

// A Digest is a hash of everything in an apply that its outcome depends on, besides the object.
type Digest [16]byte

// maxNoOpApplies is how many digests an object remembers: about as many as different appliers that it has.
const maxNoOpApplies = 4

// IsNoOpApply tells whether an apply is known to change nothing in this state: controllers send the same
// one over and over. digest is called only if there are any to compare with.
func (o *Object) IsNoOpApply(digest func() Digest) bool {
	known := o.memo.Load()
	return known != nil && len(known.noOpApplies) > 0 && slices.Contains(known.noOpApplies, digest())
}

// AddNoOpApply remembers that an apply changes nothing in this state. Beyond maxNoOpApplies, the oldest is
// forgotten.
func (o *Object) AddNoOpApply(d Digest) {
	o.remember(func(m *objectMemo) bool {
		m.noOpApplies = append([]Digest{d}, m.noOpApplies[:min(len(m.noOpApplies), maxNoOpApplies-1)]...)
		return true
	})
}

// A FormID names an encoding in which an object may be kept beside its JSON. Who keeps forms gives them their numbers.
type FormID uint8

// A form is the object in another encoding.
type form struct {
	id    FormID
	bytes []byte
}

// Form is the object in another encoding, as SetForm was given it; nil if it is not kept. It may not be changed.
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

// SetForm keeps the object in another encoding; nil drops it. It tells whether that changed anything: a form that is
// there already stays.
//
// Nothing bounds the memory of forms here: who sets them counts them, and drops them again.
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
