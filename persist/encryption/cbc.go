package encryption

import (
	"bytes"
	"crypto/aes"
	"crypto/cipher"
	"crypto/hkdf"
	"crypto/hmac"
	"crypto/sha256"
	"encoding/binary"
	"slices"
)

// cbc is AES-CBC with HMAC-SHA-256 over the value's place, the initialization vector and the
// ciphertext. The HMAC is checked before decryption, so that padding errors reveal nothing to an
// attacker.
type cbc struct {
	block   cipher.Block
	authKey []byte
}

// newCBC derives two independent 32-byte keys from a secret, so that the cipher is always AES-256.
func newCBC(secret []byte) (*cbc, error) {
	derive := func(what string) ([]byte, error) {
		return hkdf.Key(sha256.New, secret, nil, "troupe aescbc v1 "+what, 32)
	}
	key, err := derive("encrypt")
	if err != nil {
		return nil, err
	}
	authKey, err := derive("authenticate")
	if err != nil {
		return nil, err
	}
	block, err := aes.NewCipher(key)
	return &cbc{block, authKey}, err
}

// tag returns the HMAC of a body and its place. The length prefix separates the two unambiguously.
func (c *cbc) tag(place, body []byte) []byte {
	mac := hmac.New(sha256.New, c.authKey)
	mac.Write(binary.LittleEndian.AppendUint64(nil, uint64(len(place))))
	mac.Write(place)
	mac.Write(body)
	return mac.Sum(nil)
}

// seal always appends 1 to 16 bytes of padding, so that open can remove it unambiguously.
func (c *cbc) seal(b, place, value []byte) []byte {
	padding := aes.BlockSize - len(value)%aes.BlockSize
	start := len(b)
	b = append(b, randomBytes(aes.BlockSize)...)
	b = append(b, value...)
	b = append(b, bytes.Repeat([]byte{byte(padding)}, padding)...)
	vector, text := b[start:start+aes.BlockSize], b[start+aes.BlockSize:]
	cipher.NewCBCEncrypter(c.block, vector).CryptBlocks(text, text)
	return append(b, c.tag(place, b[start:])...)
}

// open requires at least an initialization vector, one block and the tag. It decrypts a copy,
// because the caller may still read body.
func (c *cbc) open(body, place []byte) ([]byte, error) {
	n := len(body) - sha256.Size
	if n < 2*aes.BlockSize || n%aes.BlockSize != 0 || !hmac.Equal(body[n:], c.tag(place, body[:n])) {
		return nil, errForged
	}
	value := slices.Clone(body[aes.BlockSize:n])
	cipher.NewCBCDecrypter(c.block, body[:aes.BlockSize]).CryptBlocks(value, value)
	padding := int(value[len(value)-1]) // authentic, so written by seal
	if padding < 1 || padding > aes.BlockSize {
		return nil, errForged
	}
	return value[:len(value)-padding], nil
}
