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

// A Source gives out the PEM text of certificates as it is now.
type Source func() ([]byte, error)

// FileSource is the source that reads the file at path. A file without certificates is an error.
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

// checkCertificates makes sure that text holds certificates, and that each can be read.
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
		return errors.New("holds no certificate")
	}
	return nil
}

// CAs are the authorities that certificates are checked against, from one or more sources.
type CAs struct {
	sources []Source
	current atomic.Pointer[caBundle]
}

type caBundle struct {
	text []byte
	pool *x509.CertPool
}

// NewCAs reads the sources.
func NewCAs(sources ...Source) (*CAs, error) {
	c := &CAs{sources: sources}
	_, err := c.Refresh()
	if err != nil {
		return nil, err
	}
	return c, nil
}

// Pool is the authorities as they are now. Each change is another pool, so that what was
// decided by one pool need not be asked again while Pool returns the same pointer.
func (c *CAs) Pool() *x509.CertPool { return c.current.Load().pool }

// PEM returns the text of the authorities as they are now. It is a Source and never fails.
func (c *CAs) PEM() ([]byte, error) { return c.current.Load().text, nil }

// Refresh reads the sources again, and tells whether anything has changed. After an error
// everything is as before.
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

// MergeBundles is one PEM text with the certificates of several, each once, less those that have expired at now.
// Whatever else stands in the texts is left out.
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
