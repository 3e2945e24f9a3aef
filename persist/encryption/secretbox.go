package encryption

import (
	"crypto/sha256"
	"crypto/subtle"

	"golang.org/x/crypto/nacl/secretbox"
)

// A random nonce of 24 bytes is safe for any number of values per key.
const boxNonceBytes = 24

// box is XSalsa20-Poly1305. It does not support additional data, so a digest of the place is
// encrypted with the value.
type box struct{ key [32]byte }

func (c *box) seal(b, place, value []byte) []byte {
	digest := sha256.Sum256(place)
	nonce := [boxNonceBytes]byte(randomBytes(boxNonceBytes))
	return secretbox.Seal(append(b, nonce[:]...), append(digest[:], value...), &nonce, &c.key)
}

func (c *box) open(body, place []byte) ([]byte, error) {
	if len(body) < boxNonceBytes {
		return nil, errForged
	}
	nonce := [boxNonceBytes]byte(body)
	text, ok := secretbox.Open(nil, body[boxNonceBytes:], &nonce, &c.key)
	digest := sha256.Sum256(place)
	if !ok || len(text) < len(digest) || subtle.ConstantTimeCompare(text[:len(digest)], digest[:]) != 1 {
		return nil, errForged
	}
	return text[len(digest):], nil
}
