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
	// CBOR tells that answers and watches are served in CBOR too.
	CBOR bool
	// Previous are the documents of an earlier set of kinds, nil for none: what describes the same kinds is taken over. All
	// else has to be the same.
	Previous *Documents

	gvks map[*schema.Message][]meta.GroupVersionKind // what the messages of built-in kinds are served as
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
	options  Options
	allScope scope // of all
	all      *Document
	groups   map[string]groupDocument // of version 3, by path without the first slash
	index    func() Index
}

// A groupDocument is the document of a group and version, or of another path, and the kinds that it describes.
type groupDocument struct {
	*Document
	kinds []*schema.Kind
}

// An Index lists the documents of version 3.
type Index struct {
	Body []byte // JSON
	Hash string
}

// A Document is one document, made when it is first asked for and kept compressed only: it is several
// megabytes, and mostly clients ask for it once and cache it.
//
// Each form is made on its own. When kinds change, new Documents take the place of these, and what was not
// asked for was never made.
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
	remotes       []*Remote
	below         string // in version 3: how the paths of remotes begin
}

// New prepares the documents; each is made when it is first asked for.
//
// A document of version 3 depends on its own kinds, and on the built-in ones, which never change. So when a definition
// comes or goes, only those of its versions are made again.
func New(o Options) *Documents {
	previous := o.Previous
	o.gvks = gvks(o.Kinds)
	scopes, all := splitScopes(o)
	o.Previous, o.Kinds = nil, nil // a document that is taken over must not keep the kinds of its time alive
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

// V2 is the one document of version 2.
func (d *Documents) V2() *Document { return d.all }

// V3 is the document of version 3 about a path, such as "apis/apps/v1"; nil if there is none.
func (d *Documents) V3(path string) *Document { return d.groups[path].Document }

// Index lists the documents of version 3. It needs their hashes, so it makes each of them once.
//
// It has the form {"paths":{"apis/apps/v1":{"serverRelativeURL":"/openapi/v3/apis/apps/v1?hash=…"}}}.
// Clients read it at each start, and then only the documents whose hashes they do not have in their cache.
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
//
// Beside one document for each group and version, there is one for each path that describes the API itself.
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
		panic(err) // memory takes everything
	}
	if err := w.Close(); err != nil {
		panic(err)
	}
	return bytes.Clone(out.Bytes())
}
