package certs

import (
	"crypto/sha256"
	"crypto/x509"
	"encoding/hex"
	"fmt"
	"log/slog"
	"path/filepath"
	"slices"
	"strings"
)

// A FileError reports that a file is missing or corrupt, or that stored data depends on different
// content of the file.
type FileError struct {
	File, What string
	Advice     string // advice for the administrator
}

func (e *FileError) Error() string { return e.File + " " + e.What }

// A Binding detects that an irreplaceable file, such as a CA or the service account signing key, is
// lost or replaced. It stores the file's checksum together with the data that depends on the file.
// A nil Binding has no checksums.
type Binding struct {
	// Get and Set access the stored checksums of a file by its name.
	Get func(name string) (value string, ok bool)
	Set func(name, value string) error
	// AcceptLoss permits replacing lost files and using changed ones.
	AcceptLoss bool
	Log        *slog.Logger
}

const replaceRootAdvice = "put the original file back, or start once with --accept-data-loss to use the present file, or a new one if it is missing; everything issued with the lost key is then rejected"

// check compares the content of the file at path with its checksums. text is nil for a missing
// file.
func (b *Binding) check(path string, text []byte) error {
	bound := b.sums(path)
	if len(bound) == 0 {
		return nil
	}
	fault := &FileError{File: path, Advice: replaceRootAdvice}
	switch {
	case text == nil:
		fault.What = "is missing, but the stored data depends on it"
	case slices.Contains(bound, checksum(text)):
		return nil
	default:
		fault.What = "is not the file that the stored data depends on: its checksum differs"
	}
	if b.AcceptLoss {
		b.Log.Warn("accepted a data loss", "error", fault)
		return nil
	}
	return fault
}

// bind stores the checksums of texts. From then on, the file at path must have one of these
// contents.
func (b *Binding) bind(path string, texts ...[]byte) error {
	if b == nil {
		return nil
	}
	var sums []string
	for _, text := range texts {
		sums = append(sums, checksum(text))
	}
	if slices.Equal(sums, b.sums(path)) {
		return nil
	}
	return b.Set(filepath.Base(path), strings.Join(sums, " "))
}

// adopt stores the checksum of text. It only logs errors, such as a full disk, because the next
// startup tries again.
func (b *Binding) adopt(path string, text []byte) {
	if err := b.bind(path, text); err != nil {
		b.Log.Warn("cannot store the checksum of a file", "file", path, "error", err)
	}
}

// Release removes the checksums of an unused file.
func (b *Binding) Release(path string) error { return b.bind(path) }

func (b *Binding) sums(path string) []string {
	if b == nil {
		return nil
	}
	value, _ := b.Get(filepath.Base(path))
	return strings.Fields(value)
}

func checksum(text []byte) string {
	sum := sha256.Sum256(text)
	return "sha256:" + hex.EncodeToString(sum[:])
}

// EnsureFile checks the file at path against its checksums. If the file is missing and has no
// checksum, EnsureFile creates it.
func (b *Binding) EnsureFile(path string, make func() ([]byte, error)) error {
	text, err := readIfExists(path)
	if err != nil {
		return err
	}
	if err := b.check(path, text); err != nil {
		return err
	}
	if text == nil {
		if text, err = make(); err == nil {
			err = WriteFile(path, text)
		}
	}
	if err == nil {
		b.adopt(path, text)
	}
	return err
}

// CheckFile compares the file at path with its checksums. A mismatch is a *FileError.
func (b *Binding) CheckFile(path string) error {
	text, err := readIfExists(path)
	if err != nil {
		return err
	}
	return b.check(path, text)
}

func (b *Binding) acceptsLoss() bool { return b != nil && b.AcceptLoss }

// roots lists the certificate pairs that cannot be reissued.
var roots = []string{"ca", "front-proxy-ca"}

// leaves lists the reissuable certificate pairs by signing CA.
var leaves = map[string][]string{"ca": {"server", "admin", "apiserver-kubelet-client"}, "front-proxy-ca": {"front-proxy-client"}}

// Check reports the faults of all files in the store, without changing anything.
func (s Store) Check() []error {
	var faults []error
	add := func(err error) {
		if err != nil {
			faults = append(faults, err)
		}
	}
	for _, root := range roots {
		ca, err := s.read(root)
		if err == nil {
			certFile, _ := s.files(root)
			err = s.Binding.check(certFile, ca.certPEM())
		}
		if err == nil && ca == nil {
			err = s.checkNoLeaf(root)
		}
		add(err)
		for _, name := range leaves[root] {
			leaf, err := s.read(name)
			add(err)
			if ca != nil {
				add(s.checkIssuer(name, leaf, ca))
			}
		}
	}
	return faults
}

// checkNoLeaf returns an error if the CA is missing but certificates that it signed still exist.
func (s Store) checkNoLeaf(ca string) error {
	if s.ReplaceForeign || s.Dir == "" {
		return nil
	}
	for _, name := range leaves[ca] {
		leaf, err := s.read(name)
		if err != nil {
			return err
		}
		if leaf != nil {
			caFile, _ := s.files(ca)
			leafFile, _ := s.files(name)
			return &FileError{File: caFile, What: "is missing beside " + leafFile, Advice: replaceRootAdvice}
		}
	}
	return nil
}

func (s Store) checkIssuer(name string, leaf, ca *Pair) error {
	if leaf == nil || slices.ContainsFunc(ca.bundle(), func(c *x509.Certificate) bool { return leaf.Cert.CheckSignatureFrom(c) == nil }) {
		return nil
	}
	cert, key := s.files(name)
	return &FileError{
		File: cert, What: "is damaged, or not signed by the CA of this directory",
		Advice: fmt.Sprintf("put the original files back, or remove both %s and %s: the server issues a new pair at its next start", cert, key),
	}
}
