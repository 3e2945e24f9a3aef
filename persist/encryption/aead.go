package encryption

import (
	"crypto/aes"
	"crypto/cipher"
	"crypto/hkdf"
	"crypto/rand"
	"crypto/sha256"
	"errors"
	"sync"
)

// errForged is the error for anything that a cipher rejects: damage, another key or another place.
var errForged = errors.New("it was changed, moved, or encrypted with another secret")

// A valueCipher encrypts values under one secret, bound to their places. It is safe for concurrent
// use. seal appends to b; open returns new memory. The place is not stored, so the reader must know
// it.
type valueCipher interface {
	seal(b, place, value []byte) []byte
	open(body, place []byte) ([]byte, error)
}

const (
	saltBytes  = 32
	nonceBytes = 12
	// saltUses is the number of values per salt. With random nonces of 96 bits, 2^32 would be
	// risky.
	saltUses = 1 << 24
	// maxSalts limits the cached keys for reading; each process that has written left a few salts.
	maxSalts = 1024
)

// derivedGCM is AES-256-GCM with keys derived from a secret and a salt. It serves the keys of
// aesgcm and the seeds of KMS plugins.
type derivedGCM struct {
	secret []byte

	mu      sync.Mutex // guards the following fields
	salt    []byte     // values are sealed with it; nil before the first
	uses    int        // of salt
	current cipher.AEAD
	bySalt  map[string]cipher.AEAD // for reading
}

// newDerivedGCM accepts a secret of any length: HKDF derives keys of 32 bytes.
func newDerivedGCM(secret []byte) *derivedGCM {
	return &derivedGCM{secret: secret, bySalt: map[string]cipher.AEAD{}}
}

// derive returns the cipher of a salt. The info names the format and its version, so that other
// uses of the secret have other keys. It panics only if the standard library refuses valid input.
func (g *derivedGCM) derive(salt []byte) cipher.AEAD {
	key, err := hkdf.Key(sha256.New, g.secret, salt, "troupe aesgcm v1", 32)
	if err != nil {
		panic(err)
	}
	block, err := aes.NewCipher(key)
	if err != nil {
		panic(err)
	}
	aead, err := cipher.NewGCM(block)
	if err != nil {
		panic(err)
	}
	return aead
}

// A use is counted before the value is sealed, so a salt is never used more often than counted.
func (g *derivedGCM) writer() ([]byte, cipher.AEAD) {
	g.mu.Lock()
	defer g.mu.Unlock()
	if g.salt == nil || g.uses >= saltUses {
		g.salt, g.uses = randomBytes(saltBytes), 0
		g.current = g.derive(g.salt)
	}
	g.uses++
	return g.salt, g.current
}

// bySalt is only a cache: it is cleared when it is full.
func (g *derivedGCM) reader(salt []byte) cipher.AEAD {
	g.mu.Lock()
	defer g.mu.Unlock()
	if aead := g.bySalt[string(salt)]; aead != nil {
		return aead
	}
	if len(g.bySalt) >= maxSalts {
		clear(g.bySalt)
	}
	aead := g.derive(salt)
	g.bySalt[string(salt)] = aead
	return aead
}

// seal appends salt, nonce, ciphertext and tag.
func (g *derivedGCM) seal(b, place, value []byte) []byte {
	salt, aead := g.writer()
	b = append(b, salt...)
	nonce := randomBytes(nonceBytes)
	return aead.Seal(append(b, nonce...), nonce, value, place)
}

func (g *derivedGCM) open(body, place []byte) ([]byte, error) {
	if len(body) < saltBytes+nonceBytes {
		return nil, errForged
	}
	salt, nonce, sealed := body[:saltBytes], body[saltBytes:saltBytes+nonceBytes], body[saltBytes+nonceBytes:]
	value, err := g.reader(salt).Open(nil, nonce, sealed, place)
	if err != nil {
		return nil, errForged
	}
	return value, nil
}

// randomBytes never fails: without randomness crypto/rand ends the process.
func randomBytes(n int) []byte {
	b := make([]byte, n)
	rand.Read(b)
	return b
}
