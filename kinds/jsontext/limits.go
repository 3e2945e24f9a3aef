package jsontext

// Nesting limits of objects and lists. The outermost object or list has depth 1.
const (
	// MaxDepth applies to incoming data in all formats. It also bounds the stack, because walks
	// over objects recurse once per level.
	MaxDepth = 256
	// MaxStoredDepth applies to stored and proxied data. Earlier releases accepted this depth, and
	// such data must stay readable. encoding/json has the same limit.
	MaxStoredDepth = 10_000
	// MaxFieldSetDepth applies to the field sets in metadata.managedFields. It exceeds MaxDepth to
	// allow for field sets of earlier releases.
	MaxFieldSetDepth = 512
)
