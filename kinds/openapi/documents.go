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

// Options configures documents. All fields except CBOR and Previous are required.
type Options struct {
	Naming *meta.Naming
	// Kinds lists the kinds with a path, grouped by group and version.
	Kinds []*schema.Kind
	// Message returns a message by its full name, such as "meta.v1.Status".
	Message func(name string) *schema.Message
	// Version is the version of the API, such as "v1.37.2".
	Version string
	// Patches lists the supported patch media types.
	Patches []string
	// CBOR adds CBOR to the media types of responses and watches.
	CBOR bool
	// Previous contains the documents of an earlier set of kinds, or nil. Documents whose kinds are
	// unchanged are reused, so all other options must be equal.
	Previous *Documents

	gvks map[*schema.Message][]meta.GroupVersionKind // GVKs of messages of built-in kinds
}

// A Format is an encoding of a document.
type Format uint8

const (
	JSON Format = iota
	Protobuf
	formats
)

// Documents contains the documents of one set of kinds. It is safe for concurrent use.
type Documents struct {
	options  Options
	allScope scope // scope of the version 2 document
	all      *Document
	groups   map[string]groupDocument // version 3 documents by path without leading slash
	index    func() Index
}

type groupDocument struct {
	*Document
	kinds []*schema.Kind
}

// An Index lists the version 3 documents.
type Index struct {
	Body []byte // JSON
	Hash string
}

// A Document is built on first use and kept compressed. It may take several megabytes, and clients
// usually fetch it once and cache it. Each format is built separately.
type Document struct {
	hash func() string
	gzip [formats]func() []byte
}

// Hash returns the SHA-256 of the JSON form in upper-case hexadecimal.
func (d *Document) Hash() string { return d.hash() }

// Gzip returns the gzip-compressed document in a format. Callers must not modify it.
func (d *Document) Gzip(f Format) []byte { return d.gzip[f]() }

type scope struct {
	kinds         []*schema.Kind
	metaEndpoints []metaEndpoint
	remotes       []*Remote
	below         string // path prefix of remotes in version 3
}

// New prepares the documents, which are built on first use. A CRD change replaces only the version
// 3 documents of the CRD's versions, because a document depends only on its own kinds and the
// immutable built-in kinds.
func New(o Options) *Documents {
	previous := o.Previous
	o.gvks = gvks(o.Kinds)
	scopes, all := splitScopes(o)
	o.Previous, o.Kinds = nil, nil // reused documents must not keep earlier kinds alive
	d := &Documents{options: o, allScope: all, all: newDocument(o, version2, all), groups: make(map[string]groupDocument, len(scopes))}
	for path, s := range scopes {
		if previous != nil {
			if known, there := previous.groups[path]; there && slices.Equal(known.kinds, s.kinds) {
				d.groups[path] = known
				continue
			}
		}
		d.groups[path] = groupDocument{newDocument(o, version3, *s), s.kinds}
	}
	d.index = sync.OnceValue(d.makeIndex)
	return d
}

// V2 returns the version 2 document.
func (d *Documents) V2() *Document { return d.all }

// V3 returns the version 3 document for a path such as "apis/apps/v1", or nil.
func (d *Documents) V3(path string) *Document { return d.groups[path].Document }

// Index lists the version 3 documents, as
// {"paths":{"apis/apps/v1":{"serverRelativeURL":"/openapi/v3/apis/apps/v1?hash=…"}}}. Computing the
// hashes builds each document once. Clients read the index at startup and fetch only documents that
// they have not cached.
func (d *Documents) Index() Index { return d.index() }

// URL returns the URL path and query of the version 3 document for a path. The hash makes the
// response immutable and cacheable.
func URL(path, hash string) string { return "/openapi/v3/" + path + "?hash=" + hash }

func (d *Documents) makeIndex() Index {
	var paths object
	for _, path := range slices.Sorted(maps.Keys(d.groups)) {
		paths = paths.with(path, object{{"serverRelativeURL", URL(path, d.groups[path].Hash())}})
	}
	body := appendJSON(nil, object{{"paths", paths}})
	return Index{Body: body, Hash: hash(body)}
}

// splitScopes returns the scopes of the version 3 documents and of the version 2 document. In
// version 3, each path that describes the API itself has its own document.
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
		return compress(layoutOf(d.document).append(nil, newBuilder(o, d).document(s)))
	})
	return document
}

func hash(b []byte) string { return fmt.Sprintf("%X", sha256.Sum256(b)) }

func compress(b []byte) []byte {
	var out bytes.Buffer
	w := gzip.NewWriter(&out)
	if _, err := w.Write(b); err != nil {
		panic(err) // writes to memory do not fail
	}
	if err := w.Close(); err != nil {
		panic(err)
	}
	return bytes.Clone(out.Bytes())
}
