package command

import (
	"fmt"
	"io"
	"log/slog"
	"maps"
	"slices"

	"github.com/troupe-api/troupe/cmd/troupe/daemon"
	"github.com/troupe-api/troupe/persist"
	"github.com/troupe-api/troupe/persist/encryption"
)

type keyCensus map[string]int

func (k keyCensus) count(_ persist.Place, stored []byte) error {
	k[encryption.Provider(stored)]++
	return nil
}

func (k keyCensus) write(w io.Writer) {
	for _, name := range slices.Sorted(maps.Keys(k)) {
		if name == "identity" {
			fmt.Fprintf(w, "in clear: %d values\n", k[name])
			continue
		}
		fmt.Fprintf(w, "key %s: %d values\n", name, k[name])
	}
}

// valueReader returns a function that fails if the encryption configuration at path cannot decrypt
// a stored value.
func valueReader(path string) (func(at persist.Place, stored []byte) error, error) {
	config, err := daemon.LoadAnyEncryption(path)
	if err != nil {
		return nil, err
	}
	t, err := encryption.New(config, encryption.Options{Logger: slog.New(slog.DiscardHandler)})
	if err != nil {
		return nil, err
	}
	return func(at persist.Place, stored []byte) error {
		_, err := t.Decode(at, stored)
		return err
	}, nil
}
