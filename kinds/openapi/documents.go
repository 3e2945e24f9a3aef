package openapi

import (
	"bytes"
	"compress/gzip"
	"crypto/sha256"
	"fmt"
	"maps"
	"slices"
	"sync"

	"github.com/troupe-api/troupe/kinds/meta"
	"github.com/troupe-api/troupe/kinds/schema"
)

// Options say what documents are about. All are required.
type Options struct {
	Naming *meta.Naming
	// Kinds are those that have a path, each group's and each version's side by side.
	Kinds []*schema.Kind
	// Message finds a message by its full name, such as "meta.v1.Status".
	Message func(name string) *schema.Message
	// Version is that of the API, as in "v1.35.0".
	Version string
	// Patches are the media types of patches.
	Patches []string
}

// A Format is an encoding of documents.
type Format uint8

// The formats.
const (
	JSON Format = iota
	Protobuf
	formats
)

// Documents are the documents of one set of kinds. They are safe for concurrent use.
type Documents struct {
	all    *Document
	groups map[string]*Document // of version 3, by path without the first slash
	index  func() Index
}

// An Index lists the documents of version 3.
type Index struct {
	Body []byte // JSON
	Hash string
}

// A Document is one document, made when it is first asked for and kept compressed only: it is several
// megabytes, and mostly clients ask for it once and cache it.
type Document struct {
	hash func() string
	gzip [formats]func() []byte
}

// Hash is the SHA-256 of the JSON form in upper-case hexadecimal digits. It changes
// whenever the document does.
func (d *Document) Hash() string { return d.hash() }

// Gzip is the document in a format, compressed. The caller may not change it.
func (d *Document) Gzip(f Format) []byte { return d.gzip[f]() }

// A scope is what one document describes.
type scope struct {
	kinds         []*schema.Kind
	metaEndpoints []metaEndpoint
}

// New prepares the documents; each is made when it is first asked for.
func New(o Options) *Documents {
	scopes, all := splitScopes(o)
	d := &Documents{all: newDocument(o, version2, all), groups: make(map[string]*Document, len(scopes))}
	for path, s := range scopes {
		d.groups[path] = newDocument(o, version3, *s)
	}
	d.index = sync.OnceValue(d.makeIndex)
	return d
}

// V2 is the one document of version 2.
func (d *Documents) V2() *Document { return d.all }

// V3 is the document of version 3 about a path, such as "apis/apps/v1"; nil if there is none.
func (d *Documents) V3(path string) *Document { return d.groups[path] }

// Index lists the documents of version 3. It needs their hashes, so it makes each of them once.
func (d *Documents) Index() Index { return d.index() }

// URL is where the document of version 3 about a path is served. With the hash in it, what it leads to
// never changes and may be cached for ever.
func URL(path, hash string) string { return "/openapi/v3/" + path + "?hash=" + hash }

func (d *Documents) makeIndex() Index {
	var paths object
	for _, path := range slices.Sorted(maps.Keys(d.groups)) {
		paths = paths.with(path, object{{"serverRelativeURL", URL(path, d.groups[path].Hash())}})
	}
	body := appendJSON(nil, object{{"paths", paths}})
	return Index{Body: body, Hash: hash(body)}
}

// splitScopes finds what each document of version 3 describes, and the one of version 2.
func splitScopes(o Options) (scopes map[string]*scope, all scope) {
	n := newNames(o.Naming)
	scopes = map[string]*scope{}
	fix := func(path string, f metaEndpoint) {
		scopes[path] = &scope{metaEndpoints: []metaEndpoint{f}}
		all.metaEndpoints = append(all.metaEndpoints, f)
	}
	fix("version", versionPath)
	fix("api", corePath)
	fix("apis", groupsPath)
	for _, k := range o.Kinds {
		if k.Group != "" && scopes["apis/"+k.Group] == nil {
			fix("apis/"+k.Group, n.groupPath(k.Group))
		}
		path := groupVersion(k.Group, k.Version)
		if scopes[path] == nil {
			fix(path, n.resourceListPath(k.Group, k.Version))
		}
		scopes[path].kinds = append(scopes[path].kinds, k)
	}
	all.kinds = o.Kinds
	return scopes, all
}

func newDocument(o Options, d dialect, s scope) *Document {
	document := &Document{hash: sync.OnceValue(func() string {
		return hash(appendJSON(nil, newBuilder(o, d).document(s)))
	})}
	document.gzip[JSON] = sync.OnceValue(func() []byte {
		return compress(appendJSON(nil, newBuilder(o, d).document(s)))
	})
	document.gzip[Protobuf] = sync.OnceValue(func() []byte {
		return compress(d.layout.append(nil, newBuilder(o, d).document(s)))
	})
	return document
}

func hash(b []byte) string { return fmt.Sprintf("%X", sha256.Sum256(b)) }

func compress(b []byte) []byte {
	var out bytes.Buffer
	w := gzip.NewWriter(&out)
	if _, err := w.Write(b); err != nil {
		panic(err) // memory takes everything
	}
	if err := w.Close(); err != nil {
		panic(err)
	}
	return bytes.Clone(out.Bytes())
}
