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

// errForged answers whatever a cipher does not accept: damage, another key or another place.
var errForged = errors.New("it was changed, moved from another place, or encrypted with another secret")

// A valueCipher encrypts values under one secret, bound to their places. Many goroutines may use it. seal appends to
// b; open answers memory of its own. The place is not stored: whoever reads a value has to know where it was read
// from, and a wrong place is as bad as a wrong key.
type valueCipher interface {
	seal(b, place, value []byte) []byte
	open(body, place []byte) ([]byte, error)
}

const (
	saltBytes  = 32
	nonceBytes = 12
	// saltUses is how many values one salt is used for. 2^32 is where random nonces of 96 bits begin to be a risk.
	saltUses = 1 << 24
	// maxSalts bounds the keys that are kept for reading; each process that has written left one salt or a few.
	maxSalts = 1024
)

// derivedGCM is AES-256-GCM with keys that are derived from a secret and a salt. It serves the keys of aesgcm as well
// as the seeds of KMS plugins.
type derivedGCM struct {
	secret []byte

	mu      sync.Mutex // guards what follows
	salt    []byte     // that values are sealed with; nil before the first
	uses    int        // of salt
	current cipher.AEAD
	bySalt  map[string]cipher.AEAD // for reading
}

// newDerivedGCM keeps the secret itself, of any length: HKDF makes a key of 32 bytes of it.
func newDerivedGCM(secret []byte) *derivedGCM {
	return &derivedGCM{secret: secret, bySalt: map[string]cipher.AEAD{}}
}

// derive makes the cipher of a salt. It panics only if the standard library refuses what it promises to take. The
// info names the format and its version, so that another use of the same secret has other keys.
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

// writer returns the salt that is in use, and its cipher. A use is counted before the value is sealed, so a salt is
// never used more often than it was counted.
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

// reader returns the cipher of a salt that was read. What is kept is a cache only: with too many salts all of it is
// dropped, and derived again as it is needed.
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

// seal implements valueCipher: salt, nonce, ciphertext and tag.
func (g *derivedGCM) seal(b, place, value []byte) []byte {
	salt, aead := g.writer()
	b = append(b, salt...)
	nonce := randomBytes(nonceBytes)
	return aead.Seal(append(b, nonce...), nonce, value, place)
}

// open implements valueCipher. What has failed to match is not told apart, as nobody could do anything with it.
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

// randomBytes never fails: a system without randomness ends the process (crypto/rand).
func randomBytes(n int) []byte {
	b := make([]byte, n)
	rand.Read(b)
	return b
}
