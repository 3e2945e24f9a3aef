package policyobjects

import (
	"github.com/troupe-api/troupe/internal/cache"
	"github.com/troupe-api/troupe/kinds/meta"
	"github.com/troupe-api/troupe/kinds/schema"
	"github.com/troupe-api/troupe/policy"
)

// Decoded caches decoded objects for servers that share the JSON of objects.
type Decoded struct {
	*cache.Cache[decodedKey, *policy.Object]
}

// A decodedKey identifies JSON by its first byte.
type decodedKey struct {
	message *schema.Message
	json    *byte
}

// maxDecoded is the JSON size of cached objects in bytes. Decoded, they are several times as large.
const maxDecoded = 4 << 20

// NewDecoded returns an empty cache.
func NewDecoded() *Decoded { return &Decoded{cache.New[decodedKey, *policy.Object](maxDecoded)} }

// decodeShared is like decode, with the cache.
func (r *Reader) decodeShared(k *schema.Kind, stored *meta.Object) *policy.Object {
	if r.decoded == nil {
		return r.decode(k, stored)
	}
	key := decodedKey{k.Message(), &stored.JSON[0]}
	object, ok := r.decoded.Get(key)
	if !ok {
		if object = r.decode(k, stored); object != nil {
			r.decoded.Put(key, object, len(stored.JSON))
		}
	}
	return object
}
