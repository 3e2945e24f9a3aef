package encryption

import (
	"errors"
	"fmt"
	"maps"
	"slices"

	"google.golang.org/protobuf/encoding/protowire"
)

// A wrappedSeed is a seed as a KMS plugin has encrypted it, with what it needs to decrypt it again. It is the header
// of every value that is encrypted under the seed.
type wrappedSeed struct {
	keyID       string
	seed        []byte
	annotations map[string][]byte
}

// The numbers of its fields are those of the reference.
const (
	fieldKeyID       = 2
	fieldSeed        = 3
	fieldAnnotations = 4
)

// The bounds of what a plugin answers are those of the reference.
const (
	seedBytes          = 32
	maxKeyIDBytes      = 1 << 10
	maxSeedBytes       = 1 << 10
	maxAnnotationBytes = 32 << 10
)

// checkKeyID checks the id of a key, which is stored with every value and so must not be long.
func checkKeyID(id string) error {
	switch {
	case id == "":
		return errors.New("keyID is empty")
	case len(id) > maxKeyIDBytes:
		return fmt.Errorf("keyID is %d bytes, which exceeds the max size of %d", len(id), maxKeyIDBytes)
	}
	return nil
}

// check holds both for what a plugin answers and for what was stored.
func (s wrappedSeed) check() error {
	if err := checkKeyID(s.keyID); err != nil {
		return err
	}
	if len(s.seed) == 0 || len(s.seed) > maxSeedBytes {
		return fmt.Errorf("the encrypted seed has %d bytes, and must have 1 to %d", len(s.seed), maxSeedBytes)
	}
	size := 0
	for name, value := range s.annotations {
		if !isFQDN(name) {
			return fmt.Errorf("annotation %q should be a domain name with at least two segments separated by dots", name)
		}
		size += len(name) + len(value)
	}
	if size > maxAnnotationBytes {
		return fmt.Errorf("total size of annotations is %d, which exceeds the max size of %d", size, maxAnnotationBytes)
	}
	return nil
}

// isFQDN says whether a name is a domain name of two segments or more, in lower case. Names of annotations have that
// form so that plugins of different authors do not use the same.
func isFQDN(name string) bool {
	dots, before := 0, byte('.')
	for i := range len(name) {
		c := name[i]
		switch {
		case c == '.' && before != '.' && before != '-':
			dots++
		case c == '-' && before != '.', 'a' <= c && c <= 'z', '0' <= c && c <= '9':
		default:
			return false
		}
		before = c
	}
	return dots > 0 && len(name) <= 253 && before != '.' && before != '-'
}

// header is the wrapped seed as it is stored, in one order always. The order makes it the key by which plugin.open
// knows seeds again.
func (s wrappedSeed) header() []byte {
	return s.appendAnnotations(appendBytes(appendString(nil, fieldKeyID, s.keyID), fieldSeed, s.seed))
}

// appendAnnotations appends the map as Protobuf has maps: each entry is a message of name (1) and value (2). The
// field has the same number in the header as in a request to decrypt.
func (s wrappedSeed) appendAnnotations(b []byte) []byte {
	for _, name := range slices.Sorted(maps.Keys(s.annotations)) {
		b = appendBytes(b, fieldAnnotations, appendBytes(appendString(nil, 1, name), 2, s.annotations[name]))
	}
	return b
}

// addAnnotation adds an entry of the map of annotations. An entry that is no message is left out.
func (s *wrappedSeed) addAnnotation(entry []byte) {
	var name string
	var value []byte
	err := eachField(entry, func(number protowire.Number, part []byte) {
		if number == 1 {
			name = string(part)
		} else if number == 2 {
			value = slices.Clone(part)
		}
	})
	if s.annotations == nil {
		s.annotations = map[string][]byte{}
	}
	if err == nil {
		s.annotations[name] = value
	}
}

// parseHeader reads a header that was stored. The parts are copied, since what was read may be reused.
func parseHeader(b []byte) (s wrappedSeed, err error) {
	err = eachField(b, func(number protowire.Number, value []byte) {
		switch number {
		case fieldKeyID:
			s.keyID = string(value)
		case fieldSeed:
			s.seed = slices.Clone(value)
		case fieldAnnotations:
			s.addAnnotation(value)
		}
	})
	if err == nil {
		err = s.check()
	}
	return s, err
}
