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

// A Rewriter changes the links of what is proxied, so that they lead back through the proxy.
type Rewriter struct {
	// Prefix is the path of the request up to the sub-resource proxy.
	Prefix string
	// Target is what was asked of the backend, and Host the Host header of the client.
	Target *url.URL
	Host   string
}

// Edit changes an answer.
//
// What another origin may do with it is not for the backend to say, which does not know where its page is shown.
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

// link is a link that leads back through the proxy, if it leads to the same host.
func (r Rewriter) link(to *url.URL) string {
	// A page knows itself by the name that it was asked by, which is the Host of the client, or by that of the target.
	// A relative link leads back without help, since the path of the request ends like the one at the backend.
	elsewhere := to.Host != "" && to.Host != r.Target.Host && to.Host != r.Host
	if elsewhere || !strings.HasPrefix(to.Path, "/") {
		return to.String()
	}
	if to.Host != r.Host {
		to.Scheme, to.Host = "", ""
	}
	// A backend that knows where it is shown has done it already.
	if strings.HasPrefix(to.Path, r.Prefix) {
		return to.String()
	}
	// Join cleans the path, so dots in a link cannot lead out of the prefix. It takes a last slash along, which means a folder.
	slash := strings.HasSuffix(to.Path, "/")
	to.Path, to.RawPath = path.Join(r.Prefix, to.Path), ""
	if slash {
		to.Path += "/"
	}
	return to.String()
}

// editPage changes the links of a page while it passes. One that is compressed in a way that is not known stays as it is.
func (r Rewriter) editPage(resp *http.Response) error {
	from := resp.Body
	// What was compressed is compressed again: its headers are on their way, and say so.
	unpacked, pack := io.Reader(from), func(w io.Writer) io.WriteCloser { return nopCloser{w} }
	switch resp.Header.Get("Content-Encoding") {
	case "":
	case "gzip":
		z, err := gzip.NewReader(from)
		if errors.Is(err, io.EOF) {
			return nil // the answer to HEAD
		}
		if err != nil {
			return err
		}
		unpacked, pack = z, func(w io.Writer) io.WriteCloser { return gzip.NewWriter(w) }
	case "deflate":
		unpacked, pack = flate.NewReader(from), func(w io.Writer) io.WriteCloser {
			z, err := flate.NewWriter(w, flate.BestSpeed)
			if err != nil {
				panic(err) // the level is one
			}
			return z
		}
	default:
		return nil
	}
	p := &page{from: from, rewriter: r, tokens: html.NewTokenizer(unpacked)}
	p.unpacked, p.to = unpacked, pack(&p.ready)
	p.tokens.SetMaxBuf(maxToken)
	// How long it becomes is known at its end only.
	resp.Body, resp.ContentLength = p, -1
	resp.Header.Del("Content-Length")
	return nil
}

// nopCloser makes a writer that needs no end look like a compressing one, which does.
type nopCloser struct{ io.Writer }

// Close implements io.Closer. What is written before is complete already.
func (nopCloser) Close() error { return nil }

// maxToken bounds a tag, or a text between two, in bytes. A page with a longer one is changed up to there.
const maxToken = 1 << 20

// A page is an HTML document whose links are changed while it is read.
type page struct {
	from     io.Closer
	unpacked io.Reader
	tokens   *html.Tokenizer
	rewriter Rewriter
	to       io.WriteCloser // packs what is written, into ready
	ready    bytes.Buffer
	raw      bool // the rest passes as it is
	err      error
}

// Close implements io.Closer.
func (p *page) Close() error { return p.from.Close() }

// Read implements io.Reader.
// The compressor is closed at the end of the page, or the client would lack what it holds back.
func (p *page) Read(b []byte) (int, error) {
	// One token at a time: what is kept of a page is a token, and what the compressor holds back.
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

// step passes one token on, or, behind one that is too long, what there is.
func (p *page) step() error {
	if p.raw {
		_, err := io.CopyN(p.to, p.unpacked, 4<<10)
		return err
	}
	switch p.tokens.Next() {
	case html.ErrorToken:
		return p.endTokens()
	case html.StartTagToken, html.SelfClosingTagToken:
		// Token unescapes attributes in the raw text itself. A tag that is not changed goes out to the byte as it came.
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

// endTokens ends the page, or goes on with what is too long for a token as it is.
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

// change changes those attributes that are links, and tells whether any is.
func (r Rewriter) change(attributes []html.Attribute, names string) (changed bool) {
	for i, a := range attributes {
		if a.Namespace != "" || !strings.Contains(names, " "+a.Key+" ") {
			continue
		}
		to, err := url.Parse(a.Val)
		if err != nil {
			continue // it is no link that a browser could follow either
		}
		attributes[i].Val = r.link(to)
		changed = changed || attributes[i].Val != a.Val
	}
	return changed
}

// linkAttributes are the attributes that are links, by tag (HTML 4.01, index of attributes).
var linkAttributes = map[atom.Atom]string{
	atom.A: " href ", atom.Applet: " codebase ", atom.Area: " href ", atom.Audio: " src ", atom.Base: " href ",
	atom.Blockquote: " cite ", atom.Body: " background ", atom.Button: " formaction ", atom.Command: " icon ", atom.Del: " cite ",
	atom.Embed: " src ", atom.Form: " action ", atom.Frame: " longdesc src ", atom.Head: " profile ", atom.Html: " manifest ",
	atom.Iframe: " longdesc src ", atom.Img: " longdesc src usemap ", atom.Input: " src usemap formaction ", atom.Ins: " cite ",
	atom.Link: " href ", atom.Object: " classid codebase data usemap ", atom.Q: " cite ", atom.Script: " src ", atom.Source: " src ",
	atom.Video: " poster src ",
}
