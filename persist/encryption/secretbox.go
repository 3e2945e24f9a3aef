package encryption

import (
	"crypto/sha256"
	"crypto/subtle"

	"golang.org/x/crypto/nacl/secretbox"
)

// boxNonceBytes is long enough for random nonces without a bound on how many values one key encrypts.
const boxNonceBytes = 24

// box is XSalsa20-Poly1305. It knows no additional data, so the digest of the place is encrypted with the value.
type box struct{ key [32]byte }

// seal implements valueCipher.
func (c *box) seal(b, place, value []byte) []byte {
	digest := sha256.Sum256(place)
	nonce := [boxNonceBytes]byte(randomBytes(boxNonceBytes))
	return secretbox.Seal(append(b, nonce[:]...), append(digest[:], value...), &nonce, &c.key)
}

// open implements valueCipher.
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
