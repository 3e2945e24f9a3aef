package certs

import (
	"bytes"
	"crypto/x509"
	"encoding/pem"
	"errors"
	"fmt"
	"os"
	"sync/atomic"
	"time"
)

// A Source returns the current certificates in PEM.
type Source func() ([]byte, error)

// FileSource returns a Source that reads the file at path. A file without certificates is an error.
func FileSource(path string) Source {
	return func() ([]byte, error) {
		text, err := os.ReadFile(path)
		if err != nil {
			return nil, err
		}
		if err := checkCertificates(text); err != nil {
			return nil, fmt.Errorf("%s: %w", path, err)
		}
		return text, nil
	}
}

func checkCertificates(text []byte) error {
	found := false
	for block, rest := pem.Decode(text); block != nil; block, rest = pem.Decode(rest) {
		if block.Type != "CERTIFICATE" {
			continue
		}
		if _, err := x509.ParseCertificate(block.Bytes); err != nil {
			return err
		}
		found = true
	}
	if !found {
		return errors.New("has no certificate")
	}
	return nil
}

// CAs holds CA certificates from one or more sources, for verifying other certificates. All methods
// except Refresh are safe for concurrent use.
type CAs struct {
	sources []Source
	current atomic.Pointer[caBundle]
}

type caBundle struct {
	text []byte
	pool *x509.CertPool
}

// NewCAs loads all sources and returns their CAs.
func NewCAs(sources ...Source) (*CAs, error) {
	c := &CAs{sources: sources}
	_, err := c.Refresh()
	if err != nil {
		return nil, err
	}
	return c, nil
}

// Pool returns the current CAs. Each change creates a new pool, so the pool's address can serve as
// a cache key.
func (c *CAs) Pool() *x509.CertPool { return c.current.Load().pool }

// PEM returns the current text of all sources. It is a Source that never fails.
func (c *CAs) PEM() ([]byte, error) { return c.current.Load().text, nil }

// Refresh reloads the sources and reports whether any has changed. An error leaves the CAs
// unchanged.
func (c *CAs) Refresh() (bool, error) {
	var text []byte
	for _, source := range c.sources {
		part, err := source()
		if err != nil {
			return false, err
		}
		text = append(append(text, part...), '\n')
	}
	if old := c.current.Load(); old != nil && bytes.Equal(old.text, text) {
		return false, nil
	}
	pool := x509.NewCertPool()
	pool.AppendCertsFromPEM(text)
	c.current.Store(&caBundle{text, pool})
	return true, nil
}

// MergeBundles returns the unexpired certificates in several PEM texts. It drops duplicates and all
// other content.
func MergeBundles(now time.Time, texts ...[]byte) []byte {
	var merged []byte
	seen := map[string]bool{}
	for _, text := range texts {
		for block, rest := pem.Decode(text); block != nil; block, rest = pem.Decode(rest) {
			cert, err := x509.ParseCertificate(block.Bytes)
			if block.Type != "CERTIFICATE" || err != nil || now.After(cert.NotAfter.Add(clockSkew)) || seen[string(block.Bytes)] {
				continue
			}
			seen[string(block.Bytes)] = true
			merged = append(merged, pem.EncodeToMemory(&pem.Block{Type: "CERTIFICATE", Bytes: block.Bytes})...)
		}
	}
	return merged
}
