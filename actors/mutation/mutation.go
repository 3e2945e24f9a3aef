package mutation

import (
	"context"
	"time"

	"github.com/troupe-api/troupe/kinds/codec"
	"github.com/troupe-api/troupe/kinds/meta"
	"github.com/troupe-api/troupe/kinds/request"
	"github.com/troupe-api/troupe/kinds/rules"
	"github.com/troupe-api/troupe/kinds/schema"
	"github.com/troupe-api/troupe/kinds/tree"
)

// State is what an object is before a mutation.
type State struct {
	Object *meta.Object // nil: it does not exist
	// Tree is Object decoded; it is shared and must not be changed. Nil if Object is, and
	// where NeedsTree says so.
	Tree tree.Tree
	// Committed says that Object carries a version that a client can know. It does not while
	// the state is still being committed.
	Committed bool
	// Outdated says that Tree is not what Object says, but what that means today (convert.Read):
	// to write it as it is would be a change.
	Outdated bool
}

// NeedsTree says whether Apply looks at the tree of the current state. To remove an object as it
// is, it does not, unless an admission is to see it; nor where the bytes show that an apply
// changes nothing.
func NeedsTree(o *meta.Object, m *request.Mutation) bool {
	switch {
	case m.Verb == request.Delete:
		return m.Admission != nil || !removesImmediately(o, m)
	case m.Verb == request.Patch && m.PatchType == request.ApplyPatch:
		return m.Kind.Stored.Rules.Warn != nil || !isNoOpApply(o, m) // it may have to say something
	}
	return true
}

// Env is what a mutation takes from outside.
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
	// NoOp: an apply has found at once that it has nothing new to say; Op is None.
	NoOp     bool
	Warnings []string
	// Allocation is what the change needs of what objects share. Whoever takes the candidate
	// keeps or drops it.
	Allocation Allocation
}

// Apply computes the candidate of m on the state cur. Errors are *meta.Status, and
// leave everything as it was.
func Apply(cur State, m *request.Mutation, env Env) (Candidate, error) {
	var (
		c   Candidate
		err error
	)
	switch m.Verb {
	case request.Create:
		c, err = create(cur, m, env)
	case request.Update:
		c, err = update(cur, m, env)
	case request.Patch:
		c, err = patch(cur, m, env)
	default:
		c, err = remove(cur, m, env)
	}
	if c.Allocation == nil {
		c.Allocation = noAllocation{}
	}
	if c.Op == Remove && err == nil {
		c.Allocation.Release()
		c.Allocation, _ = env.allocate(m.Key, cur.Tree, nil)
	}
	return c, err
}

// evaluate runs the expressions of the kind for a write that is valid otherwise, as causes say.
func (e *Env) evaluate(m *request.Mutation, object, old tree.Tree, causes []meta.Cause) ([]meta.Cause, error) {
	if len(causes) > 0 || m.Kind.Rules.Evaluate == nil || m.Subresource != "" && !m.Kind.ChecksSubresourceWrites {
		return causes, nil
	}
	ctx := e.Context
	if ctx == nil {
		ctx = context.Background()
	}
	causes = rules.Evaluate(ctx, m.Kind, object, old)
	if ctx.Err() != nil {
		return nil, meta.NewTimeout("the request ended before the rules of its kind had been evaluated")
	}
	return causes, nil
}

// encodeCandidate encodes a wanted tree into a candidate, or finds that nothing changes.
func encodeCandidate(cur State, m *request.Mutation, object tree.Tree, env Env) (Candidate, error) {
	stored := m.Kind.Stored
	encoded, err := env.encode(cur, m, object)
	if err != nil {
		return Candidate{}, err
	}
	c := Candidate{Op: Put, Tree: object, Encoded: encoded}
	if cur.Object != nil && sameBytes(cur.Object, c.Encoded) {
		return Candidate{Op: None, Tree: cur.Tree}, nil
	}
	c.Head = codec.ExtractMeta(stored, object)
	if c.Head.Terminating && len(c.Head.Finalizers) == 0 && removable(stored, object) {
		c.Op = Remove
	}
	return c, nil
}

// warn is what the kind has to say about an accepted state; old is nil on create.
func warn(k *schema.Kind, object, old tree.Tree) []string {
	if k.Rules.Warn == nil {
		return nil
	}
	return k.Rules.Warn(object, old)
}

// sameBytes compares a stored object with an encoding that lacks the version.
func sameBytes(old *meta.Object, e codec.Encoded) bool {
	digits := len(old.JSON) - len(e.JSON)
	return digits >= 0 && e.VersionOffset+digits <= len(old.JSON) &&
		string(old.JSON[:e.VersionOffset]) == string(e.JSON[:e.VersionOffset]) &&
		string(old.JSON[e.VersionOffset+digits:]) == string(e.JSON[e.VersionOffset:])
}

// removable says whether a terminating object without finalizers may go: a graceful
// deletion waits for its grace period to be set to zero, a namespace for its own
// list of finalizers.
func removable(k *schema.Kind, object tree.Tree) bool {
	metadata := childObject(object, "metadata")
	if grace, ok := metadata["deletionGracePeriodSeconds"].(int64); ok && grace > 0 {
		return false
	}
	if finalizers, ok := childObject(object, "spec")["finalizers"].([]any); ok && k.HasSpecFinalizers {
		return len(finalizers) == 0
	}
	return true
}
