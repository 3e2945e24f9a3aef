package schema

import (
	"context"

	"github.com/troupe-api/troupe/kinds/tree"
)

// A Strategy is the behavior of a kind that its declaration cannot express. Kinds embed
// DefaultStrategy and override methods.
//
// Methods get trees with defaults and retain none. old is the previous state, nil on create; obj
// may share unchanged fields with it. So Default and Prepare may complete a field in place only
// idempotently, and what they write into one field because of another goes into a copy.
type Strategy interface {
	// Default sets defaults that depend on several fields. Of the metadata it may read only
	// name and labels, because other changes of the metadata do not call it.
	Default(obj tree.Tree)
	// PrepareSubresource prepares a write of a subresource, such as the status, in place of
	// Preparer. It replaces parts of obj and modifies none, since old may share them.
	PrepareSubresource(obj, old tree.Tree)
	// FinishCreate completes a new object once, after mutating admission and before validation.
	FinishCreate(obj tree.Tree)
	// Requester returns the spec fields of a new object that identify its requester. A Preparer
	// drops the client's values, and admission sets them for good.
	Requester() []string

	// Validate reports every fault of obj alone. It may skip fields that obj shares with old
	// (tree.Tree.Shares), which were valid.
	Validate(obj, old tree.Tree, faults *Faults)
	// ValidateUpdate reports forbidden changes from old to obj.
	ValidateUpdate(obj, old tree.Tree, faults *Faults)
	// ValidateServed reports faults of a write through this version beyond those of the storage
	// version. obj and old have the storage version.
	ValidateServed(obj, old tree.Tree, faults *Faults)
	// HasExpressions reports whether Evaluate does anything.
	HasExpressions() bool
	// Evaluate runs the expressions of this version for otherwise valid writes. It stops when
	// ctx ends, which the caller must check. obj and old have the storage version.
	Evaluate(ctx context.Context, obj, old tree.Tree, faults *Faults)

	// WarningsBeforePrepare returns warnings about parts of a new object that a Preparer
	// replaces.
	WarningsBeforePrepare(obj tree.Tree) []string
	// Warnings returns warnings about a valid obj: fields without effect, and deprecated ones.
	Warnings(obj, old tree.Tree) []string
	// WarnsOnNoOp reports whether Warnings may return some for a write that changes nothing.
	WarnsOnNoOp() bool

	// BeginDelete marks obj, a copy, when its deletion in steps begins (DeleteInSteps). now is
	// the time of the write in tree form.
	BeginDelete(obj tree.Tree, now string)
	// GracePeriod returns the seconds that a graceful deletion of obj waits. requested is the
	// client's value, or nil.
	GracePeriod(obj tree.Tree, requested *int64) int64
	// Finalized reports whether finalizers are all that keeps a terminating object.
	Finalized(obj tree.Tree) bool
	// DefaultPropagation returns the propagation policy of a deletion that names none, "" for
	// the usual one, and a warning about it, "" for none.
	DefaultPropagation() (policy, warning string)

	// RandomName reports whether a new object without name and generateName gets a random UUID
	// as its name.
	RandomName() bool
	// CountedMetadata returns "labels" or "annotations" if metadata.generation also counts
	// their changes, except through a subresource.
	CountedMetadata() string
	// AllowsUnqualifiedFinalizers reports whether the names of finalizers need no domain.
	AllowsUnqualifiedFinalizers() bool
}

// A Preparer is a Strategy that changes objects before validation; old is nil on create. It drops
// or restores fields that the client may not set, such as the status. It modifies the body of a
// write, which is a copy.
type Preparer interface {
	Prepare(obj, old tree.Tree)
}

// A Conversion is a lossless Strategy for trees of another version: annotations hold values without
// a field. ToStored and FromStored change and return their tree, which has defaults.
type Conversion interface {
	ToStored(obj tree.Tree) tree.Tree
	FromStored(obj tree.Tree) tree.Tree
	// Keep returns the part of a validated state in this version that the stored version keeps.
	// It shares memory with obj, which it does not change.
	Keep(obj tree.Tree) tree.Tree
}

// SetStrategy sets the behavior of the kind.
func (k *Kind) SetStrategy(s Strategy) {
	k.Strategy = s
	k.Preparer, _ = s.(Preparer)
	k.Conversion, _ = s.(Conversion)
}

// DefaultStrategy is the Strategy of a kind without special behavior.
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

// Lossless implements Keep for a Conversion whose stored version has all fields.
type Lossless struct{}

// Keep returns obj.
func (Lossless) Keep(obj tree.Tree) tree.Tree { return obj }

// AlwaysWarns is the DefaultStrategy of kinds that also warn about writes that change nothing.
type AlwaysWarns struct{ DefaultStrategy }

// WarnsOnNoOp returns true.
func (AlwaysWarns) WarnsOnNoOp() bool { return true }
