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

// contentTypes are those of the files, by name: what is not listed is not served.
var contentTypes = map[string]string{
	"index.html":   "text/html; charset=utf-8",
	"app.js":       "text/javascript; charset=utf-8",
	"app.css":      "text/css; charset=utf-8",
	"icon.svg":     "image/svg+xml",
	"licenses.txt": "text/plain; charset=utf-8",
}

// A File is one file of the application.
type File struct {
	ContentType string
	Body        []byte
	Gzip        []byte // the same, compressed
	Hash        string // of the body, in hexadecimal digits
}

// A SignIn is a provider with which people sign in.
type SignIn struct {
	ClientID              string `json:"clientID"`
	AuthorizationEndpoint string `json:"authorizationEndpoint"`
	TokenEndpoint         string `json:"tokenEndpoint"`
}

// Options say what the application has to know of the server.
type Options struct {
	Naming  *meta.Naming
	Version string
	// SignIn is the provider of people's tokens; nil, or a result that is nil: there is none at present.
	SignIn func() *SignIn
}

// A Console is the application as one server has it. Its methods may be called at the same time.
type Console struct {
	options Options
	files   func() map[string]*File
}

// New makes a Console. The files are read when the first one is asked for.
func New(o Options) *Console {
	if o.SignIn == nil {
		o.SignIn = func() *SignIn { return nil }
	}
	return &Console{options: o, files: sync.OnceValue(readFiles)}
}

// File finds a file by its path beneath that of the application, where "" is the page itself; nil: there is none.
func (c *Console) File(path string) *File {
	if path == "" {
		path = "index.html"
	}
	return c.files()[path]
}

// Config is a JSON document that tells the application where it is: how groups are named, and how people sign in.
func (c *Console) Config() ([]byte, error) {
	groups := map[string]string{}
	for _, name := range []string{"meta", "authentication", "authorization", "apidiscovery", "apiextensions"} {
		groups[name] = c.options.Naming.Group(name)
	}
	return json.Marshal(map[string]any{
		"naming": c.options.Naming.Profile, "version": c.options.Version, "groups": groups, "signIn": c.options.SignIn(),
	})
}

// SecurityPolicy is the header Content-Security-Policy of the application.
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
			panic(err) // it is part of the program
		}
		sum := sha256.Sum256(body)
		files[name] = &File{ContentType: contentType, Body: body, Gzip: compress(body), Hash: hex.EncodeToString(sum[:])}
	}
	return files
}

func compress(body []byte) []byte {
	var packed bytes.Buffer
	w := gzip.NewWriter(&packed)
	w.Write(body) // a Buffer takes everything
	w.Close()
	return packed.Bytes()
}
