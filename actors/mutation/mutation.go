package mutation

import (
	"bytes"
	"context"
	"slices"
	"time"

	"github.com/troupe-api/troupe/kinds/codec"
	"github.com/troupe-api/troupe/kinds/convert"
	"github.com/troupe-api/troupe/kinds/meta"
	"github.com/troupe-api/troupe/kinds/request"
	"github.com/troupe-api/troupe/kinds/rules"
	"github.com/troupe-api/troupe/kinds/schema"
	"github.com/troupe-api/troupe/kinds/tree"
)

// State is what an object is before a mutation. It is a value: a mutation never changes it, and several may
// start from the same one.
type State struct {
	Object *meta.Object // nil: it does not exist
	// Tree is Object decoded; it is shared and must not be changed. Nil if Object is, and
	// where NeedsTree allows that.
	Tree tree.Tree
	// Committed says that Object has a version. It has none while the state is still being
	// committed.
	Committed bool
	// Outdated says that Object was stored by an older schema than Tree is in (convert.ToCurrentSchema), or in a version
	// that is not the stored one any more: to write Tree as it is would be a change.
	Outdated bool
}

// NeedsTree tells whether Prepare looks at the tree of the current state. It does not to remove an object
// as it is, nor where the bytes show that an apply changes nothing; unless an admission is to see the
// change. Decoding is a large part of what a write costs.
func NeedsTree(o *meta.Object, m *request.Mutation) bool {
	switch c := m.Change.(type) {
	case request.Delete:
		return m.Admits(request.OnDelete) || !removesImmediately(o, m, c)
	case request.Apply:
		return c.Misplaced != nil || m.AdmitsNoOp() || warnsAlways(m) || !isNoOpApply(o, m, c)
	}
	return true
}

// NeedsVersion tells whether m depends on the version of the current state, and so cannot be computed on one that is still
// being committed and has none: it would be refused although nobody else has changed the object.
func NeedsVersion(m *request.Mutation) bool {
	switch c := m.Change.(type) {
	case request.Delete:
		return c.ResourceVersion != nil
	case request.Patch:
		return bytes.Contains(c.Body, []byte("resourceVersion"))
	}
	metadata, _ := m.Body()["metadata"].(tree.Tree)
	version, _ := metadata["resourceVersion"].(string)
	return version != "" && version != "0"
}

// Env is what a mutation takes from outside. The owner of the object makes one for each mutation.
type Env struct {
	// Context ends what takes long; nil for never.
	Context context.Context
	Now     time.Time
	NewUID  func() string
	// LastApplied names the annotation in which clients keep what they have applied; "" if none.
	LastApplied string
	// MaxBytes is how many bytes of data an object may have, and half of what it may have in all;
	// 0 is DefaultMaxBytes.
	MaxBytes int
	// Allocator hands out what the objects of the storage share; nil if they share nothing.
	Allocator Allocator
	// Conversions convert between versions if a webhook does; nil otherwise.
	Conversions request.Conversions
}

// Op is what a candidate does.
type Op uint8

// The operations.
const (
	None Op = iota // the state stays as it is
	Put
	Remove
)

// A Candidate is the outcome of a mutation that is accepted but not committed.
type Candidate struct {
	Op      Op
	Tree    tree.Tree
	Encoded codec.Encoded
	Head    meta.ObjectMeta
	Created bool
	// NoOp says that an apply was found at once to change nothing; Op is then None.
	NoOp bool
	// Form is the kind in whose form the candidate is; nil for the stored one of the mutation's kind.
	Form *schema.Kind
	// Reserved is what was set aside for the change: what its object has of what objects share,
	// and what a waiting admission has reserved. Whoever takes the candidate calls Commit when it is
	// stored, or Release.
	Reserved *request.Reservation
}

