package jsontext

// How deeply objects and lists may nest. The outermost one has depth 1.
const (
	// MaxDepth is for everything that comes in, in every format. Whatever walks over an object calls
	// itself once per level, so it also bounds the stack.
	MaxDepth = 256
	// MaxStoredDepth is for what is stored and what is only passed on. Earlier releases accepted as much,
	// and what has been accepted must stay readable. encoding/json has the same limit.
	MaxStoredDepth = 10_000
	// MaxFieldSetDepth is for the sets of fields in metadata.managedFields. A set has a level for each
	// level of the object that it describes; the rest is for sets of earlier releases.
	MaxFieldSetDepth = 512
)
