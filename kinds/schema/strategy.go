package schema

import (
	"context"

	"github.com/troupe-api/troupe/kinds/tree"
)

// A Strategy implements behavior of a kind that its declaration cannot express. Implementations
// embed DefaultStrategy and override methods.
//
// Methods receive trees with defaults applied and must not retain them. old is the previous object,
// or nil on create. obj may share unchanged fields with old. Default and Prepare must copy a shared
// field before they change it, except to add missing values that do not depend on other fields.
type Strategy interface {
	// Default sets defaults that depend on several fields. In metadata, it may read only the name
	// and labels, because it does not run again when other metadata changes.
	Default(obj tree.Tree)
	// PrepareSubresource is called for subresource writes instead of Preparer.Prepare. It must
	// replace parts of obj rather than modify them, because old may share them.
	PrepareSubresource(obj, old tree.Tree)
	// FinishCreate completes a new object between mutating admission and validation. It runs once.
	FinishCreate(obj tree.Tree)
	// Requester returns the names of the spec fields that record the object's creator. A Preparer
	// drops the client's values, and admission sets the fields.
	Requester() []string

	// Validate reports all faults of obj that do not depend on old. It may skip fields that obj
	// shares with old (tree.Tree.Shares), which were validated before.
	Validate(obj, old tree.Tree, faults *Faults)
	// ValidateUpdate reports forbidden changes from old to obj.
	ValidateUpdate(obj, old tree.Tree, faults *Faults)
	// ValidateServed reports faults that apply only to writes through this version. obj and old are
	// in the storage version.
	ValidateServed(obj, old tree.Tree, faults *Faults)
	// HasExpressions reports whether this version has validation expressions, which Evaluate runs.
	HasExpressions() bool
	// Evaluate runs the validation expressions of this version for writes that are otherwise valid.
	// It stops when ctx ends, so the caller must check ctx. obj and old are in the storage version.
	Evaluate(ctx context.Context, obj, old tree.Tree, faults *Faults)

	// WarningsBeforePrepare returns warnings about fields of a new object that its Preparer will
	// replace.
	WarningsBeforePrepare(obj tree.Tree) []string
	// Warnings returns warnings about ineffective and deprecated fields of a valid obj.
	Warnings(obj, old tree.Tree) []string
	// WarnsOnNoOp reports whether Warnings must also run for a write that changes nothing.
	WarnsOnNoOp() bool

	// BeginDelete marks obj, which is a copy, as terminating (DeleteInSteps). now is the current
	// time as an RFC 3339 string.
	BeginDelete(obj tree.Tree, now string)
	// GracePeriod returns the grace period of a deletion in seconds. requested is the client's
	// value, or nil.
	GracePeriod(obj tree.Tree, requested *int64) int64
	// Finalized reports whether only metadata.finalizers delay the removal of a terminating object.
	Finalized(obj tree.Tree) bool
	// DefaultPropagation returns the propagation policy of a delete request that specifies none,
	// and a warning for the client. An empty policy leaves the object's finalizers unchanged.
	DefaultPropagation() (policy, warning string)

	// RandomName reports whether a new object without name and generateName gets a random UUID as
	// its name.
	RandomName() bool
	// CountedMetadata returns the metadata field whose changes increment metadata.generation:
	// "labels", "annotations", or "" for none. Changes through a subresource never increment it.
	CountedMetadata() string
	// AllowsUnqualifiedFinalizers reports whether finalizer names may omit the domain.
	AllowsUnqualifiedFinalizers() bool
}

// A Preparer is a Strategy that changes objects before validation. It drops or restores fields that
// clients may not set, such as the status. Prepare modifies obj, which is a copy. old is nil on
// create.
type Preparer interface {
	Prepare(obj, old tree.Tree)
}

// A Stamper is a Strategy that records times of changes. now is the current time in tree form.
type Stamper interface {
	Stamp(obj, old tree.Tree, now string)
}

// A Conversion is a Strategy that converts objects without loss between the storage version and
// another version. Annotations contain values that have no field in the other version. ToStored and
// FromStored modify and return their argument, which has defaults applied.
type Conversion interface {
	ToStored(obj tree.Tree) tree.Tree
	FromStored(obj tree.Tree) tree.Tree
	// Keep removes from a valid object of this version the values that the storage version cannot
	// represent. It does not change obj, but the result shares memory with it.
	Keep(obj tree.Tree) tree.Tree
}

// SetStrategy sets k.Strategy to s, and k.Preparer and k.Conversion if s implements them.
func (k *Kind) SetStrategy(s Strategy) {
	k.Strategy = s
	k.Preparer, _ = s.(Preparer)
	k.Conversion, _ = s.(Conversion)
}

// ShareFunctions copies the strategy and views of the storage version to k, which must be equal to
// it.
func (k *Kind) ShareFunctions() {
	k.Strategy, k.Preparer, k.Conversion = k.Stored.Strategy, k.Stored.Preparer, sameVersion{}
	for i := range k.Subresources {
		s := &k.Subresources[i]
		s.View = k.Stored.Subresource(s.Name).View
	}
}

// DefaultStrategy is the Strategy of a kind without special behavior. Other strategies embed it.
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

// Lossless implements Conversion.Keep for a kind whose fields all exist in the storage version.
type Lossless struct{}

// Keep returns obj unchanged, because the storage version preserves every field.
func (Lossless) Keep(obj tree.Tree) tree.Tree { return obj }

type sameVersion struct{ Lossless }

func (sameVersion) ToStored(obj tree.Tree) tree.Tree   { return obj }
func (sameVersion) FromStored(obj tree.Tree) tree.Tree { return obj }

// AlwaysWarns is a DefaultStrategy that also warns about writes that change nothing.
type AlwaysWarns struct{ DefaultStrategy }

// WarnsOnNoOp returns true.
func (AlwaysWarns) WarnsOnNoOp() bool { return true }
