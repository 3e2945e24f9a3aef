package jsontext

// Nesting limits of objects and lists. The outermost object or list has depth 1.
const (
	// MaxDepth applies to incoming data in all formats. Code that walks over objects recurses once
	// per level, so the limit also bounds the stack.
	MaxDepth = 256
	// MaxStoredDepth applies to stored and proxied data. It is the limit of encoding/json, which
	// earlier releases used, because objects stored by these releases must remain readable.
	MaxStoredDepth = 10_000
	// MaxFieldSetDepth applies to the field sets in metadata.managedFields. It is larger than
	// MaxDepth, because earlier releases stored deeper field sets.
	MaxFieldSetDepth = 512
)
