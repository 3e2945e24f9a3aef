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

// State is the state of an object before a mutation. Mutations never modify it, so several may
// share it.
type State struct {
	Object *meta.Object // nil: it does not exist
	// Tree is the decoded Object, shared and immutable. It may be nil if Object is nil or NeedsTree
	// returns false.
	Tree tree.Tree
	// Committed reports whether Object is committed. An uncommitted object has no version yet.
	Committed bool
	// Outdated means that Object is stored under an older schema (convert.ToCurrentSchema) or
	// storage version than Tree. Even writing the unchanged Tree then changes the object.
	Outdated bool
}

// NeedsTree reports whether Prepare needs the current object as a tree, which is expensive to
// decode. An immediate removal and an apply that isNoOpApply recognizes need none, unless an
// admission plugin sees the change.
func NeedsTree(o *meta.Object, m *request.Mutation) bool {
	switch c := m.Change.(type) {
	case request.Delete:
		return m.Admits(request.OnDelete) || !removesImmediately(o, m, c)
	case request.Apply:
		return c.Misplaced != nil || m.AdmitsNoOp() || warnsAlways(m) || !isNoOpApply(o, m, c)
	}
	return true
}

// NeedsVersion reports whether m depends on the version of the current state. Such a mutation must
// wait until that state is committed. Otherwise, its precondition would fail without a conflicting
// write.
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

// Env holds the settings and services that one mutation uses.
type Env struct {
	Context context.Context // ends slow work
	Now     time.Time
	NewUID  func() string
	// LastApplied is the name of kubectl's last-applied annotation. If it is empty, the annotation
	// is not updated.
	LastApplied string
	// MaxBytes limits the size of an object's data in bytes. The encoded object may have twice that
	// size. The default is DefaultMaxBytes.
	MaxBytes int
	// Allocator assigns unique values among the objects of the storage kind. It may be nil.
	Allocator Allocator
	// Conversions calls the conversion webhook of the kind, or is nil.
	Conversions request.Conversions
}

// Op is the effect of a candidate.
type Op uint8

const (
	None Op = iota // the state is unchanged
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
	// NoOp means that Prepare recognized the apply as a no-op. Op is then None.
	NoOp bool
	// Form is the API version in which the candidate is encoded. nil means the storage version.
	Form *schema.Kind
	// Reserved holds the reservations of the allocator and of admission. The receiver of the
	// candidate must call Commit once the candidate is stored, or Release if it is discarded.
	Reserved *request.Reservation
}

// Apply applies m to cur and returns the candidate. The admission of m must not block. Errors are
// *meta.Status.
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

// evaluate runs the kind's CEL rules and adds their causes. If a value has the wrong type or is too
// large (rules.Blocks), it adds rules.NotEvaluated instead.
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

// encodeCandidate encodes the desired tree as a candidate, or returns a no-op if nothing changes.
// If the change removes the last finalizer of a terminating object, the candidate removes the
// object.
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

func warnsAlways(m *request.Mutation) bool {
	if m.Subresource == "" {
		return m.Kind.Stored.Strategy.WarnsOnNoOp()
	}
	return m.Subresource == "status" && m.Kind.Stored.Declared.Message().Checks().StatusWarnings != nil
}

func warn(m *request.Mutation, object, old tree.Tree) {
	if m.Subresource == "" {
		m.Recorder.Warn(rules.Warnings(m.Kind.Stored, object, old)...)
	} else if m.Subresource == "status" {
		m.Recorder.Warn(rules.StatusWarnings(m.Kind.Stored, object, old)...)
	}
}

// removable reports whether a terminating object without finalizers can be removed now. A graceful
// deletion waits until the grace period is 0, and a Namespace until spec.finalizers is empty.
func removable(k *schema.Kind, object tree.Tree) bool {
	metadata := childObject(object, "metadata")
	if grace, ok := metadata["deletionGracePeriodSeconds"].(int64); ok && grace > 0 {
		return false
	}
	return k.Strategy.Finalized(object)
}
