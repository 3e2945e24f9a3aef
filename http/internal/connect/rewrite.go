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

// A Rewriter rewrites links in proxied responses to lead back through the proxy.
type Rewriter struct {
	// Prefix is the request path up to the proxy subresource.
	Prefix string
	// Target is the URL at the backend, Host the client's Host header.
	Target *url.URL
	Host   string
}

// Edit rewrites a response.
//
// CORS headers are dropped: the backend does not know at which origin its page is shown.
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

// link rewrites a link to the same host.
func (r Rewriter) link(to *url.URL) string {
	// A page refers to itself by the client's Host or by the target's. Relative links work
	// unchanged, because the request's path ends like the backend's.
	elsewhere := to.Host != "" && to.Host != r.Target.Host && to.Host != r.Host
	if elsewhere || !strings.HasPrefix(to.Path, "/") {
		return to.String()
	}
	if to.Host != r.Host {
		to.Scheme, to.Host = "", ""
	}
	// Already rewritten by the backend.
	if strings.HasPrefix(to.Path, r.Prefix) {
		return to.String()
	}
	// Join cleans the path, so dots cannot escape the prefix. It drops a trailing slash, which is
	// significant.
	slash := strings.HasSuffix(to.Path, "/")
	to.Path, to.RawPath = path.Join(r.Prefix, to.Path), ""
	if slash {
		to.Path += "/"
	}
	return to.String()
}

// editPage rewrites the links of a page as it is read. Pages with an unknown encoding are
// unchanged.
func (r Rewriter) editPage(resp *http.Response) error {
	from := resp.Body
	// Compressed pages are compressed again, as their headers say.
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
	// The length is known only at the end.
	resp.Body, resp.ContentLength = p, -1
	resp.Header.Del("Content-Length")
	return nil
}

// nopCloser is the uncompressed counterpart of the compressing writers.
type nopCloser struct{ io.Writer }

func (nopCloser) Close() error { return nil }

// maxToken bounds a tag or text, in bytes. From a longer one on, a page is unchanged.
const maxToken = 1 << 20

// A page is an HTML document whose links are rewritten while it is read.
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

// Read implements io.Reader. At the end it closes the compressor, which flushes what it holds back.
func (p *page) Read(b []byte) (int, error) {
	// One token at a time bounds the memory.
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

// step processes one token, or copies raw input.
func (p *page) step() error {
	if p.raw {
		_, err := io.CopyN(p.to, p.unpacked, 4<<10)
		return err
	}
	switch p.tokens.Next() {
	case html.ErrorToken:
		return p.endTokens()
	case html.StartTagToken, html.SelfClosingTagToken:
		// Token unescapes attributes in the raw text in place. Unchanged tags are written byte for
		// byte.
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

// endTokens ends the page, or switches to raw copying after a token that is too long.
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

// change rewrites link attributes and reports whether any changed.
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

// linkAttributes are the link attributes by tag (HTML 4.01, index of attributes).
var linkAttributes = map[atom.Atom]string{
	atom.A: " href ", atom.Applet: " codebase ", atom.Area: " href ", atom.Audio: " src ", atom.Base: " href ",
	atom.Blockquote: " cite ", atom.Body: " background ", atom.Button: " formaction ", atom.Command: " icon ", atom.Del: " cite ",
	atom.Embed: " src ", atom.Form: " action ", atom.Frame: " longdesc src ", atom.Head: " profile ", atom.Html: " manifest ",
	atom.Iframe: " longdesc src ", atom.Img: " longdesc src usemap ", atom.Input: " src usemap formaction ", atom.Ins: " cite ",
	atom.Link: " href ", atom.Object: " classid codebase data usemap ", atom.Q: " cite ", atom.Script: " src ", atom.Source: " src ",
	atom.Video: " poster src ",
}
