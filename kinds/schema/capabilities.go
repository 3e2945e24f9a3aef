package schema

// Capabilities say in what the objects of a kind are treated unlike those of most others. None of them is set for a
// kind that is declared; the kinds that definitions make have all.
type Capabilities struct {
	// DefinedAtRuntime: an object defines the kind, which comes, changes and goes while the server runs.
	DefinedAtRuntime bool
	// SchemaPerVersion: each version has a schema of its own, which ValidateServed holds writes through it to.
	SchemaPerVersion bool
	// ChecksSubresourceWrites: writes through sub-resources have to meet the whole schema, with its expressions.
	ChecksSubresourceWrites bool
	// StoredAsWritten: stored bytes stay as they were written, in the version that they were written in, whatever
	// becomes of the schema, and get the form of the schema of the day when they are read (Message.Custom).
	StoredAsWritten bool
	// ColumnsPerVersion: tables are made from objects in the form of the version that was asked for.
	ColumnsPerVersion bool
	// JSONOnly: objects have no Protobuf form, and there are no strategic merge patches.
	JSONOnly bool
	// ExplicitEmpty: an empty value differs from an absent one; so it does in the metadata of lists.
	ExplicitEmpty bool
	// StatusIsolated: status is set apart if there is a sub-resource of that name, which alone writes it from the
	// creation on; without, it is a field like others.
	StatusIsolated bool
}
