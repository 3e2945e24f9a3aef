package requestinfo

import (
	"encoding/binary"
	"encoding/hex"
	"math/rand/v2"
)

// NewID returns a random UUID (RFC 9562, version 4). It uses a fast generator without system calls,
// because IDs may be predictable.
func NewID() string {
	var b [16]byte
	binary.LittleEndian.PutUint64(b[:8], rand.Uint64())
	binary.LittleEndian.PutUint64(b[8:], rand.Uint64())
	b[6] = b[6]&0x0f | 0x40 // version
	b[8] = b[8]&0x3f | 0x80 // variant
	var text [36]byte
	at := 0
	for i, group := range [...][]byte{b[:4], b[4:6], b[6:8], b[8:10], b[10:]} {
		if i > 0 {
			text[at] = '-'
			at++
		}
		at += hex.Encode(text[at:], group)
	}
	return string(text[:])
}
