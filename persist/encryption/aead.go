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

// errForged means that a cipher rejected a value because it is damaged, was moved, or was encrypted
// with another key.
var errForged = errors.New("it was changed, moved, or encrypted with another secret")

// A valueCipher encrypts values with one secret. It binds each value to its place, which is derived
// from its storage key and revision. The place is not stored, so open needs the same place as seal.
// seal appends to b. open returns new memory. A valueCipher is safe for concurrent use.
type valueCipher interface {
	seal(b, place, value []byte) []byte
	open(body, place []byte) ([]byte, error)
}

const (
	saltBytes  = 32
	nonceBytes = 12
	// saltUses is the number of values per salt. More than 2^32 values with random 96-bit nonces
	// would be unsafe.
	saltUses = 1 << 24
	// maxSalts limits the number of keys cached for reading. Each process run adds a few salts.
	maxSalts = 1024
)

// derivedGCM is AES-256-GCM with keys derived from a secret and a salt. It is used for aesgcm keys
// and for KMS seeds.
type derivedGCM struct {
	secret []byte

	mu      sync.Mutex // guards the following fields
	salt    []byte     // salt of new values; nil before the first value
	uses    int        // number of values sealed with salt
	current cipher.AEAD
	bySalt  map[string]cipher.AEAD // ciphers for reading
}

// newDerivedGCM accepts a secret of any length, because HKDF derives 32-byte keys from it.
func newDerivedGCM(secret []byte) *derivedGCM {
	return &derivedGCM{secret: secret, bySalt: map[string]cipher.AEAD{}}
}

// derive returns the cipher for a salt. The HKDF info names the format and its version, so that
// other uses of the secret yield different keys. derive panics if the standard library rejects
// valid input.
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

// reader returns the cipher for a salt. It clears the bySalt cache when full.
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

// randomBytes never fails, because crypto/rand aborts the process if no randomness is available.
func randomBytes(n int) []byte {
	b := make([]byte, n)
	rand.Read(b)
	return b
}
