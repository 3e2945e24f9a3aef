package encryption

import (
	"errors"
	"fmt"
	"maps"
	"slices"

	"google.golang.org/protobuf/encoding/protowire"
)

// A wrappedSeed is a seed encrypted by a KMS plugin, and the data that the plugin needs to decrypt
// it. It is the header of every value encrypted with the seed.
type wrappedSeed struct {
	keyID       string
	seed        []byte
	annotations map[string][]byte
}

// Field numbers and limits match kube-apiserver.
const (
	fieldKeyID       = 2
	fieldSeed        = 3
	fieldAnnotations = 4
)

const (
	seedBytes          = 32
	maxKeyIDBytes      = 1 << 10
	maxSeedBytes       = 1 << 10
	maxAnnotationBytes = 32 << 10
)

// checkKeyID limits the length because the ID is stored with every value.
func checkKeyID(id string) error {
	switch {
	case id == "":
		return errors.New("keyID is empty")
	case len(id) > maxKeyIDBytes:
		return fmt.Errorf("keyID is %d bytes, which exceeds the max size of %d", len(id), maxKeyIDBytes)
	}
	return nil
}

// check validates plugin responses and stored headers.
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

// isFQDN reports whether a name is a lower-case domain name of at least two labels. The names of
// annotations must be, to avoid collisions between plugins.
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

// header encodes the fields in a fixed order, because plugin.open uses the header as a cache key.
func (s wrappedSeed) header() []byte {
	return s.appendAnnotations(appendBytes(appendString(nil, fieldKeyID, s.keyID), fieldSeed, s.seed))
}

// appendAnnotations appends a Protobuf map, whose entries are messages with name (1) and value (2).
// The field has the same number in the header and in a decrypt request.
func (s wrappedSeed) appendAnnotations(b []byte) []byte {
	for _, name := range slices.Sorted(maps.Keys(s.annotations)) {
		b = appendBytes(b, fieldAnnotations, appendBytes(appendString(nil, 1, name), 2, s.annotations[name]))
	}
	return b
}

// addAnnotation adds a map entry, unless it is malformed.
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

// parseHeader decodes a stored header. It copies all parts, because the buffer may be reused.
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
