package console

import (
	"bytes"
	"compress/gzip"
	"crypto/sha256"
	"embed"
	"encoding/hex"
	"encoding/json"
	"net/url"
	"strings"
	"sync"

	"github.com/troupe-api/troupe/kinds/meta"
)

//go:embed dist
var dist embed.FS

var contentTypes = map[string]string{
	"index.html":   "text/html; charset=utf-8",
	"app.js":       "text/javascript; charset=utf-8",
	"app.css":      "text/css; charset=utf-8",
	"icon.svg":     "image/svg+xml",
	"licenses.txt": "text/plain; charset=utf-8",
}

// A File is an embedded console file.
type File struct {
	ContentType string
	Body        []byte
	Gzip        []byte // compressed Body
	Hash        string // of Body, hexadecimal
}

// A SignIn is an OpenID Connect provider where users sign in.
type SignIn struct {
	ClientID              string `json:"clientID"`
	AuthorizationEndpoint string `json:"authorizationEndpoint"`
	TokenEndpoint         string `json:"tokenEndpoint"`
}

// Options configures a Console.
type Options struct {
	Naming  *meta.Naming
	Version string
	// SignIn returns the provider where users sign in. SignIn and its result may be nil.
	SignIn func() *SignIn
}

// A Console is the web application and its configuration. It is safe for concurrent use.
type Console struct {
	options Options
	files   func() map[string]*File
}

// New returns a Console. Its files are read on first use.
func New(o Options) *Console {
	if o.SignIn == nil {
		o.SignIn = func() *SignIn { return nil }
	}
	return &Console{options: o, files: sync.OnceValue(readFiles)}
}

// File returns the file at a path relative to the application, or nil. The path "" means
// index.html.
func (c *Console) File(path string) *File {
	if path == "" {
		path = "index.html"
	}
	return c.files()[path]
}

// Config returns the application's configuration as JSON: naming, groups, and sign-in.
func (c *Console) Config() ([]byte, error) {
	groups := map[string]string{}
	for _, name := range []string{"meta", "authentication", "authorization", "apidiscovery", "apiextensions"} {
		groups[name] = c.options.Naming.Group(name)
	}
	return json.Marshal(map[string]any{
		"naming": c.options.Naming.Profile, "version": c.options.Version, "groups": groups, "signIn": c.options.SignIn(),
	})
}

// SecurityPolicy returns the Content-Security-Policy of the application.
func (c *Console) SecurityPolicy() string {
	connect := "'self'"
	if s := c.options.SignIn(); s != nil {
		if u, err := url.Parse(s.TokenEndpoint); err == nil {
			connect += " " + u.Scheme + "://" + u.Host
		}
	}
	return strings.Join([]string{
		"default-src 'none'", "script-src 'self'", "style-src 'self'", "img-src 'self'", "connect-src " + connect,
		"base-uri 'none'", "form-action 'none'", "frame-ancestors 'none'",
	}, "; ")
}

func readFiles() map[string]*File {
	files := map[string]*File{}
	for name, contentType := range contentTypes {
		body, err := dist.ReadFile("dist/" + name)
		if err != nil {
			panic(err) // embedded
		}
		sum := sha256.Sum256(body)
		files[name] = &File{ContentType: contentType, Body: body, Gzip: compress(body), Hash: hex.EncodeToString(sum[:])}
	}
	return files
}

func compress(body []byte) []byte {
	var packed bytes.Buffer
	w := gzip.NewWriter(&packed)
	w.Write(body) // a Buffer never fails
	w.Close()
	return packed.Bytes()
}
