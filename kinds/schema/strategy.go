package schema

import (
	"context"

	"github.com/troupe-api/troupe/kinds/tree"
)

// A Strategy is the behavior of a kind that its declaration cannot express. A kind embeds
// DefaultStrategy and overrides the methods for what is special about it.
//
// Methods get trees with their defaults, and keep none. old is the previous state; nil on create.
// obj may share memory with it in the fields that are unchanged. So Default and Prepare may
// complete a field in a way that changes nothing the second time, but what they write into one
// field because of another they write into a copy.
type Strategy interface {
	// Default sets what depends on more than one field. Of the metadata it may read name and labels
	// only, since a change of the rest does not call it.
	Default(obj tree.Tree)
	// PrepareSubresource prepares a write of a sub-resource, such as the status, in place of
	// Preparer. It replaces parts of obj and changes none, since they may be shared with old.
	PrepareSubresource(obj, old tree.Tree)
	// FinishCreate completes a new object once, after mutating admission and before validation.
	FinishCreate(obj tree.Tree)
	// Requester returns the fields of the spec of a new object that identify its requester. A
	// Preparer drops the values of the client, and admission sets them; later mutating admission
	// does not change them.
	Requester() []string

	// Validate reports every fault of obj alone. It may skip fields that obj shares with old
	// (tree.Tree.Shares), which were valid.
	Validate(obj, old tree.Tree, faults *Faults)
	// ValidateUpdate reports forbidden changes from old to obj.
	ValidateUpdate(obj, old tree.Tree, faults *Faults)
	// ValidateServed reports the faults of a write through this version beyond those of the storage
	// version. obj and old are objects of the storage version.
	ValidateServed(obj, old tree.Tree, faults *Faults)
	// HasExpressions reports whether Evaluate does anything.
	HasExpressions() bool
	// Evaluate runs the expressions of this version for writes through it that are valid otherwise.
	// It stops when the context ends, for which the caller has to check. obj and old are objects of
	// the storage version.
	Evaluate(ctx context.Context, obj, old tree.Tree, faults *Faults)

	// WarningsBeforePrepare returns warnings about parts of a new object that a Preparer replaces.
	WarningsBeforePrepare(obj tree.Tree) []string
	// Warnings returns warnings about a valid obj: fields without effect, and deprecated ones.
	Warnings(obj, old tree.Tree) []string
	// WarnsOnNoOp reports whether Warnings may return some for a write that changes nothing.
	WarnsOnNoOp() bool

	// BeginDelete marks obj, a copy, when its deletion in steps begins (DeleteInSteps). now is the
	// time of the write, as trees hold times.
	BeginDelete(obj tree.Tree, now string)
	// GracePeriod returns the seconds that a graceful deletion of obj waits. requested is that of
	// the client, or nil.
	GracePeriod(obj tree.Tree, requested *int64) int64
	// Finalized reports whether only the finalizers in its metadata keep a terminating object.
	Finalized(obj tree.Tree) bool
	// DefaultPropagation returns the propagation policy of a deletion that names none, "" for the
	// usual one, and the warning about that; "" for none.
	DefaultPropagation() (policy, warning string)

	// RandomName reports whether a new object without a name or generateName is named by a random
	// UUID.
	RandomName() bool
	// CountedMetadata returns "labels" or "annotations" if metadata.generation also counts their
	// changes, other than those made through a sub-resource.
	CountedMetadata() string
	// AllowsUnqualifiedFinalizers reports whether the names of finalizers need no domain.
	AllowsUnqualifiedFinalizers() bool
}

// A Preparer is a Strategy that changes objects before they are validated, old being nil on create:
// it drops or carries over what the client may not set, for example the status on the main
// resource. It changes the body of a write in place, which is copied for it.
type Preparer interface {
	Prepare(obj, old tree.Tree)
}

// A Conversion is a Strategy that turns trees of one version into those of another, without loss:
// what one version has no field for is kept in annotations. ToStored and FromStored change the tree
// that they get, which has its defaults, and return it.
type Conversion interface {
	ToStored(obj tree.Tree) tree.Tree
	FromStored(obj tree.Tree) tree.Tree
	// Keep returns the part of a validated state in this version that the stored version keeps. It
	// shares memory with obj, which it does not change.
	Keep(obj tree.Tree) tree.Tree
}

// SetStrategy gives the kind its behavior.
func (k *Kind) SetStrategy(s Strategy) {
	k.Strategy = s
	k.Preparer, _ = s.(Preparer)
	k.Conversion, _ = s.(Conversion)
}

// DefaultStrategy is the Strategy of a kind whose declaration says everything.
type DefaultStrategy struct{}

var _ Strategy = DefaultStrategy{}

func (DefaultStrategy) Default(tree.Tree)                                     {}
func (DefaultStrategy) PrepareSubresource(_, _ tree.Tree)                     {}
func (DefaultStrategy) FinishCreate(tree.Tree)                                {}
func (DefaultStrategy) Requester() []string                                   { return nil }
func (DefaultStrategy) Validate(_, _ tree.Tree, _ *Faults)                    {}
func (DefaultStrategy) ValidateUpdate(_, _ tree.Tree, _ *Faults)              {}
func (DefaultStrategy) ValidateServed(_, _ tree.Tree, _ *Faults)              {}
func (DefaultStrategy) HasExpressions() bool                                  { return false }
func (DefaultStrategy) Evaluate(_ context.Context, _, _ tree.Tree, _ *Faults) {}
func (DefaultStrategy) WarningsBeforePrepare(tree.Tree) []string              { return nil }
func (DefaultStrategy) Warnings(_, _ tree.Tree) []string                      { return nil }
func (DefaultStrategy) WarnsOnNoOp() bool                                     { return false }
func (DefaultStrategy) BeginDelete(tree.Tree, string)                         {}
func (DefaultStrategy) GracePeriod(tree.Tree, *int64) int64                   { return 0 }
func (DefaultStrategy) Finalized(tree.Tree) bool                              { return true }
func (DefaultStrategy) DefaultPropagation() (policy, warning string)          { return "", "" }
func (DefaultStrategy) RandomName() bool                                      { return false }
func (DefaultStrategy) CountedMetadata() string                               { return "" }
func (DefaultStrategy) AllowsUnqualifiedFinalizers() bool                     { return false }

// Lossless is the Keep of a Conversion to a stored version that knows all fields.
type Lossless struct{}

// Keep returns obj.
func (Lossless) Keep(obj tree.Tree) tree.Tree { return obj }
