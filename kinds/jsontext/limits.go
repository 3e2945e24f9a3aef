package jsontext

// Limits of the nesting of objects and lists. The outermost one has depth 1.
const (
	// MaxDepth applies to incoming data in all formats. Walks over objects recurse once per level,
	// so it also bounds the stack.
	MaxDepth = 256
	// MaxStoredDepth applies to stored and proxied data. Earlier releases accepted this depth, and
	// accepted data must stay readable. encoding/json has the same limit.
	MaxStoredDepth = 10_000
	// MaxFieldSetDepth applies to the field sets in metadata.managedFields. A set has one level per
	// level of its object; the rest is for sets of earlier releases.
	MaxFieldSetDepth = 512
)
