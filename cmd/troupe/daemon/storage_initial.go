package daemon

import (
	"fmt"
	"os"
	"strconv"

	"github.com/troupe-api/troupe/cmd/troupe/internal/client/document"
	"github.com/troupe-api/troupe/kinds/catalog"
	"github.com/troupe-api/troupe/kinds/codec"
	"github.com/troupe-api/troupe/kinds/convert"
	"github.com/troupe-api/troupe/kinds/meta"
	"github.com/troupe-api/troupe/kinds/schema"
	"github.com/troupe-api/troupe/kinds/tree"
	"github.com/troupe-api/troupe/persist"
	"github.com/troupe-api/troupe/persist/vfs"
)

// An initialState creates the data directory of an ephemeral daemon before it is opened.
type initialState func(dir string, files vfs.FS) error

// copyOf returns the state of a backup or of a data directory, which may be in use.
func copyOf(path string) initialState {
	return func(dir string, files vfs.FS) error {
		from := persist.Source{Journal: path, Target: files}
		if info, err := os.Stat(path); err == nil && !info.IsDir() {
			backup, err := os.Open(path)
			if err != nil {
				return err
			}
			defer backup.Close()
			from.Backup, from.Journal = backup, ""
		}
		if _, err := persist.Restore(dir, from); err != nil {
			return fmt.Errorf("%s: %w", path, err)
		}
		return nil
	}
}

// StartWithObjects makes an ephemeral daemon start with another server's objects (see
// CreateDirectory). Call it before Start.
func (d *Daemon) StartWithObjects(objects [][]byte) {
	d.state.initial = func(dir string, files vfs.FS) error {
		read := func() ([][]byte, error) { return objects, nil }
		_, err := createWith(dir, d.naming, read, persist.Options{FS: files, Transformer: d.state.encryption.transformer})
		return err
	}
}

// CreateDirectory creates a data directory with another server's objects, including their UIDs,
// status and managed fields. It calls read after it has checked that dir is empty or missing.
// CustomResourceDefinitions must precede objects of their kinds. CreateDirectory returns the number
// of stored objects. It skips kinds that Troupe does not serve.
func CreateDirectory(dir string, naming *meta.Naming, read func() ([][]byte, error)) (stored int, err error) {
	return createWith(dir, naming, read, persist.Options{})
}

func createWith(dir string, naming *meta.Naming, read func() ([][]byte, error), o persist.Options) (stored int, err error) {
	kinds, err := catalog.New(naming)
	if err != nil {
		return 0, err
	}
	state := held{labels: map[string]string{namingLabel: naming.Profile}}
	err = persist.Create(dir, func() (persist.State, error) {
		objects, err := read()
		for _, text := range objects {
			i, err := importItem(kinds, text)
			if err != nil {
				return persist.State{}, err
			}
			if i.Key != "" {
				state.items, state.revision = append(state.items, i), max(state.revision, i.Revision)
			}
		}
		return state.state(), err
	}, o)
	return len(state.items), err
}

// importItem returns the stored form of an object, or none if its kind is not served. A
// CustomResourceDefinition adds its kinds to the catalog.
func importItem(kinds *catalog.Catalog, text []byte) (none persist.Item, err error) {
	i, err := decodeImported(kinds, text)
	if err != nil || i == nil {
		return none, err
	}
	if i.kind.Kind == "CustomResourceDefinition" {
		if definition := kinds.Compile(i.decoded); definition != nil {
			kinds.AddDefinition(definition)
		}
	}
	version, err := strconv.ParseUint(i.resourceVersion, 10, 64)
	if err != nil {
		return none, fmt.Errorf("%s: metadata.resourceVersion: %w", i.key, err)
	}
	return persist.Item{Key: i.key, Value: i.encoded.WithVersion(version), Revision: persist.Revision(version)}, nil
}

// An imported is another server's object and its stored form.
type imported struct {
	kind                 *schema.Kind // as served
	key, resourceVersion string
	decoded              tree.Tree
	encoded              codec.Encoded
}

// decodeImported returns nil if the kind is not served.
func decodeImported(kinds *catalog.Catalog, text []byte) (*imported, error) {
	object, err := document.Parse(text)
	if err != nil {
		return nil, err
	}
	apiVersion, kind, metadata := object.String("apiVersion"), object.String("kind"), object.Object("metadata")
	k := kinds.ByGVK(meta.ParseGVK(apiVersion, kind))
	if k == nil {
		return nil, nil
	}
	decoded, _, err := codec.DecodeJSON(k.Message(), text)
	if err != nil {
		return nil, fmt.Errorf("%s %s %q: %w", apiVersion, kind, object.Name(), err)
	}
	key := meta.Key{GroupResource: k.Storage, Namespace: metadata.String("namespace"), Name: object.Name()}
	i := &imported{kind: k, key: key.String(), resourceVersion: metadata.String("resourceVersion"), decoded: decoded}
	if k.ConversionWebhook() == nil { // otherwise objects keep the version in which they were written
		decoded, k = convert.Keep(k, convert.ToStored(k, decoded)), k.Stored
	}
	i.encoded = codec.EncodeJSON(k, decoded)
	return i, nil
}
