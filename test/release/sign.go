package main

import (
	"bytes"
	"crypto"
	"crypto/ecdsa"
	"crypto/ed25519"
	"crypto/rand"
	"crypto/x509"
	"encoding/pem"
	"fmt"
	"os"
	"path/filepath"
)

// sign writes the checksums of all files and, if there is a key, their signature.
func (r *release) sign() error {
	var sums bytes.Buffer
	err := r.eachSum(func(name, digest string) { fmt.Fprintf(&sums, "%s  %s\n", digest, name) })
	if err != nil {
		return err
	}
	file := filepath.Join(r.out, "SHA256SUMS")
	if err := os.WriteFile(file, sums.Bytes(), 0o644); err != nil || r.signer == nil {
		return err
	}
	signature, err := crypto.SignMessage(r.signer, rand.Reader, sums.Bytes(), r.hash)
	if err != nil {
		return err
	}
	return os.WriteFile(file+".sig", signature, 0o644)
}

// readKey reads a private key and returns the hash for its signatures.
func readKey(path string) (crypto.Signer, crypto.Hash, error) {
	text, err := os.ReadFile(path)
	if err != nil {
		return nil, 0, err
	}
	block, _ := pem.Decode(text)
	if block == nil {
		return nil, 0, fmt.Errorf("must be a PEM file")
	}
	parsed, err := x509.ParsePKCS8PrivateKey(block.Bytes)
	if err != nil {
		return nil, 0, fmt.Errorf("must contain an unencrypted PKCS #8 key: %w", err)
	}
	switch key := parsed.(type) {
	case ed25519.PrivateKey:
		return key, 0, nil
	case *ecdsa.PrivateKey:
		return key, crypto.SHA256, nil
	}
	return nil, 0, fmt.Errorf("%T: must be an Ed25519 or ECDSA key", parsed)
}
