package connect

import (
	"bytes"
	"compress/flate"
	"errors"
	"io"
	"net/http"
	"net/url"
	"path"
	"strings"

	"github.com/klauspost/compress/gzip"
	"golang.org/x/net/html"
	"golang.org/x/net/html/atom"
)

// A Rewriter rewrites links in proxied responses to point to the proxy.
type Rewriter struct {
	// Prefix precedes the backend path in the request path.
	Prefix string
	// Target is the backend URL. Host is the client's Host header.
	Target *url.URL
	Host   string
}

// Edit rewrites a response. It removes the backend's CORS headers, because the page has the
// proxy's origin.
func (r Rewriter) Edit(resp *http.Response) error {
	for _, name := range []string{"Credentials", "Headers", "Methods", "Origin"} {
		resp.Header.Del("Access-Control-Allow-" + name)
	}
	if location := resp.Header.Get("Location"); location != "" {
		to, err := url.Parse(location)
		if err != nil {
			return internal("Internal error occurred: error trying to parse Location header: " + err.Error())
		}
		resp.Header.Set("Location", r.link(to))
		return nil
	}
	if kind, _, _ := strings.Cut(resp.Header.Get("Content-Type"), ";"); strings.TrimSpace(kind) == "text/html" {
		return r.editPage(resp)
	}
	return nil
}

func (r Rewriter) link(to *url.URL) string {
	// A link to the backend has no host, the backend's host, or the client's Host header. Browsers
	// resolve a relative path against the proxied URL, so it needs no change.
	elsewhere := to.Host != "" && to.Host != r.Target.Host && to.Host != r.Host
	if elsewhere || !strings.HasPrefix(to.Path, "/") {
		return to.String()
	}
	if to.Host != r.Host {
		to.Scheme, to.Host = "", ""
	}
	// The backend has already added the prefix.
	if strings.HasPrefix(to.Path, r.Prefix) {
		return to.String()
	}
	// Join removes dot segments, so they cannot escape the prefix. It also removes the trailing
	// slash, which is significant and must be restored.
	slash := strings.HasSuffix(to.Path, "/")
	to.Path, to.RawPath = path.Join(r.Prefix, to.Path), ""
	if slash {
		to.Path += "/"
	}
	return to.String()
}

// editPage replaces the response body with a reader that rewrites links on the fly. It does not
// change pages with an unknown content encoding.
func (r Rewriter) editPage(resp *http.Response) error {
	from := resp.Body
	// Compress the rewritten page again, because the response keeps its Content-Encoding header.
	unpacked, pack := io.Reader(from), func(w io.Writer) io.WriteCloser { return nopCloser{w} }
	switch resp.Header.Get("Content-Encoding") {
	case "":
	case "gzip":
		z, err := gzip.NewReader(from)
		if errors.Is(err, io.EOF) {
			return nil // response to HEAD
		}
		if err != nil {
			return err
		}
		unpacked, pack = z, func(w io.Writer) io.WriteCloser { return gzip.NewWriter(w) }
	case "deflate":
		unpacked, pack = flate.NewReader(from), func(w io.Writer) io.WriteCloser {
			z, err := flate.NewWriter(w, flate.BestSpeed)
			if err != nil {
				panic(err) // unreachable: the level is valid
			}
			return z
		}
	default:
		return nil
	}
	p := &page{from: from, rewriter: r, tokens: html.NewTokenizer(unpacked)}
	p.unpacked, p.to = unpacked, pack(&p.ready)
	p.tokens.SetMaxBuf(maxToken)
	resp.Body, resp.ContentLength = p, -1
	resp.Header.Del("Content-Length")
	return nil
}

type nopCloser struct{ io.Writer }

func (nopCloser) Close() error { return nil }

// maxToken is the maximum size of an HTML token (a tag or a text), in bytes. After a longer token,
// the rest of the page is copied unchanged.
const maxToken = 1 << 20

type page struct {
	from     io.Closer
	unpacked io.Reader
	tokens   *html.Tokenizer
	rewriter Rewriter
	to       io.WriteCloser // compresses into ready
	ready    bytes.Buffer
	raw      bool // copy the rest unchanged
	err      error
}

func (p *page) Close() error { return p.from.Close() }

// Read rewrites tokens until some output is ready. At the end of the page, it closes the
// compressor to flush its buffer.
func (p *page) Read(b []byte) (int, error) {
	// Rewriting one token at a time bounds memory use.
	for p.ready.Len() == 0 && p.err == nil {
		if p.err = p.step(); p.err != nil {
			if err := p.to.Close(); err != nil && p.err == io.EOF {
				p.err = err
			}
		}
	}
	if p.ready.Len() > 0 {
		return p.ready.Read(b)
	}
	return 0, p.err
}

// step rewrites one token. Once a token was too long, it instead copies a block unchanged.
func (p *page) step() error {
	if p.raw {
		_, err := io.CopyN(p.to, p.unpacked, 4<<10)
		return err
	}
	switch p.tokens.Next() {
	case html.ErrorToken:
		return p.endTokens()
	case html.StartTagToken, html.SelfClosingTagToken:
		// Clone Raw, because Token unescapes attributes in the same buffer. Tags without changed
		// links are written byte for byte.
		raw := bytes.Clone(p.tokens.Raw())
		token := p.tokens.Token()
		if attributes, ok := linkAttributes[token.DataAtom]; ok && p.rewriter.change(token.Attr, attributes) {
			raw = []byte(token.String())
		}
		_, err := p.to.Write(raw)
		return err
	default:
		_, err := p.to.Write(p.tokens.Raw())
		return err
	}
}

// endTokens handles a tokenizer error. If a token is too long, it copies the buffered input, and
// step then copies the rest of the page. It returns all other errors.
func (p *page) endTokens() error {
	err := p.tokens.Err()
	if !errors.Is(err, html.ErrBufferExceeded) {
		return err
	}
	p.raw = true
	if _, err := p.to.Write(p.tokens.Raw()); err != nil {
		return err
	}
	_, err = p.to.Write(p.tokens.Buffered())
	return err
}

func (r Rewriter) change(attributes []html.Attribute, names string) (changed bool) {
	for i, a := range attributes {
		if a.Namespace != "" || !strings.Contains(names, " "+a.Key+" ") {
			continue
		}
		to, err := url.Parse(a.Val)
		if err != nil {
			continue // browsers cannot follow it either
		}
		attributes[i].Val = r.link(to)
		changed = changed || attributes[i].Val != a.Val
	}
	return changed
}

// linkAttributes lists the attributes of each tag that contain links (HTML 4.01, index of
// attributes).
var linkAttributes = map[atom.Atom]string{
	atom.A: " href ", atom.Applet: " codebase ", atom.Area: " href ", atom.Audio: " src ", atom.Base: " href ",
	atom.Blockquote: " cite ", atom.Body: " background ", atom.Button: " formaction ", atom.Command: " icon ", atom.Del: " cite ",
	atom.Embed: " src ", atom.Form: " action ", atom.Frame: " longdesc src ", atom.Head: " profile ", atom.Html: " manifest ",
	atom.Iframe: " longdesc src ", atom.Img: " longdesc src usemap ", atom.Input: " src usemap formaction ", atom.Ins: " cite ",
	atom.Link: " href ", atom.Object: " classid codebase data usemap ", atom.Q: " cite ", atom.Script: " src ", atom.Source: " src ",
	atom.Video: " poster src ",
}
