package jsontext

// Nesting limits of objects and lists. The outermost object or list has depth 1.
const (
	// MaxDepth applies to incoming data in all formats. Walks over objects recurse once per level,
	// so it also bounds the stack.
	MaxDepth = 256
	// MaxStoredDepth applies to stored and proxied data. It is the limit of encoding/json, which
	// earlier releases used and whose objects must remain readable.
	MaxStoredDepth = 10_000
	// MaxFieldSetDepth applies to the field sets in metadata.managedFields. It exceeds MaxDepth,
	// because earlier releases stored deeper field sets.
	MaxFieldSetDepth = 512
)