// Apply computes the candidate of m on the state cur, where no admission has to be waited for.
// Errors are *meta.Status, and leave everything as it was.
func Apply(cur State, m *request.Mutation, env Env) (Candidate, error) {
	p, err := Prepare(cur, m, env)
	if err == nil {
		err = p.Admit()
	}
	if err != nil {
		return Candidate{}, err
	}
	c, err := p.Finish()
	if err != nil {
		return Candidate{}, err
	}
	return c, p.Reserve(&c)
}

// evaluate adds to causes what the expressions of the kind find wrong. They do not run where the causes say that a value
// lacks the type or the size that they count on (rules.Blocks), which is a cause of its own.
func (e *Env) evaluate(m *request.Mutation, object, old tree.Tree, causes []meta.Cause) ([]meta.Cause, error) {
	if !m.Kind.Strategy.HasExpressions() || m.Subresource != "" && !m.Kind.IsCustom() {
		return causes, nil
	}
	if slices.ContainsFunc(causes, rules.Blocks) {
		return append(causes, rules.NotEvaluated()), nil
	}
	ctx := e.Context
	if ctx == nil {
		ctx = context.Background()
	}
	causes = append(causes, rules.Evaluate(ctx, m.Kind, object, old)...)
	if ctx.Err() != nil {
		return nil, meta.NewTimeout("the request ended before the rules of its kind had been evaluated")
	}
	return causes, nil
}

// encodeCandidate encodes a wanted tree into a candidate, or finds that nothing changes. A terminating
// object whose last finalizer goes is removed by the same write.
func (e *Env) encodeCandidate(cur State, m *request.Mutation, object tree.Tree) (Candidate, error) {
	stored := m.Kind.Stored
	object = convert.Keep(m.Kind, object)
	encoded, err := e.encode(cur, m, object)
	if err != nil {
		return Candidate{}, err
	}
	c := Candidate{Op: Put, Tree: object, Encoded: encoded}
	if cur.Object != nil && !cur.Outdated && sameBytes(cur.Object, c.Encoded) {
		return Candidate{Op: None, Tree: cur.Tree}, nil
	}
	c.Head = codec.ExtractMeta(stored, object)
	if c.Head.Terminating && len(c.Head.Finalizers) == 0 && removable(stored, object) {
		c.Op = Remove
	}
	return c, nil
}

// warnsAlways tells whether also a write that changes nothing may be warned of.
func warnsAlways(m *request.Mutation) bool {
	if m.Subresource == "" {
		return m.Kind.Stored.Strategy.WarnsOnNoOp()
	}
	sub := m.Kind.Subresource(m.Subresource)
	return sub != nil && sub.View.Warn != nil
}

// warn records the warnings about an accepted state that m makes of old, which is nil on create.
func warn(m *request.Mutation, object, old tree.Tree) {
	if m.Subresource == "" {
		m.Recorder.Warn(m.Kind.Stored.Strategy.Warnings(object, old)...)
	} else if sub := m.Kind.Subresource(m.Subresource); sub != nil && sub.View.Warn != nil {
		m.Recorder.Warn(sub.View.Warn(object, old)...)
	}
}

// sameBytes compares a stored object with an encoding that lacks the version. Only the number of the
// version may differ, wherever in the bytes it stands.
func sameBytes(old *meta.Object, e codec.Encoded) bool {
	digits := len(old.JSON) - len(e.JSON)
	return digits >= 0 && e.VersionOffset+digits <= len(old.JSON) &&
		string(old.JSON[:e.VersionOffset]) == string(e.JSON[:e.VersionOffset]) &&
		string(old.JSON[e.VersionOffset+digits:]) == string(e.JSON[e.VersionOffset:])
}

// removable tells whether a terminating object without finalizers in its metadata is removed now: a
// graceful deletion waits until the grace period is set to 0, a namespace until the finalizers in
// its spec are gone.
func removable(k *schema.Kind, object tree.Tree) bool {
	metadata := childObject(object, "metadata")
	if grace, ok := metadata["deletionGracePeriodSeconds"].(int64); ok && grace > 0 {
		return false
	}
	return k.Strategy.Finalized(object)
}
