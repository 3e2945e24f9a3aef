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

// State is an object before a mutation. Mutations never change it, so several may start from the
// same State.
type State struct {
	Object *meta.Object // nil: it does not exist
	// Tree is the decoded Object, shared and immutable. It is nil if Object is, or if NeedsTree
	// allows that.
	Tree tree.Tree
	// Committed reports whether Object has a version. It has none while the state is being
	// committed.
	Committed bool
	// Outdated means that Object was stored by an older schema than Tree (convert.ToCurrentSchema),
	// or in a version that is no longer the stored one: writing Tree unchanged would be a change.
	Outdated bool
}

// NeedsTree reports whether Prepare needs the tree of the current state, whose decoding is
// expensive. It does not to remove an object immediately, nor for an apply whose bytes show that it
// is a no-op, unless admission sees the change.
func NeedsTree(o *meta.Object, m *request.Mutation) bool {
	switch c := m.Change.(type) {
	case request.Delete:
		return m.Admits(request.OnDelete) || !removesImmediately(o, m, c)
	case request.Apply:
		return c.Misplaced != nil || m.AdmitsNoOp() || warnsAlways(m) || !isNoOpApply(o, m, c)
	}
	return true
}

// NeedsVersion reports whether m depends on the version of the current state, so that it cannot be
// computed on an uncommitted one: it would fail although no other writer has changed the object.
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

// Env is the environment of one mutation.
type Env struct {
	Context context.Context // ends slow work
	Now     time.Time
	NewUID  func() string
	// LastApplied names the annotation in which clients keep what they have applied; "": none.
	LastApplied string
	// MaxBytes is the limit of an object's data, and half of the limit of its total size; 0:
	// DefaultMaxBytes.
	MaxBytes int
	// Allocator assigns what the objects of the storage kind share; may be nil.
	Allocator Allocator
	// Conversions convert between versions if a webhook does; else nil.
	Conversions request.Conversions
}

// Op is the effect of a candidate.
type Op uint8

const (
	None Op = iota // the state stays as it is
	Put
	Remove
)

// A Candidate is the outcome of an accepted, uncommitted mutation.
type Candidate struct {
	Op      Op
	Tree    tree.Tree
	Encoded codec.Encoded
	Head    meta.ObjectMeta
	Created bool
	// NoOp means that an apply was recognized as a no-op early; Op is then None.
	NoOp bool
	// Form is the kind of the candidate's form; nil: the stored one of the mutation's kind.
	Form *schema.Kind
	// Reserved is what was reserved for the change by the allocator and by admission. The receiver
	// of the candidate must call Commit when it is stored, or Release.
	Reserved *request.Reservation
}

// Apply computes the candidate of m on cur, for mutations whose admission does not block. Errors
// are *meta.Status and have no effect.
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

// evaluate adds the causes found by the kind's expressions. They do not run if a value lacks the
// type or size that they rely on (rules.Blocks), which is a cause of its own.
func (e *Env) evaluate(m *request.Mutation, object, old tree.Tree, causes []meta.Cause) ([]meta.Cause, error) {
	if !m.Kind.IsCustom() || !m.Kind.Strategy.HasExpressions() {
		return causes, nil
	}
	if slices.ContainsFunc(causes, rules.Blocks) {
		return append(causes, rules.NotEvaluated()), nil
	}
	causes = append(causes, rules.Evaluate(e.Context, m.Kind, object, old)...)
	if e.Context.Err() != nil {
		return nil, meta.NewTimeout("the request ended before the rules of its kind had been evaluated")
	}
	return causes, nil
}

// encodeCandidate encodes a wanted tree into a candidate, or detects a no-op. Removing the last
// finalizer of a terminating object removes the object in the same write.
func (e *Env) encodeCandidate(cur State, m *request.Mutation, object tree.Tree) (Candidate, error) {
	stored := m.Kind.Stored
	object = convert.Keep(m.Kind, object)
	encoded, err := e.encode(cur, m, object)
	if err != nil {
		return Candidate{}, err
	}
	c := Candidate{Op: Put, Tree: object, Encoded: encoded}
	if cur.Object != nil && !cur.Outdated && codec.EqualIgnoringVersion(cur.Object.JSON, c.Encoded) {
		return Candidate{Op: None, Tree: cur.Tree}, nil
	}
	c.Head = codec.ExtractMeta(stored, object)
	if c.Head.Terminating && len(c.Head.Finalizers) == 0 && removable(stored, object) {
		c.Op = Remove
	}
	return c, nil
}

// warnsAlways reports whether even a no-op may cause warnings.
func warnsAlways(m *request.Mutation) bool {
	if m.Subresource == "" {
		return m.Kind.Stored.Strategy.WarnsOnNoOp()
	}
	return m.Subresource == "status" && m.Kind.Stored.Declared.Checks().StatusWarnings != nil
}

func warn(m *request.Mutation, object, old tree.Tree) {
	if m.Subresource == "" {
		m.Recorder.Warn(rules.Warnings(m.Kind.Stored, object, old)...)
	} else if m.Subresource == "status" {
		m.Recorder.Warn(rules.StatusWarnings(m.Kind.Stored, object, old)...)
	}
}

// removable reports whether a terminating object without finalizers is removed now. A graceful
// deletion waits until the grace period is set to 0, a namespace until the finalizers in its spec
// are gone.
func removable(k *schema.Kind, object tree.Tree) bool {
	metadata := childObject(object, "metadata")
	if grace, ok := metadata["deletionGracePeriodSeconds"].(int64); ok && grace > 0 {
		return false
	}
	return k.Strategy.Finalized(object)
}
